"""Lengths of a body's segments, and places of markers on them, from a recording of a person who stands or moves.

Of each link a factor scales what is on it: origins of the joints that it carries, markers, the slides of joints that
follow others, and the centre of its mass.  Where a marker is, is linear in these factors at a configuration: along the
way from the world to it each link has its share, from where the link is to where the next one is.  So

    min  sum_f sum_k w_k |m_k(q_f, s) - p_fk|^2 / sum w  +  F prior^2 sum_l (s_l - 1)^2

over configurations and factors is least squares: factors take Gauss and Newton's steps, out of whose normal equations
each frame's own q is eliminated (variable projection, Golub and Pereyra 1973), and each step is followed by a fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np

from poise import SE3, InvalidType, InvalidValue, JointFunction, JointKind, Mimic, Model, ModelBuilder
from poise.extending import WORLD, Array, ArrayLike, a_model, finite_positive
from poise_motion.markers.fit import MarkerFit
from poise_motion.markers.fitting import fit_markers
from poise_motion.markers.markers import Markers

_FRAMES: Final = 30
"""Of a recording so many are used, evenly."""
_STEPS: Final = 30
_REST: Final = 1e-7
"""A step that changes no factor by more is the last."""
_SMALLEST, _LARGEST = 0.2, 5.0
"""Factors beyond make no person of a person."""
_FLOOR: Final = 1e-9
"""Of the largest entry of a frame's normal equations, for joints that no marker sees."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class ScaledBody:
    """What `scale_body` found."""

    model: Model
    """The body with its new lengths, and markers where they were placed."""
    factors: Mapping[str, float]
    """By link, what its lengths were multiplied by."""
    fit: MarkerFit
    """That of the recording with the new body."""
    moved: Mapping[str, float] = field(default_factory=dict)
    """How far markers were moved on their links, those that were placed [m]."""

    def __str__(self) -> str:
        """The factors and the fit."""
        factors = ", ".join(f"{link} {factor:.3f}" for link, factor in self.factors.items())
        return f"factors: {factors}\n\n{self.fit}"


def scale_body(
    model: Model,
    markers: Markers,
    *,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, float] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    place: bool | Sequence[str] = False,
    prior: float = 0.01,
) -> ScaledBody:
    """The body whose segments have the lengths for which its markers come nearest to measured ones, in all frames.

    `markers` are a trial in which the person stands, or better moves: thirty frames of it are used.  `weights`,
    `coordinates` and `values`, numbers, are as `fit_markers` takes them.  `prior` is how far a marker is to move for a
    factor to leave 1 by 1 [m]: what no marker says stays, and a larger one keeps all nearer to the body as it was.

    Factors are one a link that moves.  The joints in a row that an `.osim` makes of one belong to the link that carries
    them.  `place` then moves markers on their links to where they were measured, on average: all, or those named, such
    as all that sit on soft tissue; what they say of lengths is then used up, so name none of those on bones.

    Shapes and visuals of the model are left out.  Raises as `fit_markers` does, ValueError for a prior that is not
    positive.
    """
    a_model(model)
    if not isinstance(markers, Markers):
        raise InvalidType("wrong-type", f"markers must be Markers, one recording, got {markers!r:.60}")
    if isinstance(place, str):
        raise InvalidType("not-a-sequence", f"place must be a list of names, got {place!r}; put it in a list")
    finite_positive("prior", prior)
    some = _some(markers)
    given: dict[str, Any] = {"weights": weights, "coordinates": coordinates, "values": values}
    fit = fit_markers(model, some, **given)
    wanted = list(fit.names) if place is True else list(place or ())
    for name in wanted:
        if name not in fit.names:
            raise InvalidValue("no-such-part", f"the marker {name!r} of place was not measured, or has no weight")
    links = _segments(model, fit.names)
    factors, body = np.ones(len(links)), model
    for _ in range(_STEPS):
        step = _step(body, links, factors, fit, some, weights or {}, coordinates or {}, prior)
        longest = float(np.abs(step).max(initial=0.0))
        factors = np.clip(factors + step, _SMALLEST, _LARGEST)
        body = scaled(model, dict(zip(links, factors.tolist(), strict=True)))
        fit = fit_markers(body, some, **given, q0=fit.motion.q[0])
        if longest < _REST:
            break
    moved: dict[str, float] = {}
    if wanted:
        body, moved = _placed(body, fit, some, wanted)
    whole = fit_markers(body, markers, **given)
    return ScaledBody(body, dict(zip(links, map(float, factors), strict=True)), whole, moved)


