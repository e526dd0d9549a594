"""The body of a robot that stands: on its feet, and where it climbs on its hands and knees.

A foot stands on its sole.  A knee is a ball about its joint, as thick as the shin is in front there.  A hand stands on
whichever side is down, with its middle as high as it is thin, and no corner of the box around it goes below.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from poise import SE3, Model
from poise.extending import Array, cached
from poise.quaternions import quaternion_matrix
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.foot_geometry import around, measured_as, reach, rounding, sole
from poise_motion.anatomy.parts import BENDS, KNEES, TOES
from poise_motion.anatomy.proportions import Proportions
from poise_motion.reference.bending import folding
from poise_motion.reference.bodies import Robot
from poise_motion.reference.targets import beneath, toe

_ABOUT: Final = 0.1
"""So far from a knee is what it touches the ground with [m]."""
_THICK: Final = 0.05
"""From the middle of a knee to its front, where no shape says it [m]."""


def standing_robot(
    robot: Model, body: BodyMap, proportions: Proportions, standing: Sequence[str], props: Collection[str]
) -> Robot:
    """The robot's body, with the limits of knees and elbows on the side to which they fold; the model keeps it.

    Of the parts that are `standing`, the `props` are hands and knees that do so now and then.
    """
    toed = tuple(part for part in standing if TOES.get(part) in body.source)
    values = (*proportions.robot_points.values(), *proportions.robot_axes.values())
    names = (*body.robot.items(), *body.parts, *standing, *toed, *sorted(props))
    key = (_standing, *names, *(x.tobytes() for x in values))
    made = cached(robot, key, partial(_standing, robot, body, proportions, standing, toed, frozenset(props)))
    return replace(made, scale=proportions.scales["leg"])


def _standing(
    robot: Model,
    body: BodyMap,
    proportions: Proportions,
    standing: Sequence[str],
    toed: Sequence[str],
    props: frozenset[str],
) -> Robot:
    """A robot of no particular size that stands on some of its parts, of which some have toes in the source."""
    folds = folding(robot, body.robot)
    frames = {part: body.robot[part] for part in body.parts}
    points, axes = dict(proportions.robot_points), proportions.robot_axes
    soles, roundings, highs = dict[str, Array](), dict[str, float](), dict[str, float]()
    for part in standing:
        corners = np.zeros((0, 3)) if part not in props or part in KNEES else around(robot, frames[part], drawn=True)
        if part in KNEES:
            thick = reach(robot, frames[part], axes[part][:, 0], points[part], _ABOUT) or _THICK
            soles[part], roundings[part] = (points[part] - thick * axes[part][:, 2])[None], thick
        elif len(corners):
            soles[part], roundings[part], points[part] = corners, 0.0, corners.mean(axis=0)
            highs[part] = 0.5 * float(np.ptp(corners, axis=0).min())
        else:
            up = _up(robot, frames[part], axes[part])
            soles[part], roundings[part] = sole(robot, frames[part], up=up), rounding(robot, frames[part], up=up)
            under = toe(soles[part], axes[part]) if part in toed else beneath(soles[part], axes[part], points[part])
            points[part] = under
    model = robot.with_limits(folds) if folds else robot
    limbs = {part for middle, ends in BENDS.items() for part in (middle, *ends)}
    for part in (part for part in frames if part in limbs):
        frame = robot.frame(frames[part])
        model = model.with_frame(
            Robot.place(part), link=frame.link, origin=frame.origin @ SE3.from_parts(proportions.robot_points[part])
        )
    return Robot(
        measured_as(model, robot),
        frames,
        points,
        dict(axes),
        {part: proportions.robot_points[part] for part in standing},
        soles,
        roundings,
        1.0,
        props=props,
        highs=highs,
    )


def _up(robot: Model, frame: str, axes: Array) -> tuple[float, float, float]:
    """The direction in the world that is up for a part with these axes (3, 3), as the robot is at neutral."""
    x, y, z = (quaternion_matrix(robot.pose(frame, robot.neutral).wxyz) @ axes[:, 2]).tolist()
    return x, y, z
