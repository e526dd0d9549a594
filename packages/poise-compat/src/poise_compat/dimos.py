"""A `KinematicsSpec` of dimos, as its `PinkIK` and `JacobianIK` are: poses of tips to joint states.

    from poise_compat.dimos import PoiseIK  # was: from dimos.manipulation.planning.kinematics.pink_ik import PinkIK

Those take damped steps from one start after the other, drawn anew at each call, and end as soon as they are within the
tolerances.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from poise import PoiseError, PoseTask, Solver, Status
from poise.extending import positive
from poise_compat.dimos_world import joint_state, model_of, pose_of, positions, result
from poise_compat.locked import all_locked_but

_FINEST: Final = 1e-6
"""[m] and [rad] that are sought, whatever more is tolerated."""
_OPEN: Final = "the world is not finalized: call its finalize() first"


@final
class PoiseIK:
    """Inverse kinematics of the model of a dimos world; it keeps nothing, so threads may share it.

    `config` and `overrides`, the settings of the others, decide nothing.
    """

    def __init__(self, config: Any = None, **overrides: Any) -> None:
        pass

    def solve(
        self, world: Any, target_pose: Any, seed: Any = None, position_tolerance: float = 0.001,
        orientation_tolerance: float = 0.01, check_collision: bool = True, max_attempts: int = 10,
    ) -> Any:  # fmt: skip
        """An IKResult of all joints, with the one tip of the planning groups at a PoseStamped of the world.

        Of the configurations there it is the nearest to `seed`, or to where the robot is; with `check_collision` the
        first of `max_attempts`, from this start and from others, that the world calls free.  Joints are within their
        limits, errors [m, rad] those of the joint state.  What cannot be done is a status and a message that says why:
        JOINT_LIMITS where limits hold the tip back, COLLISION where every attempt collides, UNSUPPORTED without one
        tip, and else NO_SOLUTION.
        """
        if not world.is_finalized:
            return result("NO_SOLUTION", _OPEN)
        groups = world.get_prepared_model().config.planning_groups
        tips = dict.fromkeys(group.tip_link for group in groups if group.tip_link is not None)
        if len(tips) != 1:
            return result("UNSUPPORTED", f"solve leads one tip, and there are {[*tips]}; use solve_pose_targets")
        goals = [(tip, target_pose) for tip in tips]
        tolerances = position_tolerance, orientation_tolerance
        return _solved(world, goals, None, seed, tolerances, check_collision, max_attempts)

    def solve_pose_targets(
        self, world: Any, pose_targets: Mapping[Any, Any], auxiliary_groups: Sequence[Any] = (), seed: Any = None,
        position_tolerance: float = 0.001, orientation_tolerance: float = 0.01, check_collision: bool = True,
        max_attempts: int = 10,
    ) -> Any:  # fmt: skip
        """The same for the tips of several groups at once; the joints of all groups move, others stay at the seed."""
        if not world.is_finalized:
            return result("NO_SOLUTION", _OPEN)
        groups = [*pose_targets, *auxiliary_groups]
        if not groups:
            return result("NO_SOLUTION", "there is no group to move; give pose_targets or auxiliary_groups")
        lacking = [group.id for group in pose_targets if group.tip_link is None]
        if lacking:
            return result("UNSUPPORTED", f"the planning groups {lacking} have no tip_link that could be led")
        joints = dict.fromkeys(name for group in groups for name in group.joint_names)
        goals = [(group.tip_link, pose) for group, pose in pose_targets.items()]
        tolerances = position_tolerance, orientation_tolerance
        return _solved(world, goals, joints, seed, tolerances, check_collision, max_attempts)


def _solved(
    world: Any, goals: Sequence[tuple[str, Any]], joints: Collection[str] | None, seed: Any,
    tolerances: tuple[float, float], check_collision: bool, max_attempts: int,
) -> Any:  # fmt: skip
    prepared, attempts = world.get_prepared_model(), max(int(max_attempts), 1)
    try:
        for name, tolerance in zip(("position_tolerance", "orientation_tolerance"), tolerances, strict=True):
            positive(name, tolerance)
        whole, places = model_of(prepared)
        q = np.array(whole.neutral)
        q[list(places.values())] = positions(world, list(places), seed)
        moving = places if joints is None else joints
        model, free = all_locked_but(whole, q, moving)
        into = whole.pose(prepared.config.base_link, q) @ pose_of(prepared.config.base_pose).inverse()
        close, turned = (min(_FINEST, tolerance) for tolerance in tolerances)
        tasks = [
            PoseTask(tip, into @ pose_of(pose), position_tolerance=close, rotation_tolerance=turned)
            for tip, pose in goals
        ]
        solver = Solver(model, tasks) if tasks else None
    except (PoiseError, ValueError, TypeError, AttributeError, KeyError) as error:
        expected = isinstance(error, PoiseError | ValueError)
        return result(
            "NO_SOLUTION", str(error) if expected else f"the world or a target is not as it must be: {error!r}"
        )
    if solver is None:
        return result("SUCCESS", "no tip is led, and all joints stay", joint_state=joint_state(places, q, moving))
    targets = [task.target for task in tasks]
    for attempt in range(attempts):
        start = model.sample(seed=attempt) if attempt else q[free]
        solution = solver(targets if len(targets) > 1 else targets[0], start, seed=attempt)
        left = {
            "position_error": solution.position_error,
            "orientation_error": solution.rotation_error,
            "iterations": solution.iterations,
        }
        if not (solution.position_error <= tolerances[0] and solution.rotation_error <= tolerances[1]):
            blocked = solution.status is Status.LIMIT
            return result("JOINT_LIMITS" if blocked else "NO_SOLUTION", solution.explain(), **left)
        q[free] = solution.q
        if not check_collision or world.check_config_collision_free(joint_state(places, q, places)):
            return result("SUCCESS", solution.status.message, joint_state=joint_state(places, q, moving), **left)
    return result("COLLISION", f"all of {attempts} configurations with the tip there are in collision", **left)
