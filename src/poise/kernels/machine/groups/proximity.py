"""Sections of a scene's own workspace, in which shapes that are near are found."""

from typing import Final

from poise.kernels.machine.group import Group

PROXIMITY: Final = Group(
    (
        "kernels/collision",
        "kernels/gradients",
        "kernels/requirements",
    ),
    {
        "shape_frames": "FRAME a shape and the point, its pose",
        "centres": "3 packed rows, of bounding spheres",
        "reach": "a packed row a shape that moves, the radii of the spheres that it may meet, -1e300 of others",
        "squares": "a packed row, how far their centres are from it [m^2]",
        "guess": "two packs, the pairs that seem to be the nearest",
        "lower": "what the distances of `candidates` are not below [m]",
        "candidates": "two a pair, those that may be the nearest in a lane",
        "advance": "one a shape that moves, how far it may come [m]",
        "drift": "3 a shape, how far one of the world goes of itself in a step [m]",
        "stirred": "1, how far shapes of the world were moved since the last update [m]",
        "near": "1 + NEAR x MOST_NEAR, how many pairs are near and which",
        "near_before": "the same before an update",
        "pair": "NEAR, the pair at hand",
        "until": "MOST_NEAR, for how many steps of braking each of those that are near stays apart",
        "row": "nv, what each velocity does to the distance of a pair, or a way of each",
        "rate": "nv, how far each velocity goes in a step",
    },
)
