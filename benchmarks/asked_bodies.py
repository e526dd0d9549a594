"""The bodies that `verdicts` asks: mechanisms of `tests/holding`, arms, chains, a character, a humanoid and loops.

Who imports this module finds what tests use, in `tests` and `tests/holding`, too.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

import poise as pz

sys.path.extend(str(Path(__file__).parents[1] / "tests" / folder) for folder in ("", "holding"))
from requirements import ARM, BAR, PUPPET, ROVER, Mechanism
from support.human import bent, figure
from support.mechanisms import at, two_arms

Array = npt.NDArray[np.float64]
DIGITS = 10
"""Targets and starts are rounded to so many decimals, so that another CPU is asked the same."""


@dataclass(frozen=True)
class Body:
    """What is asked to move."""

    model: pz.Model
    frame: str
    around: Array
    """(nq,) where scenes are drawn around."""
    pinned: tuple[str, ...] = ()
    """Frames that stay where they are there."""
    fixed: Mechanism | None = None
    """Its scene, if that is not drawn."""


def _with_balls(model: pz.Model, frame: str) -> pz.Model:
    """The model with a ball on every second link that a joint moves, and on the frame's."""
    links = [joint.child for joint in model.joints if joint.nq][2::2]
    return model.with_shapes({link: pz.Sphere([0.0, 0.0, 0.0], 0.05) for link in (*links, model.frame(frame).link)})


def _arm(name: str, frame: str) -> Body:
    model = pz.load(name)
    return Body(_with_balls(model, frame), frame, model.home)


def _chain(count: int) -> Body:
    """Hinges about random axes."""
    rng, b = np.random.default_rng(count), pz.ModelBuilder("chain")
    for k in range(count):
        b.joint(
            f"j{k}", "revolute", parent=f"l{k}", child=f"l{k + 1}", axis=rng.normal(size=3), limits=(-2.5, 2.0),
            velocity=2.0, origin=pz.SE3.from_rotvec(rng.normal(size=3), rng.uniform(-0.3, 0.3, 3)),
        )  # fmt: skip
    b.frame("tool", link=f"l{count}", origin=at(0.1, 0.0, 0.2))
    model = b.build()
    return Body(_with_balls(model, "tool"), "tool", model.home)


def _character() -> Body:
    model = figure()
    return Body(_with_balls(model, "LeftHand"), "LeftHand", bent(model), ("LeftFoot", "RightFoot"))


def _humanoid() -> Body:
    model = pz.load("g1", base="floating")
    frame, feet = "left_rubber_hand", ("left_ankle_roll_link", "right_ankle_roll_link")
    return Body(_with_balls(model, frame), frame, model.home, feet)


def _both_arms() -> Body:
    model = two_arms()
    bent = np.array([0.1, 0.5, 0.4, 0.2, 0.6, 0.1, 0.2] * 2)
    loop = pz.solve(model, pz.PostureTask(bent), q0=bent)
    return Body(_with_balls(model, "left_end"), "left_end", np.round(loop.q, DIGITS))


def _holding(mechanism: Mechanism) -> Body:
    return Body(mechanism.model, mechanism.frame, mechanism.q0, fixed=mechanism)


BODIES: dict[str, Callable[[], Body]] = {
    "arm": partial(_holding, ARM),
    "puppet": partial(_holding, PUPPET),
    "rover": partial(_holding, ROVER),
    "bar": partial(_holding, BAR),
    "panda": partial(_arm, "panda", "panda_hand_tcp"),
    "ur5e": partial(_arm, "ur5e", "tool0"),
    "so101": partial(_arm, "so101", "gripper_frame_link"),
    "chain4": partial(_chain, 4),
    "chain6": partial(_chain, 6),
    "chain8": partial(_chain, 8),
    "figure": _character,
    "g1": _humanoid,
    "two_arms": _both_arms,
}
HEAVY = ("figure", "g1", "two_arms")
"""Bodies of many joints, which are asked a quarter, as is the arm whose links are hulls where shapes must be apart."""
POSED = ("arm", "panda", "ur5e", "so101", "chain6", "chain8")
"""Those whose frame is also asked for its turn, in half of the scenes."""


@cache
def body(name: str) -> Body | None:
    """None of a robot whose file is not installed."""
    try:
        return BODIES[name]()
    except pz.ModelError:
        return None
