"""What is wrong with a robot, as its file has it and as a model of it behaves."""

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from poise.common.errors import ModelError, ModelWarning
from poise.doctor.finding import SEVERITIES, Finding, gathered
from poise.doctor.mechanism import findings_of_loops
from poise.doctor.source import findings_of_urdf
from poise.io import file_of, load
from poise.io.elements import read_bytes
from poise.io.packages import PackageDirs
from poise.io.xacro import expanded_xacro
from poise.io.xacro_args import XacroArgs
from poise.model.builder import Base
from poise.model.frame import WORLD
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.model.proximity import around_at_home, at_home, left_alone_at_home
from poise.model.tip import finger_links

_SINGULAR: Final = 1e-6
"""Yoshikawa's measure of an arm that is at a singularity, of one whose lengths are metres."""
_DIGITS: Final = 1e-2
"""By so little postures are beyond limits because files have few digits [rad or m]."""
_ROUNDED: Final = 2e-3
"""Of a share of an arm's size, or an angle [rad], what rounding may come to."""
_SHOWN: Final = 4
"""Pairs of links that are named, at most."""
_ASKED: Final = 6
"""Coordinates of a pose."""


def examine(
    robot: str | Path, *, base: Base = "fixed", package_dirs: PackageDirs = (), xacro_args: XacroArgs | None = None
) -> list[Finding]:
    """All that is found with a robot that `poise.load` takes by name or file, the worst first.

    Of a URDF, that of a known name and an expanded xacro too, each number that cannot be is told with its line,
    also where loading stops at the first; of a kind all that have it are named in one finding.  What loading refuses
    or passes over is a finding too.  The rest is seen on the model: followers that leave their own limits, links
    that meet at home, postures that no joint keeps, floating joints in a chain, arms of fewer than six joints, ends
    that are fingers, speeds without limits, loops that nothing closes and dead points of motors.  `package_dirs` and
    `xacro_args` are those of `poise.load`.
    """
    found: list[Finding] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # loading says it once more
        document, file = _document(str(robot), package_dirs, xacro_args)
    if document:
        found += findings_of_urdf(document, file)
    in_degrees = any(finding.code == "limits-in-degrees" for finding in found)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = load(str(robot), base=base, package_dirs=package_dirs, xacro_args=xacro_args)
        except ModelError as error:
            if not any(_same(finding, error) for finding in found):
                where = str(robot) if error.line is None else f"{robot}, line {error.line}"
                mend = "nothing else was looked at: mend this first"
                found.append(Finding("not-loaded", "error", where, error.message, mend))
            return _worst_first(found)
    for warning in said:
        if issubclass(warning.category, ModelWarning):
            said_so = _of_loading(str(warning.message), str(robot))
            found += [each for each in said_so if not (in_degrees and "if these are degrees" in each.what)]
    own = list(findings_of(model))
    if any(finding.code == "follower-beyond" for finding in own):  # which says it of each
        found = [each for each in found if not each.what.startswith("limits of joints that follow others narrow")]
    return _worst_first([*found, *own])


def _document(robot: str, package_dirs: PackageDirs, xacro_args: XacroArgs | None) -> tuple[str | bytes, str]:
    """The URDF of a robot, expanded if it is a xacro file, and its name in messages; empty if it is none, or cannot be
    read, which loading tells."""
    path = file_of(robot)
    if path is None:
        return "", ""
    try:
        if path.is_file() and (path.suffix.lower() == ".xacro" or xacro_args is not None):
            expanded = expanded_xacro(path, package_dirs=package_dirs, arguments=xacro_args)
            return expanded, f"{path} (expanded)"
        if path.is_file() and path.suffix.lower() in (".urdf", ".xml"):
            return read_bytes(path), str(path)
    except ModelError:
        pass
    return "", ""


def findings_of(model: Model) -> Iterator[Finding]:
    """What is found with a model, whatever it was made of."""
    yield from gathered(_of_limits(model))
    yield from gathered(_of_followers(model))
    yield from gathered(_of_postures(model))
    yield from gathered(_of_floating(model))
    yield from _of_shapes(model)
    yield from _of_the_tip(model)
    yield from findings_of_loops(model)


