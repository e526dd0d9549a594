"""The Jacobian transpose law of Das, Slotine and Sheridan.

Idea.     A spring of stiffness K_p pulls the effector to its target; the joints follow the torques J^T K_p e that it
          makes.  What moves no effector is left to other springs: to a posture, and off obstacles.
Step.     dq = alpha S J^T K_p e + beta (I - J^+ J) phi, with the projector by singular values.  alpha = N / 2D makes
          the next e^T K_p e least, to first order.  S is 1, or 1 / Q for the joints that turn where the step with
          S = 1 is longer than Q_lim, Q being its length; alpha is then found anew.  beta = r / |q - q_d|^2 where that
          is below 1, r = beta^2 |q - q_d|^2 of the last update, else 1; so the second half of
          V = e^T K_p e / 2 + beta^2 |q - q_d|^2 / 2 never grows.
Use when  comparing; a vehicle carries the arm and is to move first; a redundant arm passes obstacles, slowly.
Not for   accuracy, for it converges as the transpose does; a start at the posture q_d itself, whose r is 0: no growth
          is allowed, and beta stays 0 until a target moves.
Cost      two products with J an update; with a null-space term a singular value decomposition.
Source.   Das, Slotine and Sheridan 1988.  A new target begins with beta = 1 and the null-space step is shortened to
          `max_null_step`: both are ours.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, Clearance, NullSpaceMethod, finite_positive, positive
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class DasSlotineSheridan(NullSpaceMethod):
    """dq = alpha S J^T K_p e + beta (I - J^+ J) phi; see the module.

    The paper's K and q_d are `RestPosture(q=q_d, gain=K)`, its obstacles and K_obs `Clearance(obstacles, gain=K_obs)`.
    """

    name: ClassVar[str] = "das"
    title: ClassVar[str] = "Das, Slotine and Sheridan"
    references: ClassVar[tuple[str, ...]] = ("das1988",)
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 2000
    max_step: float = math.radians(30.0)
    position_stiffness: float = 1.0
    """K_p of positions."""
    rotation_stiffness: float = 1.0
    """K_p of rotations; only its ratio to that of positions matters."""
    vehicle_limit: float | None = None
    """Q_lim [rad and m], the Euclidean length of the step above which S slows the joints that turn; None: S = 1."""
    beta_rule: bool = True
    """Whether beta follows its rule; if not, it is 1.  q_d is that of the RestPosture, or the model's home."""
    max_null_step: float = 0.2
    """Euclidean length of the largest null-space step [rad and m]; near an obstacle it would grow like 1 / distance."""
    literal_sign: bool = False
    """Obstacles with the sign that the paper prints, which attracts: to repeat the paper, not to use."""

    def __post_init__(self) -> None:
        super().__post_init__()
        finite_positive("position_stiffness", self.position_stiffness)
        finite_positive("rotation_stiffness", self.rotation_stiffness)
        positive("max_null_step", self.max_null_step)
        if self.vehicle_limit is not None:
            positive("vehicle_limit", self.vehicle_limit)
        if self.literal_sign and not any(isinstance(term, Clearance) for term in self.terms):
            raise ValueError("literal_sign is of obstacles, and null_space holds no Clearance")

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        self.write_null_space(settings)
        settings[at.METHOD] = at.DAS
        settings[at.STIFFNESS], settings[at.TURN_STIFFNESS] = self.position_stiffness, self.rotation_stiffness
        settings[at.OPTION] = self.beta_rule
        settings[at.OPTION_A] = math.inf if self.vehicle_limit is None else self.vehicle_limit
        settings[at.OPTION_B] = self.max_null_step
        if self.literal_sign:
            settings[at.CLEARANCE_GAIN] = -settings[at.CLEARANCE_GAIN]
