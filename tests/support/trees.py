"""Random kinematic trees with every kind of joint, and what to test them with."""

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from poise.common.array import Array
from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind, Mimic
from poise.model.joint_function import JointFunction
from poise.model.model import Model
from poise.spatial import SE3

ONE_AXIS = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.HELICAL)
LIMITED = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.HELICAL)
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (-1.0, 0.0, 0.0))
_RIGHT = 0.5 * math.pi
_seeds = st.integers(0, 2**32 - 1)


@st.composite
def trees(
    draw: st.DrawFn,
    *,
    kinds: Sequence[JointKind] = tuple(JointKind),
    least: int = 1,
    most: int = 7,
    mimics: bool = True,
    limits: bool = True,
    functions: bool = False,
) -> Model:
    """Models of `least` to `most` joints of the `kinds`, with branches, several roots, mimics, sites and masses; with
    `functions` some joints follow others by functions that are not linear.

    Structure is drawn number by number, so that a failing tree shrinks; lengths and directions come from one seed,
    half of them special: axes along the frame's, origins of zeros and right angles, or almost.
    """
    builder = ModelBuilder("tree")
    seed = draw(_seeds)
    rng, scales = np.random.default_rng(seed), np.random.default_rng((seed, 1))
    names = [f"j{i}" for i in range(draw(st.integers(least, most)))]
    places = [WORLD]
    lines = []
    sources: list[str] = []
    centre: dict[str, float] = {}
    bent: set[str] = set()
    for i, name in enumerate(names):
        kind = draw(st.sampled_from(kinds))
        parent = draw(st.sampled_from([*reversed(places), f"root{i}"]))
        child = f"link{i}"
        places += [child] if parent in places else [parent, child]
        mimic = None
        if mimics and kind in ONE_AXIS and sources and draw(st.booleans()):
            source = draw(st.sampled_from(sources))
            mimic = Mimic(
                joint=source,
                multiplier=draw(st.sampled_from([1.0, -1.0, 2.0, -0.6, 0.0])),
                offset=draw(st.sampled_from([0.0, 0.4])),
            )
            if functions and draw(st.booleans()):
                mimic = Mimic(joint=source, function=_function(rng))
                bent.add(name)
            if source in bent:
                bent.add(name)
            centre[name] = float(mimic.rule(centre[source]))
        elif kind in ONE_AXIS:
            centre[name] = float(rng.choice([0.0, rng.uniform(-2.0, 2.0)]))
        if kind in ONE_AXIS:
            sources.append(name)
        bounds = _limits(kind, rng, centre.get(name, 0.0)) if limits and draw(st.booleans()) else None
        if name in bent:  # of which limits may leave several intervals
            bounds = None
        axis = _AXES[rng.integers(len(_AXES))] if rng.random() < 0.5 else rng.normal(size=3)
        pitch = float(rng.uniform(-0.5, 0.5))
        lines.append((name, kind, parent, child, origins(rng), axis, bounds, pitch, mimic))
    # A joint may stand before the one that carries it, or that it follows.
    for name, kind, parent, child, origin, axis, bounds, pitch, mimic in draw(st.permutations(lines)):
        builder.joint(
            name, kind, parent=parent, child=child, origin=origin, axis=axis, limits=bounds, pitch=pitch, mimic=mimic
        )
    for i in range(draw(st.integers(0, 2))):
        builder.frame(f"site{i}", link=draw(st.sampled_from(places)), origin=origins(rng))
    heavy = [link for link in places[1:] if scales.random() < 0.6] or places[-1:]
    for link in heavy:
        builder.mass(link, scales.choice([0.001, 1.0, 70.0]), centre=scales.uniform(-1.0, 1.0, 3))
    return builder.build()


def _function(rng: np.random.Generator) -> JointFunction:
    """A polynomial, or a spline that bends within some turns of 0; it has two derivatives everywhere."""
    if rng.random() < 0.3:
        return JointFunction.polynomial(rng.uniform(-0.3, 0.3, 5) / [1, 1, 2, 6, 24], origin=float(rng.normal()))
    x = np.cumsum(rng.uniform(0.2, 1.5, rng.integers(2, 8)))
    kinds = (JointFunction.natural_spline, JointFunction.simm_spline)
    return kinds[rng.integers(2)](x - x.mean(), rng.uniform(-1.0, 1.0, len(x)))