def _worst_first(found: list[Finding]) -> list[Finding]:
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _of_loading(text: str, robot: str) -> Iterator[Finding]:
    """What a warning of loading says, a finding for each of its lines."""
    head, *lines = text.splitlines()
    mend = "it was read as said: correct the file, or leave it if that is what you mean"
    for line in lines or [head]:
        yield Finding("passed-over", "warning", head.rstrip(":") if lines else robot, line.strip(), mend)


def _same(finding: Finding, error: ModelError) -> bool:
    """Whether what stopped loading is a finding already."""
    joint, said, _ = error.message.partition(" has its limits the wrong way round")
    swapped = finding.code == "limits-swapped" and said != "" and joint in finding.where
    return swapped or (finding.code == "unreadable" and error.message == finding.what)


def _of_limits(model: Model) -> Iterator[Finding]:
    beyond = (model.home < model.lower) | (model.home > model.upper)
    for i in np.flatnonzero(beyond):
        yield Finding(
            "home-outside", "warning", f"joint {model.coordinates[i]!r}",
            f"home is {model.home[i]:.4g}, outside its limits, {model.lower[i]:.4g} to {model.upper[i]:.4g}",
            "load it with another posture, or widen the limits: model.with_limits",
        )  # fmt: skip
    free = [joint.name for joint in model.joints if joint.nv and not np.isfinite(joint.velocity).all()]
    free = [name for name in free if model.joint(name).nv == 1]
    if free:
        yield Finding(
            "no-velocity-limit", "note", _named("joint", free),
            "no velocity limit is stated, so a Tracker cannot bound the speed",
            "state it in the file, or with model.with_limits(velocity=...)",
        )  # fmt: skip


def _of_followers(model: Model) -> Iterator[Finding]:
    for joint in model.joints:
        if joint.mimic is None or not np.size(joint.lower):
            continue
        leader, function = model.follows(joint)
        source, linear = model.joint(leader), function.linear
        if linear is None:
            ends = np.array(function.image(source.lower[0], source.upper[0]))
        else:
            reach = linear[0] * np.array([source.lower[0], source.upper[0]]) if linear[0] else np.zeros(2)
            ends = np.sort(reach + linear[1])
        low, high = float(joint.lower[0]), float(joint.upper[0])
        slack = 1e-6 * max(1.0, abs(low), abs(high)) if np.isfinite([low, high]).all() else 0.0
        if ends[0] < low - slack or ends[1] > high + slack:
            yield Finding(
                "follower-beyond", "warning", f"joint {joint.name!r}",
                f"it follows {leader!r} from {ends[0]:.4g} to {ends[1]:.4g}, beyond its {low:.4g} to {high:.4g}",
                f"widen the limits of {joint.name!r}, correct how it follows, or narrow {leader!r}",
            )  # fmt: skip


def _of_postures(model: Model) -> Iterator[Finding]:
    for name, q in model.postures.items():
        beyond = np.flatnonzero((q < model.lower - _DIGITS) | (q > model.upper + _DIGITS))
        if len(beyond):
            first = beyond[0]
            limits = f"{model.lower[first]:.4g} to {model.upper[first]:.4g}"
            yield Finding(
                "posture-outside", "warning", f"posture {name!r}",
                f"{_named('joint', [model.coordinates[i] for i in beyond])} beyond limits there: {q[first]:.4g}, of "
                f"{limits}",
                "correct the posture in the SRDF, or widen the limits",
            )  # fmt: skip
        elif model.shapes and (near := model.distance(q)).distance < 0.0:
            yield Finding(
                "posture-in-collision", "note", f"posture {name!r}",
                f"{' and '.join(map(repr, near.pair))} are {-1e3 * near.distance:.3g} mm in one another there",
                "correct the posture, or allow the pair: <disable_collisions>",
            )  # fmt: skip


def _of_floating(model: Model) -> Iterator[Finding]:
    for joint in model.joints:
        if joint.kind is JointKind.FLOATING and any(above.size for above in model.root_path(joint.parent)):
            yield Finding(
                "floating-in-chain", "warning", f"joint {joint.name!r}",
                "it floats within a chain, so that what it carries can be anywhere",
                "call it fixed, or what it really is; a base that floats is load(base='floating')",
            )  # fmt: skip


