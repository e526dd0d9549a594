"""The Robotics Toolbox's `ik_LM`, for its robots and elementary transforms.

    from poise_compat.roboticstoolbox import ik_LM
    solution = ik_LM(robot, Tep)  # was: robot.ik_LM(Tep)

The original looks at the limits of the joints when a search is over, and gives up after `slimit` of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, final

import numpy as np
import numpy.typing as npt

from poise import SE3, JointKind, ModelBuilder, PoseTask, Solver
from poise.extending import Array, ArrayLike, finite, positive, whole
from poise_compat.poses import pose_of

_END: Final = "end"
_EVEN: Final = (1.0,) * 6


@final
@dataclass(frozen=True, eq=False)
class IKSolution:
    """What was found; a sequence of one row of q, and true where it is one."""

    q: Array
    """(n,) positions of the joints [rad or m]."""
    success: bool
    """Whether the residual is at most `tol`."""
    iterations: int
    """Iterations of all searches."""
    searches: int
    """Starts that were made."""
    residual: float
    """e @ W @ e / 2, of what is left of the position [m] and the rotation vector [rad]."""
    reason: str = ""
    """Why it is none, in a sentence."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, i: Any) -> Any:
        return self.q[np.newaxis][i]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.q[np.newaxis])

    def __bool__(self) -> bool:
        return self.success

    def astuple(self) -> tuple[Any, ...]:
        """The fields in their order."""
        return self.q, self.success, self.iterations, self.searches, self.residual, self.reason


def ik_LM(
    robot: Any, Tep: Any, q0: ArrayLike | None = None, ilimit: int = 30, slimit: int = 100, tol: float = 1e-6,
    mask: ArrayLike | None = None, joint_limits: bool = True, k: float = 1.0,
    method: Literal["chan", "wampler", "sugihara"] = "chan",
) -> IKSolution:  # fmt: skip
    """Positions of the joints at which the end of `robot`, an `ETS` or a robot that has one, is at `Tep` (4, 4).

    `mask` (6,) weighs position and rotation along the world's axes.  Without a `q0` (n,) it starts from the middle of
    the limits.  `k` and `method` decide nothing.  Raises ValueError and ShapeError for numbers that are none.
    """
    whole("ilimit", ilimit, 1)
    whole("slimit", slimit, 1)
    positive("tol", tol)
    weights = _EVEN if mask is None else tuple(np.sqrt(finite("mask", mask, 6)).tolist())
    rows = _rows(robot.ets() if hasattr(robot, "ets") else robot)
    searches = {"limits": bool(joint_limits), "max_iterations": int(ilimit), "max_restarts": int(slimit) - 1}
    solver, places = _solver(rows, weights, **searches)
    target = pose_of("Tep", getattr(Tep, "A", Tep))
    start = None if q0 is None else np.atleast_2d(finite("q0", q0, len(places)))[0, places]
    solution = solver(target, start)
    left, _ = solver.linearise(solution.q, target)
    residual = 0.5 * float(left @ left)
    q = np.empty(len(places))
    q[places] = solution.q
    reason = "" if residual < tol else solution.explain()
    return IKSolution(q, residual < tol, solution.iterations, solution.restarts + 1, residual, reason)


def _rows(ets: Any) -> tuple[Any, ...]:
    """All that is read of the transforms."""
    some = [(et, et.qlim) for et in getattr(ets, "data", ets)]
    joints = [et.isjoint and (et.kind, et.isflip, et.jindex, None if x is None else tuple(x)) for et, x in some]
    return tuple(zip(joints, [et.A(0.0).tobytes() for et, _ in some], strict=True))


@lru_cache(64)
def _solver(rows: Any, weights: tuple[float, ...], **settings: Any) -> tuple[Solver, npt.NDArray[np.int64]]:
    """What solves for the end of transforms, and the place in their q of each number of its q."""
    builder = ModelBuilder("ets")
    builder.link("base")
    here, parent, order = SE3.identity(), "base", []
    for i, (joint, constant) in enumerate(rows):
        here = here @ SE3.from_matrix(np.frombuffer(constant).reshape(4, 4), orthonormalise=True)
        if joint:
            kind, flipped, place, limits = joint
            builder.joint(
                f"joint{i}", JointKind.PRISMATIC if kind[0] == "t" else JointKind.REVOLUTE, parent=parent,
                child=f"link{i}", origin=here, axis=(-1.0 if flipped else 1.0) * np.eye(3)["xyz".index(kind[1])],
                limits=limits,
            )  # fmt: skip
            order.append(place)
            here, parent = SE3.identity(), f"link{i}"
    builder.frame(_END, link=parent, origin=here)
    task = PoseTask(_END, position_weight=weights[:3], rotation_weight=weights[3:])
    return Solver(builder.build(), task, **settings), np.argsort(np.argsort(order))
