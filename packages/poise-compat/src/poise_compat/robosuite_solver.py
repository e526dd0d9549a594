"""robosuite's `IKSolverMink`: sites to where actions ask for them, and joints towards a posture."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from poise import SE3, Model, PoseTask, PostureTask, Solution, Solver, Tracker
from poise.extending import Array, ArrayLike, FromMuJoCo
from poise_compat.locked import all_locked_but
from poise_compat.robosuite_actions import Actions
from poise_compat.robosuite_joints import joints_of

_UPDATES: Final = 4
"""Steps towards the posture in a call, after which the sites are brought to their targets."""
_MOST: Final = 100.0
"""Times the least, which is 1 or less, that a weight counts at most."""


@final
class IKSolverMink:
    """Joints of `robot_model`, part of `model`, that bring sites where actions ask for them.

    `robot_joint_names` may move, None: all but free ones; others stay where `data` has them.  First the sites come to
    their targets; what that leaves of the joints goes towards the posture, those with higher `posture_weights` first.
    The base is where `data` has it, be it afloat; `base_transform_joint`, `solve_freq` and `verbose` decide nothing.
    Raises JointNotFound and FrameNotFound.
    """

    def __init__(
        self, model: Any, data: Any, site_names: Sequence[str], robot_model: Any,
        robot_joint_names: Sequence[str] | None = None, base_transform_joint: str | None = None, verbose: bool = False,
        input_type: str = "absolute", input_ref_frame: str = "world", input_rotation_repr: str = "axis_angle",
        posture_weights: Mapping[str, float] | None = None, solve_freq: float = 20.0, hand_pos_cost: float = 1.0,
        hand_ori_cost: float = 0.5,
    ) -> None:  # fmt: skip
        self._data = data
        self._actions = Actions(input_type, input_ref_frame, input_rotation_repr)
        self._known = FromMuJoCo.of(robot_model)
        self._base = robot_model.body(1).name
        names, self._read, self._written = joints_of(model, robot_model, robot_joint_names)
        whole = self._known.model
        self.site_names, self.control_dim = list(site_names), len(site_names) * self._actions.width
        self.control_limits = np.full(self.control_dim, -np.inf), np.full(self.control_dim, np.inf)
        self._frames = [self._known.site(name) for name in site_names]
        # What is above the first joint that moves carries the rest as one body, wherever held joints put it.
        paths = [[j for j in whole.root_path(whole.frame(frame).link) if j.nq] for frame in self._frames]
        firsts = [next((k for k, j in enumerate(path) if j.name in names), 0) for path in paths]
        self._carriers = [path[k].parent for path, k in zip(paths, firsts, strict=True)]
        self._moving = frozenset(names)
        self._between = {j.name for path, k in zip(paths, firsts, strict=True) for j in path[k:]} - self._moving
        self._tasks = [
            PoseTask(frame, position_weight=hand_pos_cost, rotation_weight=hand_ori_cost) for frame in self._frames
        ]
        weights = {name: weight for name, weight in (posture_weights or {}).items() if name in self._moving}
        most = _MOST * min([1.0, *(weight for weight in weights.values() if weight > 0.0)])
        self._weights = {name: min(weight, most) ** 2 for name, weight in weights.items()}
        self._prepared: tuple[Model, Tracker, Solver] | None = None
        self._posture = np.zeros(robot_model.nq)
        self.solution: Solution | None = None
        """What the last `solve` came to."""

    def set_posture_target(self, posture_target: ArrayLike, update_idxs: Sequence[int] | None = None) -> None:
        """A qpos of the robot (nq,), or the numbers of it at `update_idxs`; zeros at first."""
        self._posture[slice(None) if update_idxs is None else update_idxs] = posture_target

    def action_split_indexes(self) -> dict[str, tuple[int, int]]:
        """Where the numbers of "left", a site with it in its name, and of "right" begin and end in an action."""
        sides = ["left" if "left" in name else "right" for name in self.site_names]
        width = self._actions.width
        return {side: (k * width, (k + 1) * width) for k, side in enumerate(sides)}

    def transform_pose(self, src_frame_pose: ArrayLike, src_frame: str, dst_frame: str) -> Array:
        """(4, 4) a pose that is seen from one of "world" and "base", seen from the other."""
        frames = {"world": SE3.identity(), "base": self._base_pose()}
        return (frames[dst_frame].inverse() @ frames[src_frame] @ SE3.from_matrix(src_frame_pose)).matrix()

    def solve(self, input_action: ArrayLike) -> Array:
        """(n,) positions of the joints [rad or m] for the targets of an action (control_dim,), from where they are.

        Sites are where it asks, or as near as limits of joints let them from there; `solution` tells.  The posture
        comes nearer at each call.  Raises ShapeError, and ValueError for numbers that are not finite.
        """
        known, whole = self._known, self._known.model
        qpos = self._data.qpos[self._read]
        q, base = known.q(qpos), self._base_pose()
        into = whole.pose(self._base, q) @ base.inverse()
        sites = [into.inverse() @ whole.pose(frame, q) for frame in self._frames]
        targets = self._actions.poses(input_action, sites, base)
        locked_at = np.array(whole.neutral)
        for name in self._between:
            locked_at[whole.index(name)] = q[whole.index(name)]
        model, places = all_locked_but(whole, locked_at, self._moving)
        if self._prepared is None or self._prepared[0] is not model:
            followed = [*self._tasks, PostureTask(model.neutral, weight=self._weights or 1.0)]
            towards = Tracker(model, followed, updates=_UPDATES, settle=False)
            self._prepared = model, towards, Solver(model, self._tasks, max_restarts=0)
        _, tracker, solver = self._prepared
        goals = [
            whole.pose(link, locked_at) @ whole.pose(link, q).inverse() @ into @ target
            for link, target in zip(self._carriers, targets, strict=True)
        ]
        tracker.posture = known.q(self._posture)[places]
        one = goals if len(goals) > 1 else goals[0]
        self.solution = solver(one, tracker.step(q[places], one))
        q[places] = self.solution.q
        return known.qpos(q, qpos)[self._written]

    def _base_pose(self) -> SE3:
        body = self._data.body(self._base)
        return SE3.from_xyz_wxyz(body.xpos, body.xquat)
