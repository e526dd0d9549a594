"""The shapes that are kept off obstacles: the model's own, or its skeleton."""

import numpy as np

from poise.geometry.shapes import Capsule
from poise.model.frame import WORLD
from poise.model.model import Model


def bodied(model: Model, frame: str) -> Model:
    """The model itself where it has shapes; else with a line from each joint to those that it carries, and to `frame`.

    A line has no thickness.
    """
    if any(link != WORLD for link in model.shapes):
        return model
    ends: dict[str, list[tuple[float, ...]]] = {}
    for joint in model.joints:
        ends.setdefault(joint.parent, []).append(tuple(joint.origin.xyz.tolist()))
    tip = model.frame(frame)
    ends.setdefault(tip.link, []).append(tuple(tip.origin.xyz.tolist()))
    still = {link for link in model.links if not any(joint.size for joint in model.root_path(link))}
    lines = {
        link: [Capsule((0.0, 0.0, 0.0), end, 0.0) for end in dict.fromkeys(points)]
        for link, points in ends.items()
        if link != WORLD and link not in still
    }
    return model.with_shapes({**model.shapes, **lines})


def reach(model: Model, frame: str) -> float:
    """How long the way along the links to a frame is, from one joint to the next [m]."""
    end = model.frame(frame)
    places = [end.origin.xyz, *(joint.origin.xyz for joint in model.root_path(end.link))]
    return float(np.linalg.norm(places, axis=1).sum())
