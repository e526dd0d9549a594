"""What of a robot touches: the soles of its feet, the palms of its hands, and how low it reaches.

All is seen as `Balls`: what is lowest of a shape is lowest of its balls.
"""

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from poise import SE3, InvalidValue, JointKind, MissingExtra, Model, ModelError
from poise.extending import WORLD, Array, ArrayLike, Balls, VisualShape, finite
from poise.spatial import frozen

_FLAT = 0.005
"""How far a point may be above the lowest and belong to the sole [m]."""
_ROUND = 2.0
"""A foot whose longest side is shorter than so many of its shortest is a ball."""
_CORNERS = 8
"""Points of a sole, at most."""
_AT_ONCE = 2_000_000
"""Numbers in one piece of work."""


def sole(model: Model, frame: str, *, up: ArrayLike = (0.0, 0.0, 1.0)) -> Array:
    """(k, 3) the points with which a foot stands, at most 8, seen from `frame` [m]: the corners of its lowest face.

    They lie in one plane, as low as the lowest point; what is up to 5 mm above it belongs to it.

    The foot is all that is rigidly attached to the frame, with the shapes that may collide; a foot without has those
    that are drawn; and one of which nothing can be seen has a single point: beneath the frame, as low as the lowest
    frame on the foot and below it.  What is lowest is seen at the robot's `neutral`, with `up` (3,) in the world.

    Raises FrameNotFound, with the nearest names; ValueError for a frame of the world and for an `up` of 0; ModelError
    and MissingExtra for meshes that may collide and cannot be read.
    """
    return _sole(model, frame, up)[0]


def rounding(model: Model, frame: str, *, up: ArrayLike = (0.0, 0.0, 1.0)) -> float:
    """The radius of the balls with which a foot stands, the least if they differ; 0 for corners [m]; see `sole`.

    A foot that is tilted rolls on them: what is this much above a point of the sole has the same distance to the ground
    however it is turned.
    """
    return _sole(model, frame, up)[1]


def palm(model: Model, frame: str, up: ArrayLike) -> Array:
    """(3,) the middle of the side of a hand that is away from `up` (3,), both seen from `frame` [m].

    As a `sole`, but links without shapes that may collide, as hands of rubber have them, are there as they are drawn.
    """
    turned = model.pose(frame, model.neutral).rotation.act(up).tolist()
    middle: Array = _sole(model, frame, (turned[0], turned[1], turned[2]), drawn=True)[0].mean(axis=0)
    return middle


def _sole(model: Model, frame: str, up: ArrayLike, *, drawn: bool = False) -> tuple[Array, float]:
    """The points of a sole, and the radius of what is there; with what is `drawn` of links that have no shapes."""
    way = finite("up", up, 3).reshape(3)
    length = float(np.linalg.norm(way))
    if not length > 0.0:
        raise InvalidValue("zero-vector", "up is 0 0 0; it must be the direction that is up in the world")
    link = model.frame(frame).link
    links = one_body(model, link)
    if WORLD in links or (model.joints and not model.root_path(link)):
        raise InvalidValue(
            "nothing-moves", f"{frame} stands still in {model.name}, so it is no foot; name a link that joints move"
        )
    home = model.pose(frame, model.neutral).inverse()
    up_there = home.rotation.act(way / length)
    balls = _balls_of(((name, model.shapes.get(name, ())) for name in links), model, home)
    if drawn or not len(balls.radii):
        balls = Balls.together([balls, _seen(model, (name for name in links if not model.shapes.get(name)), home)])
    if not len(balls.radii):
        carried = links_from(model, links)
        frames = [name for name in model.frames if model.frame(name).link in carried]
        lowest = min(float(home.act(model.pose(name, model.neutral).xyz) @ up_there) for name in frames)
        return frozen((lowest * up_there)[None]), 0.0
    points = balls.centres - balls.radii[:, None] * up_there
    heights = points @ up_there
    near = heights < heights.min() + _FLAT
    flattened = points[near] - (heights[near] - heights.min())[:, None] * up_there
    return frozen(_corners(flattened, up_there)), float(balls.radii[near].min())


def around(model: Model, frame: str, *, drawn: bool = False) -> Array:
    """(8, 3) the corners of the box along a frame's axes around all that is rigidly attached to it [m]; (0, 3) where
    no shape is.  With `drawn`, links without shapes that may collide are there as they are drawn.  Raises
    FrameNotFound, with the nearest names; ModelError and MissingExtra for meshes that cannot be read."""
    links = one_body(model, model.frame(frame).link)
    home = model.pose(frame, model.neutral).inverse()
    balls = _balls_of(((name, model.shapes.get(name, ())) for name in links), model, home)
    if drawn:
        balls = Balls.together([balls, _seen(model, (name for name in links if not model.shapes.get(name)), home)])
    if not len(balls.radii):
        return np.zeros((0, 3))
    low, high = _extent(balls)
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def reach(model: Model, frame: str, way: Array, point: Array, about: float) -> float:
    """How far the shapes of a frame's link go along the unit vector `way` (3,) from `point` (3,), both seen from the
    frame, where they are within `about` of that line [m]; 0 where none is.

    Raises FrameNotFound, with the nearest names; ModelError and MissingExtra for meshes that cannot be read.
    """
    link = model.frame(frame).link
    balls = _balls_of([(link, model.shapes.get(link, ()))], model, model.pose(frame, model.neutral).inverse())
    from_there = balls.centres - point
    along = from_there @ way
    near = np.linalg.norm(from_there - along[:, None] * way, axis=1) < about
    return float((along + balls.radii)[near].max(initial=0.0))


