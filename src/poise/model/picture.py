"""What a camera sees besides the robot."""

from typing import Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import not_negative, with_holes
from poise.common.errors import ShapeError
from poise.geometry.shapes import Shape
from poise.geometry.world import Entry, World, a_world
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import WIDTH
from poise.model.frame import WORLD
from poise.model.model import Model, a_model
from poise.model.scene import Scene

_OWN: Final = "the robot's shapes, and what it carries"


def without_robot(
    points: ArrayLike, model: Model, q: ArrayLike, *, margin: float = 0.02, world: World | None = None
) -> Array:
    """(m, 3) those of `points` (n, 3) [m] that are `margin` [m] or more away from the robot at `q` (nq,).

    Points are seen from the world, in any order, which stays; holes, points with a NaN or masked, stay too.  The robot
    is the shapes of its links, meshes as their hulls, and what of `world` they carry; but for half-spaces, and for what
    a file put into the world itself.  A `margin` of the noise of points and of what calibration leaves drops the edges
    of the arm too.  Raises ShapeError, TypeError for what is no model or world, and ValueError for a `q` that is not
    finite or a `margin` below 0.
    """
    a_model(model)
    given = with_holes("points", points, "numbers of shape (n, 3)")
    if given.ndim != 2 or given.shape[1] != 3:
        raise ShapeError(f"points must have shape (n, 3), got {given.shape}")
    not_negative("margin", margin, unit=" [m]")
    checked = model.check_q(q)
    if checked.ndim != 1:
        raise ShapeError(f"q must have shape ({model.nq},), one configuration, got {checked.shape}")
    if len(given) == 0:
        return given.copy()
    entries = () if world is None else a_world(world).snapshot().entries
    carried = tuple(entry for entry in entries if entry.link is not None)
    # Nobody else has it meanwhile.
    cached = model.queries.pop(_OWN, None)
    scene = (
        cached[1] if cached is not None and cached[0] == carried else Scene(model, _own(model, carried), excluded=None)
    )
    scene.q[:] = checked
    flat = given.reshape(-1) if given.flags.carray else np.array(given, order="C").ravel()
    near = np.empty(-(-len(given) // WIDTH) * WIDTH)
    prepare("collision.picture.near_points")(*scene.addresses, flat, float(margin), near)
    model.queries[_OWN] = carried, scene
    return given[near[: len(given)] == 0.0]


def _own(model: Model, carried: tuple[Entry, ...]) -> dict[str, list[Shape]]:
    """What belongs to the robot, by the link that carries it, each seen from there."""
    shapes = {link: [x for x in some if x.core.bound < np.inf] for link, some in model.fitted_shapes.items()}
    for entry in carried:
        frame = model.frame(str(entry.link))
        if isinstance(entry.shape, Shape) and entry.shape.core.bound < np.inf:
            shapes.setdefault(frame.link, []).append(entry.shape.placed(frame.origin))
    shapes.pop(WORLD, None)
    return shapes