def scaled(model: Model, factors: Mapping[str, float], places: Mapping[str, Array] | None = None) -> Model:
    """The model with the lengths on its links multiplied, and frames at other `places` (3,) on theirs; what is not
    named stays.  Without shapes and visuals."""
    owner = _owners(model)
    b = ModelBuilder(model.name)
    for joint in model.joints:
        factor = factors.get(owner[joint.parent], 1.0) if joint.parent != WORLD else 1.0
        own = factor
        if joint.kind is JointKind.FIXED and owner[joint.parent] != joint.parent:
            own = factors.get(joint.child, 1.0)  # how a body hangs on the last axis of its joint
        mimic = joint.mimic
        if mimic is not None and joint.kind is JointKind.PRISMATIC and factor != 1.0:
            if mimic.function is None:
                mimic = replace(mimic, multiplier=factor * mimic.multiplier, offset=factor * mimic.offset)
            else:
                longer = JointFunction.polynomial([0.0, factor]).after(mimic.function)
                mimic = Mimic(joint=mimic.joint, function=longer)
        free = joint.kind in (JointKind.FIXED, JointKind.CONTINUOUS, JointKind.SPHERICAL, JointKind.FLOATING)
        ball = joint.ball
        b.joint(
            joint.name, joint.kind.value, parent=joint.parent, child=joint.child, axis=joint.axis, pitch=joint.pitch,
            origin=SE3.from_parts(own * joint.origin.xyz, joint.origin.rotation), mimic=mimic,
            limits=None if free else (joint.lower, joint.upper), velocity=joint.velocity if joint.velocity else None,
            swing=ball and ball.swing, twist=ball and ball.twist, across=ball and ball.across,
        )  # fmt: skip
    for name in model.frames:
        if name in model.links or name == WORLD:
            continue
        frame = model.frame(name)
        factor = 1.0 if frame.link == WORLD else factors.get(owner[frame.link], 1.0)
        there = (places or {}).get(name, factor * frame.origin.xyz)
        b.frame(name, link=frame.link, origin=SE3.from_parts(there, frame.origin.rotation))
    for loop in model.loops:
        b.loop(loop.first, loop.second, loop.kind)
    for link, (mass, centre) in model.masses.items():
        factor, inertia = factors.get(owner[link], 1.0), model.inertias.get(link)
        b.mass(link, mass, centre=factor * centre, inertia=None if inertia is None else factor**2 * inertia)
    postures = {name: _by_joint(model, q) for name, q in model.postures.items()}
    for name, posture in {**postures, "as it was": _by_joint(model, model.home)}.items():
        b.posture(name, posture)
    return b.build(home="as it was")


def _by_joint(model: Model, q: Array) -> dict[str, list[float]]:
    return {joint.name: q[model.index(joint.name)].tolist() for joint in model.joints if joint.nq}


def _owners(model: Model) -> dict[str, str]:
    """By link, the one whose factor it has: its own, or of an axis between two bodies that which carries it."""
    owner: dict[str, str] = {}
    carrier = {joint.child: joint for joint in model.joints}
    for link in model.links:
        joint = carrier.get(link)
        between = joint is not None and "/" in link and joint.parent in owner
        owner[link] = owner[joint.parent] if joint is not None and between else link
    return owner


def _segments(model: Model, names: Sequence[str]) -> list[str]:
    """The links on the ways to these markers that have a factor, in the model's order."""
    owner, carrier = _owners(model), {joint.child: joint.parent for joint in model.joints}
    wanted: set[str] = set()
    for name in names:
        link = model.frame(name).link
        while link != WORLD:
            wanted.add(owner[link])
            link = carrier.get(link, WORLD)
    bodies = {model.frame(name).link for name in names}
    return [link for link in model.links if link in wanted and ("/" not in link or link in bodies)]