def _limits(kind: JointKind, rng: np.random.Generator, centre: float) -> tuple[list[float], list[float]] | None:
    """Limits about `centre`, some of them open; of all joints that follow one another those hold in common."""
    count = {JointKind.PLANAR: 3, JointKind.FLOATING: 3}.get(kind, 1 if kind in LIMITED else 0)
    if not count:
        return None
    low = [-math.inf if rng.random() < 0.2 else float(centre - rng.uniform(0.05, 2.0)) for _ in range(count)]
    high = [math.inf if rng.random() < 0.2 else float(centre + rng.uniform(0.05, 2.0)) for _ in range(count)]
    free = [math.inf] * (4 if kind is JointKind.FLOATING else 0)
    return low + [-x for x in free], high + free


def origins(rng: np.random.Generator) -> SE3:
    """A random pose, one of zeros and right angles, or one that is tilted from such by next to nothing."""
    which = rng.random()
    if which < 0.4:
        return SE3.from_rotvec(rng.normal(size=3), rng.uniform(-2.0, 2.0, 3))
    square = SE3.from_xyz_rpy(rng.choice([0.0, 0.0, 0.7], 3), rng.choice([0.0, _RIGHT, math.pi], 3))
    if which < 0.8:
        return square
    return square @ SE3.from_rotvec(np.zeros(3), 10.0 ** rng.uniform(-17.0, -1.0) * rng.normal(size=3))


def configurations(model: Model) -> st.SearchStrategy[Array]:
    """Configurations within the limits: anywhere, at home, and with some coordinates at a limit."""

    def at_limits(seed: int) -> Array:
        rng = np.random.default_rng(seed)
        q = model.sample(seed=rng)
        edge = np.where(rng.random(model.nq) < 0.5, model.lower, model.upper)
        return np.where(np.isfinite(edge) & (rng.random(model.nq) < 0.5), edge, q)

    anywhere = _seeds.map(lambda seed: model.sample(seed=seed))
    return anywhere | _seeds.map(at_limits) | st.just(model.home)


def velocities(model: Model, largest: float = 1.0) -> st.SearchStrategy[Array]:
    """Velocities with entries up to `largest`."""
    return _seeds.map(lambda seed: np.random.default_rng(seed).uniform(-largest, largest, model.nv))


def position(model: Model, joint: Joint, q: Array) -> Array:
    """The joint's own numbers at `q`, as the joints that it follows say."""
    if joint.mimic:
        return joint.mimic.rule(position(model, model.joint(joint.mimic.joint), q))
    return q[model.index(joint.name)] if joint.nq else np.zeros(0)


def composed(model: Model, frame: str, q: Array) -> SE3:
    """Pose of `frame` at `q` (nq,), joint by joint from the world."""
    seen = SE3.identity()
    hung = model.frame(frame)
    for joint in model.root_path(hung.link):
        seen = seen @ joint.origin @ joint.motion(position(model, joint, q))
    return seen @ hung.origin


def reach(model: Model, q: Array) -> float:
    """A length [m] that the rounding errors of poses at `q` go with: no frame is further from the world's origin."""
    lengths = [float(np.linalg.norm(model.frame(name).origin.xyz)) for name in model.frames]
    for joint in model.joints:
        moved = joint.motion(position(model, joint, q)).xyz
        lengths += [float(np.linalg.norm(joint.origin.xyz)), float(np.linalg.norm(moved))]
    return 1.0 + sum(lengths)


def same_configuration(model: Model, a: Array, b: Array, tolerance: float) -> bool:
    """Whether two configurations (..., nq) are equal, quaternions up to their sign."""
    away = np.abs(a - b)
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            start = model.index(joint.name).start + joint.quaternion_at
            at = slice(start, start + 4)
            flipped = np.sum(a[..., at] * b[..., at], axis=-1, keepdims=True) < 0.0
            away[..., at] = np.abs(np.where(flipped, -a[..., at], a[..., at]) - b[..., at])
    return bool(np.all(away <= tolerance))
