"""Fingers and the shapes that a body keeps apart: what is told of them."""

from fingered import person

import poise as pz
from poise.retargeting.apart import held_apart
from poise.retargeting.targets import Robot


def test_fingers_that_close_into_things_are_told_by_themselves() -> None:
    """No posture was looked for in which a finger is apart, so none was found wanting."""
    hand, arm = "mixamorig:LeftHand", "mixamorig:RightHand"
    tips = [f"{hand}{name}3" for name in ("Index", "Middle")]
    model = person().with_shapes({link: pz.Sphere((0.0, 0.0, 0.0), 0.005) for link in (hand, arm, *tips)})
    place = dict(zip(model.links, model.poses(model.neutral, model.links).xyz, strict=True))
    balls = {"cup": (tips[0], 0.001), "jug": (tips[1], 0.002), "wall": (arm, 0.004)}
    world = pz.World(
        {name: pz.Sphere(place[at] + [0.0, 0.0, 0.01 - deep], 0.005) for name, (at, deep) in balls.items()}
    )
    fingers = tuple(f"{hand}{name}{k}" for name in ("Index", "Middle") for k in (1, 2, 3))
    robot = Robot(model, {}, {}, {}, {}, {}, {}, 1.0, fingers)
    told = held_apart(pz.CollisionLimit(world, min_distance=0.0), robot, model.neutral[None])
    assert told[1:] == [
        f"nearer than they may be: {arm} and wall by up to 4 mm; no posture was found that keeps them apart",
        "fingers are nearer than they may be, for they do not move for a CollisionLimit: "
        f"{tips[1]} and jug by up to 2 mm, {tips[0]} and cup by up to 1 mm",
    ]