def ball(model: Model, frame: str) -> tuple[Array, float] | None:
    """The middle (3,) of the ball that a foot is, seen from `frame`, and its radius [m]: half of the longest side of
    the box around the shapes of its link; None where it has none, or is longer than a ball.

    Raises FrameNotFound, with the nearest names; ModelError and MissingExtra for meshes that cannot be read.
    """
    link = model.frame(frame).link
    balls = _balls_of([(link, model.shapes.get(link, ()))], model, model.pose(frame, model.neutral).inverse())
    if not len(balls.radii):
        return None
    low, high = _extent(balls)
    sides = high - low
    return (0.5 * (low + high), 0.5 * float(sides.max())) if sides.max() < _ROUND * sides.min() else None


def _extent(balls: Balls) -> tuple[Array, Array]:
    """(3,) and (3,) the least and the largest coordinates of balls."""
    reach = balls.radii[:, None]
    return (balls.centres - reach).min(axis=0), (balls.centres + reach).max(axis=0)


def lowest(model: Model, q: Array, *, links: Sequence[str] | None = None, under: float = np.inf) -> Array:
    """(..., links) how high the lowest point of each link's shapes is over z = 0 [m], at `q` (..., nq).

    What is not lower than `under` [m] may be infinite.

    The links are those of `model.shapes` that joints move, or the named ones; of one without shapes it is infinite.
    Of a mesh only vertices are looked at that are farthest out in some of many directions.  Raises FrameNotFound for a
    name that is none, ModelError and MissingExtra for meshes that cannot be read.
    """
    names = [name for name in model.shapes if name != WORLD] if links is None else list(links)
    q = model.check_q(q)
    rows = q.reshape(-1, model.nq)
    out = np.full((len(rows), len(names)), np.inf)
    if not names or not len(rows):
        return out.reshape(*q.shape[:-1], len(names))
    cache = _CACHE.setdefault(model, {})
    for name in names:
        model.frame(name)
        if name not in cache:
            cache[name] = Balls.of(model.shapes.get(name, ())).outer()
    poses = model.poses(rows, names)
    down = poses.rotation.inverse().act((0.0, 0.0, 1.0))
    for k, name in enumerate(names):
        centres, radii = cache[name]
        piece = max(1, _AT_ONCE // max(len(radii), 1))
        reach = float((np.linalg.norm(centres, axis=1) + radii).max(initial=-np.inf))
        near = np.flatnonzero(poses.xyz[:, k, 2] - reach < under)
        for start in range(0, len(near), piece):
            those = near[start : start + piece]
            heights = np.einsum("fi,pi->fp", down[those, k], centres) - radii
            out[those, k] = heights.min(axis=1) + poses.xyz[those, k, 2]
    return out.reshape(*q.shape[:-1], len(names))


_CACHE: "WeakKeyDictionary[Model, dict[str, Balls]]" = WeakKeyDictionary()


def measured_as(model: Model, other: Model) -> Model:
    """A model whose links have the shapes of another's: what is measured of the ones is known of the others."""
    _CACHE[model] = _CACHE.setdefault(other, {})
    return model


def one_body(model: Model, link: str) -> list[str]:
    """The links that are one body with `link`."""
    found = [link]
    for name in found:
        for joint in model.joints:
            if joint.kind is JointKind.FIXED and name in (joint.parent, joint.child):
                other = joint.child if name == joint.parent else joint.parent
                found += [] if other in found else [other]
    return found


def links_from(model: Model, links: Iterable[str]) -> set[str]:
    """The links, and all that they carry."""
    found = set(links)
    for joint in model.joints:  # parents before children
        if joint.parent in found:
            found.add(joint.child)
    return found


def _balls_of(shapes: Iterable[tuple[str, Sequence[VisualShape]]], model: Model, seen_from: SE3) -> Balls:
    """The balls of what links are made of, in the robot's neutral posture, seen from a frame."""
    parts = []
    for name, those in shapes:
        if those:
            centres, radii = Balls.of(those)
            parts.append(Balls((seen_from @ model.pose(name, model.neutral)).act(centres), radii))
    return Balls.together(parts)


def _seen(model: Model, links: Iterable[str], seen_from: SE3) -> Balls:
    """The balls of what is drawn of the links; none where that cannot be read."""
    try:
        drawn = [(name, [visual.shape for visual in model.visuals.get(name, ())]) for name in links]
        return _balls_of(drawn, model, seen_from)
    except (ModelError, MissingExtra):
        return Balls.together([])


def _corners(points: Array, up: Array) -> Array:
    """The corners of the hull of points (n, 3) seen from above, at most 8: those whose triangles are least go first."""
    across = np.linalg.svd(up[None])[2][1:]
    flat = points @ across.T
    ring = _ring(flat)
    while len(ring) > _CORNERS:
        a, b, c = flat[np.roll(ring, 1)], flat[ring], flat[np.roll(ring, -1)]
        areas = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        ring = np.delete(ring, int(np.argmin(areas)))
    return points[ring]


def _ring(flat: Array) -> Array:
    """Which of the points (n, 2) are the corners of their hull, in order: by Andrew's monotone chain."""
    order = np.lexsort(flat.T[::-1]).tolist()
    least = 1e-9 * float(np.ptp(flat, axis=0).max()) ** 2

    def half(places: Sequence[int]) -> list[int]:
        chain: list[int] = []
        for i in places:
            while len(chain) > 1:
                (ax, ay), (bx, by), (cx, cy) = flat[chain[-2]], flat[chain[-1]], flat[i]
                if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > least:
                    break
                chain.pop()
            chain.append(i)
        return chain

    lower, upper = half(order), half(order[::-1])
    ring = [*lower[:-1], *upper[:-1]] or [order[0]]
    return np.array(ring[:1] if np.ptp(flat, axis=0).max() < 1e-9 else ring)