def _of_shapes(model: Model) -> Iterator[Finding]:
    try:
        shapes = model.fitted_shapes
    except ModelError as error:
        yield Finding(
            "mesh-unreadable", "warning", model.name if error.file is None else error.file, error.message,
            "bring the mesh along, or give the link a shape of its own: model.with_shapes",
        )  # fmt: skip
        return
    if not shapes:
        yield Finding(
            "no-shapes",
            "note",
            model.name,
            "it has no collision shapes, so no distance is known",
            "give it <collision>",
        )
        return
    deep, around = at_home(model, 0.0), around_at_home(model)
    within = {pair: distance for pair, distance in deep.items() if pair not in around}
    if within:
        yield Finding(
            "home-in-collision", "warning", _pairs(within),
            f"they are in one another at home, by {-1e3 * min(within.values()):.3g} mm at most",
            "allow it in the SRDF, <disable_collisions>, or give them smaller shapes: model.with_shapes",
        )  # fmt: skip
    if around:
        yield Finding(
            "home-near", "note", _pairs(around),
            f"the shapes around their ellipsoids meet at home, where these are up to {1e3 * max(around.values()):.2g} "
            "mm apart: they count as in collision, and a CollisionLimit keeps them as they are",
            "give them shapes of your own, model.with_shapes, where that is too coarse",
        )  # fmt: skip
    met = left_alone_at_home(model)
    if met:
        yield Finding(
            "home-in-collision", "warning", _pairs(met),
            "they meet at home, so they are not kept apart anywhere",
            "give them smaller shapes, model.with_shapes, or state the pairs that may meet in an SRDF",
        )  # fmt: skip


def _of_the_tip(model: Model) -> Iterator[Finding]:
    tip, beyond = model.tip, finger_links(model)
    if not tip or tip == WORLD:
        return
    path = model.root_path(model.frame(tip).link)
    if any(joint.kind in ("floating", "planar") for joint in path):
        return
    if any(joint.child in beyond and joint.size for joint in path) and any(
        joint.size and joint.child not in beyond for joint in path
    ):
        yield Finding(
            "tip-is-finger",
            "warning",
            f"frame {tip!r}",
            "where the longest chain ends is a finger",
            "name the hand: frame=...",
        )
    count = len({model.follows(joint)[0] for joint in path if joint.nv})
    if 0 < count < _ASKED:
        yield Finding(
            "few-joints", "note", f"frame {tip!r}", f"{count} joints lead there, and a pose asks for six coordinates",
            "use a PositionTask with an AxisTask, or with OrientationTask(required=False)",
        )  # fmt: skip
    special = model.kinematic_class(tip)
    if special.almost:
        offs = [f"axes {what} but for {off:.1g}" for what, off in special.residuals.items() if off < _ROUNDED]
        yield Finding(
            "almost-special", "note", f"frame {tip!r}",
            f"but for rounding its class is {special.almost!r}: {', '.join(offs)}, a share of its size or an angle",
            "write its origins and angles with more digits: a closed form then serves it, which takes a tenth of the "
            "time",
        )  # fmt: skip
    if count >= _ASKED and model.manipulability(tip, model.home) < _SINGULAR:
        yield Finding(
            "home-singular", "note", f"frame {tip!r}", "home is singular: no step leads in some direction there",
            "begin at a posture with bent joints, q0=...",
        )  # fmt: skip


def _pairs(pairs: Iterable[Iterable[str]]) -> str:
    """`links 'a' and 'b'`, of at most four pairs, and how many more there are."""
    names = [f"{first!r} and {second!r}" for first, second in map(sorted, pairs)]
    return f"links {', '.join(names[:_SHOWN])}" + (f" and {len(names) - _SHOWN} more pairs" if names[_SHOWN:] else "")


def _named(noun: str, names: list[str]) -> str:
    """`joint 'a'`, or `joints 'a', 'b' and 3 more`."""
    if len(names) == 1:
        return f"{noun} {names[0]!r}"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{noun}s {', '.join(map(repr, names[:3]))}{more}"
