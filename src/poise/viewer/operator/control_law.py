"""The terms of the law, as an operator sets them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from poise.common.checks import not_negative
from poise.geometry.shapes import Rounded
from poise.methods.criteria import Clearance, RestPosture
from poise.methods.das import DasSlotineSheridan


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The law of Das, Slotine and Sheridan 1988, eq. 2.2, a number for each of its terms; see `DasSlotineSheridan`.

    Raises ValueError for numbers that the law cannot have.
    """

    position_stiffness: float = 1.0
    """K_p of positions."""
    rotation_stiffness: float = 1.0
    """K_p of rotations; only its ratio to that of positions matters."""
    alpha: float = 1.0
    """alpha as a share of N / 2D, between 0 and 2."""
    beta: float | None = 1.0
    """beta; None: by the paper's rule, by which beta |q - q_d| never grows while the target rests, obstacles or not."""
    vehicle_limit: float | None = None
    """Q_lim of S [rad and m]; None: S = 1."""
    posture_gain: float = 0.02
    """K; 0: no term."""
    obstacle_gain: float = 0.05
    """K_obs; 0: no term."""
    max_step: float = math.radians(30.0)
    """Largest change of a joint in one update [rad or m]."""
    max_null_step: float = 0.2
    """Euclidean length of the largest null-space step of one update [rad and m]."""

    def __post_init__(self) -> None:
        for name in ("posture_gain", "obstacle_gain"):
            not_negative(name, getattr(self, name))
        if self.beta is not None:
            not_negative("beta", self.beta)
        self.method()

    def terms(self, desired: Sequence[float], obstacles: Sequence[Rounded]) -> tuple[RestPosture | Clearance, ...]:
        """K (q_d - q) and K_obs times the forces of `obstacles`, times beta where that is fixed."""
        scale = 1.0 if self.beta is None else self.beta
        found: list[RestPosture | Clearance] = []
        if scale * self.posture_gain > 0.0:
            found.append(RestPosture(q=desired, gain=scale * self.posture_gain))
        if scale * self.obstacle_gain > 0.0 and obstacles:
            found.append(Clearance(obstacles=obstacles, gain=scale * self.obstacle_gain))
        return tuple(found)

    def method(self) -> DasSlotineSheridan:
        """The law without terms of the null space."""
        return DasSlotineSheridan(
            position_stiffness=self.position_stiffness,
            rotation_stiffness=self.rotation_stiffness,
            alpha=self.alpha,
            beta_rule=self.beta is None,
            vehicle_limit=self.vehicle_limit,
            max_step=self.max_step,
            max_null_step=self.max_null_step,
        )