def _shares(model: Model, links: Sequence[str], factors: Array, q: Array, names: Sequence[str]) -> Array:
    """(frames, markers, 3, links) how places of markers change with each factor, at q (frames, nq)."""
    owner = _owners(model)
    carrier = {joint.child: joint for joint in model.joints}
    places = dict(zip(model.links, np.moveaxis(model.poses(q, model.links).xyz, 1, 0), strict=True))
    spots = np.moveaxis(model.poses(q, list(names)).xyz, 1, 0)
    number = {link: i for i, link in enumerate(links)}
    out = np.zeros((len(q), len(names), 3, len(links)))
    for k, name in enumerate(names):
        link, at = model.frame(name).link, spots[k]
        whose = owner[link]
        while link != WORLD:
            if whose in number:
                out[:, k, :, number[whose]] += (at - places[link]) / factors[number[whose]]
            at, joint = places[link], carrier.get(link)
            if joint is None or joint.parent == WORLD:
                break
            hangs = joint.kind is JointKind.FIXED and owner[joint.parent] != joint.parent
            whose, link = (joint.child if hangs else owner[joint.parent]), joint.parent
    return out


def _step(
    model: Model, links: Sequence[str], factors: Array, fit: MarkerFit, markers: Markers,
    weights: Mapping[str, float], coordinates: Mapping[str, float], prior: float,
) -> Array:  # fmt: skip
    """(links,) the change of factors that makes the sum least, as far as it is quadratic."""
    q, names = fit.motion.q, fit.names
    points = markers.of(names).positions
    seen = ~np.isnan(points[:, :, 0])
    w = np.array([weights.get(name, 1.0) for name in names]) * seen
    w = w / np.maximum(w.sum(axis=1, keepdims=True), 1e-300)
    lack = np.where(seen[:, :, None], points - fit.places, 0.0)
    slopes = np.stack([model.jacobian(name, q)[:, :3] for name in names], axis=1)  # (frames, markers, 3, nv)
    free = _free(model, q)
    shares = _shares(model, links, factors, q, names)
    normal = np.einsum("fk,fkia,fkib->fab", w, slopes, slopes)
    for name, weight in coordinates.items():
        normal[:, model.velocity_index(name), model.velocity_index(name)] += weight
    normal += np.eye(model.nv) * (_FLOOR * normal.max(axis=(1, 2), keepdims=True) + 1e-300)
    cross = np.einsum("fk,fkia,fkil->fal", w, slopes, shares)
    matrix = prior**2 * len(q) * np.eye(len(links)) + np.einsum("fk,fkil,fkim->lm", w, shares, shares)
    right = prior**2 * len(q) * (1.0 - factors) + np.einsum("fk,fkil,fki->l", w, shares, lack)
    for f in range(len(q)):
        some = free[f]
        eliminated = np.linalg.solve(normal[f][np.ix_(some, some)], cross[f][some])
        matrix -= cross[f][some].T @ eliminated
        right -= eliminated.T @ np.einsum("k,kia,ki->a", w[f], slopes[f][..., some], lack[f])
    step: Array = np.linalg.solve(matrix, right)
    return step


def _free(model: Model, q: Array) -> Array:
    """(frames, nv) the velocities of joints that do not stand at a limit, as bool."""
    out = np.ones((len(q), model.nv), dtype=bool)
    for joint in model.joints:
        if joint.nq == 1:
            at, v = model.index(joint.name).start, model.velocity_index(joint.name).start
            out[:, v] = (q[:, at] > joint.lower[0]) & (q[:, at] < joint.upper[0])
    return out


def _placed(model: Model, fit: MarkerFit, markers: Markers, names: Sequence[str]) -> tuple[Model, dict[str, float]]:
    """The model with these markers where they were measured on their links, on average, and how far each moved."""
    points, moved, places = markers.of(list(names)).positions, dict[str, float](), dict[str, Array]()
    for k, name in enumerate(names):
        frame, seen = model.frame(name), ~np.isnan(points[:, k, 0])
        if not seen.any():
            continue
        poses = model.pose(frame.link, fit.motion.q[seen])
        there = poses.inverse().act(points[seen, k]).mean(axis=0)
        places[name], moved[name] = there, float(np.linalg.norm(there - frame.origin.xyz))
    return scaled(model, {}, places), moved


def _some(markers: Markers) -> Markers:
    """At most so many of the frames, evenly."""
    if len(markers) <= _FRAMES:
        return markers
    at = np.unique(np.linspace(0, len(markers) - 1, _FRAMES).round().astype(int))
    return Markers(markers.names, markers.times[at], markers.positions[at], markers.name, markers.notes)
