"""Build a model in code, link by link; every reader goes through here, so every rule of a tree is checked once."""

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, final

import numpy as np
import numpy.typing as npt

from poise.common.array import ArrayLike
from poise.common.errors import InvalidType, InvalidValue, ModelError, nearest_names
from poise.model.followers import followers, freed
from poise.model.frame import WORLD, Frame
from poise.model.joint import Joint, JointKind, Mimic, like_degrees
from poise.model.joint_function import JointFunction
from poise.model.loop import LOOP_KINDS, Loop, LoopKind
from poise.model.model import Model
from poise.model.structure import check_mimics, parents_first
from poise.model.swing import SwingTwist, reals
from poise.spatial import BOUND, LARGEST, SE3

if TYPE_CHECKING:
    from poise.geometry.meshes import LinkShape
    from poise.geometry.visuals import Visual

Base = Literal["fixed", "planar", "floating"]
_SLOWEST = 1e-100
"""The least speed of a joint that moves [rad/s or m/s]."""


@final
class ModelBuilder:
    """Collect joints, frames, masses, shapes and visuals in any order, then `build()`.

    >>> b = ModelBuilder("elbow")
    >>> b.joint("shoulder", "revolute", parent="base", child="upper", axis=(0, 0, 1), limits=(-2, 2))
    >>> b.joint("elbow", "revolute", parent="upper", child="lower", origin=SE3.from_parts([1, 0, 0]))
    >>> b.frame("tip", link="lower", origin=SE3.from_parts([1, 0, 0]))
    >>> b.build().nq
    2
    """

    def __init__(self, name: str, *, file: str | None = None) -> None:
        self.name = name
        self._file = file
        self._joints: dict[str, Joint] = {}
        self._frames: dict[str, Frame] = {}
        self._masses: dict[str, tuple[float, npt.NDArray[np.float64]]] = {}
        self._inertias: dict[str, npt.NDArray[np.float64]] = {}
        self._shapes: dict[str, list[LinkShape]] = {}
        self._visuals: dict[str, list[Visual]] = {}
        self._disabled: dict[frozenset[str], int | None] = {}
        self._links: dict[str, int | None] = {}
        self._lines: dict[str, int | None] = {}
        self._groups: dict[str, tuple[str, ...]] = {}
        self._postures: dict[str, dict[str, Sequence[float]]] = {}
        self._end_effectors: dict[str, tuple[str, ...]] = {}
        self._loops: dict[Loop, int | None] = {}

    def link(self, name: str, *, line: int | None = None) -> None:
        """Declare a link; joints declare theirs themselves, unless `build(declared=True)` wants it said."""
        self._name("link", name, line)
        if name in self._links:
            raise self._error(f"link {name!r} is declared twice; give one of them another name", line)
        self._links[name] = line

    def joint(
        self,
        name: str,
        kind: str,
        *,
        parent: str,
        child: str,
        origin: SE3 | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        effort: float | None = None,
        pitch: float = 0.0,
        swing: ArrayLike | None = None,
        twist: ArrayLike | None = None,
        across: ArrayLike | None = None,
        mimic: Mimic | None = None,
        line: int | None = None,
    ) -> None:
        """Add a joint of a `JointKind`; see `poise.Joint` for the units.

        `limits` is (lower, upper), numbers or one for each coordinate.  Those of a spherical joint are `swing`, `twist`
        and `across` about its `axis`, as `SwingTwist` has them.  `effort` is the largest torque or force.  Raises
        ModelError for a name used twice, an unknown kind, a zero axis, or limits the wrong way round.
        """
        self._name("joint", name, line)
        if name in self._joints:
            raise self._error(f"joint {name!r} is declared twice; give one of them another name", line)
        try:
            kind = JointKind(kind)
        except ValueError:
            kinds = ", ".join(k.value for k in JointKind)
            raise self._error(f"joint {name!r} has the unknown type {kind!r}; the types are {kinds}", line) from None
        unit = self._axis(name, axis, line)
        blank = Joint(name=name, kind=kind, parent=parent, child=child)
        if limits is not None and (not isinstance(limits, Sequence | np.ndarray) or len(limits) != 2):
            raise self._error(f"joint {name!r} has the limits {limits!r}; they are two, (lower, upper)", line)
        lower = self._numbers(name, "lower limit", limits[0] if limits else -math.inf, blank.size, line)
        upper = self._numbers(name, "upper limit", limits[1] if limits else math.inf, blank.size, line)
        for low, high in zip(lower, upper, strict=True):
            if low > high:
                raise self._error(
                    f"joint {name!r} has its limits the wrong way round: lower {low:g} > upper {high:g}; change them "
                    "over",
                    line,
                )
            if low == math.inf or high == -math.inf:
                raise self._error(f"joint {name!r} has limits {low:g} to {high:g}, which no position keeps", line)
            for limit in (low, high):
                if LARGEST < abs(limit) < math.inf:
                    raise self._error(
                        f"joint {name!r} has the limit {limit:g}; {BOUND}: leave out limits that are none, and call a "
                        "hinge without any continuous",
                        line,
                    )
        if line is None and like_degrees(kind, *lower, *upper):
            warnings.warn(
                f"joint {name!r} has limits of {lower[0]:g} to {upper[0]:g} rad, more than three turns: degrees? "
                "numpy.radians makes them radians",
                UserWarning,
                stacklevel=2,
            )
        if kind is JointKind.CONTINUOUS and limits:
            raise self._error(f"joint {name!r} is continuous and cannot have limits; call it revolute", line)
        at = blank.quaternion_at
        if at is not None and any(map(math.isfinite, (*lower[at:], *upper[at:]))):
            raise self._error(
                f"joint {name!r} cannot have limits on its quaternion; a spherical joint takes swing= and twist=", line
            )
        ball = self._ball(name, unit, swing, twist, across, line)
        if kind is not JointKind.SPHERICAL and ball is not None:
            raise self._error(f"joint {name!r} is {kind.value}; swing and twist limit spherical joints only", line)
        speed = self._numbers(name, "velocity limit", math.inf if velocity is None else velocity, blank.speeds, line)
        if any(s < 0 for s in speed):
            raise self._error(f"joint {name!r} has a negative velocity limit", line)
        if any(s < _SLOWEST for s in speed):
            raise self._error(
                f"joint {name!r} has a velocity limit of {min(speed):g}; make it fixed to hold it still, or leave the "
                "limit out",
                line,
            )
        rates = [
            () if rate is None else self._rate(name, f"{what} limit", rate, blank.speeds, line)
            for what, rate in (("acceleration", acceleration), ("jerk", jerk))
        ]
        if effort is not None and blank.size != 1:
            raise self._error(
                f"joint {name!r} is {kind.value} and has the effort {effort!r}; only a joint of one axis may have one",
                line,
            )
        most = () if effort is None else self._rate(name, "largest effort", effort, 1, line)
        if not abs(pitch) <= LARGEST:
            raise self._error(f"joint {name!r} has the pitch {pitch}; it must be finite metres per radian", line)
        if mimic is not None and not isinstance(mimic, Mimic):
            raise self._error(
                f"joint {name!r} has the mimic {mimic!r}; give it a Mimic, as in Mimic(joint='wheel', multiplier=2.0)",
                line,
            )
        if mimic and blank.size != 1:
            raise self._error(
                f"joint {name!r} is {kind.value} and cannot mimic another; only one-axis joints can", line
            )
        if mimic and mimic.function is not None:
            if not isinstance(mimic.function, JointFunction):
                raise self._error(
                    f"joint {name!r} follows by {mimic.function!r}, which is no JointFunction; make one, as in "
                    "JointFunction.polynomial([0.0, 1.0, 0.5])",
                    line,
                )
            if (mimic.multiplier, mimic.offset) != (1.0, 0.0):
                raise self._error(
                    f"joint {name!r} follows by a function, and has a multiplier or an offset too; let the function "
                    "have them",
                    line,
                )
        if mimic and not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
            raise self._error(f"joint {name!r} mimics with a multiplier or offset that is not finite", line)
        if mimic and abs(mimic.offset) > LARGEST:
            raise self._error(f"joint {name!r} mimics with the offset {mimic.offset:g}; {BOUND}", line)
        if parent == child:
            raise self._error(f"joint {name!r} joins link {parent!r} to itself", line)
        if child == WORLD:
            raise self._error(f"joint {name!r} moves {WORLD!r}, which stands still; turn it round or rename that", line)
        self._check_place(f"joint {name!r}", origin, line)
        self._lines[name] = line
        self._joints[name] = Joint(
            name=name,
            kind=kind,
            parent=parent,
            child=child,
            origin=SE3.identity() if origin is None else origin,
            axis=unit,
            pitch=float(pitch),
            lower=lower,
            upper=upper,
            velocity=speed,
            acceleration=rates[0],
            jerk=rates[1],
            effort=most[0] if most else math.inf,
            ball=ball,
            mimic=mimic,
        )

    def frame(self, name: str, *, link: str, origin: SE3 | None = None, line: int | None = None) -> None:
        """Add a frame fixed to a link: a site, a tool centre point."""
        self._name("frame", name, line)
        if name in self._frames:
            raise self._error(f"frame {name!r} is declared twice; give one of them another name", line)
        self._check_place(f"frame {name!r}", origin, line)
        self._lines["frame " + name] = line
        self._frames[name] = Frame(name=name, link=link, origin=SE3.identity() if origin is None else origin)

    def mass(
        self,
        link: str,
        mass: float,
        *,
        centre: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        line: int | None = None,
    ) -> None:
        """Give a link a mass [kg], whose centre (3,) [m] is in the link's frame.

        `inertia` (3, 3) [kg m^2] is about that centre, along the axes of the link; without, the mass is a point.
        Raises ModelError for a mass that is negative or not finite, a centre that is not three finite numbers, an
        inertia that is not symmetric, and a link that has a mass already.
        """
        self._name("link with a mass", link, line)
        if link == WORLD:
            raise self._error(f"{WORLD!r} has no mass; give it to a link that is fixed there", line)
        if link in self._masses:
            raise self._error(f"link {link!r} is given a mass twice; keep one of them", line)
        amount, place = reals(mass), reals(centre)
        if amount.shape != () or not 0.0 <= amount <= LARGEST:
            raise self._error(f"link {link!r} has the mass {mass!r}; it must be a finite number of kg, 0 or more", line)
        if place.shape != (3,) or not (np.abs(place) <= LARGEST).all():
            raise self._error(f"link {link!r} has its mass at {centre!r}; it must be three finite numbers", line)
        if inertia is not None:
            matrix = reals(inertia)
            if matrix.shape != (3, 3) or not (np.abs(matrix) <= LARGEST).all() or not np.allclose(matrix, matrix.T):
                said = "it must be a symmetric matrix of (3, 3) finite numbers"
                raise self._error(f"link {link!r} has an inertia that is none; {said}", line)
            self._inertias[link] = matrix
        self._lines["mass " + link] = line
        self._masses[link] = float(amount), place

    def shape(self, link: str, *shapes: "LinkShape", line: int | None = None) -> None:
        """Give a link shapes to collide with, in the link's frame; the world may have some too.

        Raises ModelError for what is no shape.
        """
        from poise.geometry.meshes import SHAPES, LinkShape

        self._name("link with a shape", link, line)
        for shape in shapes:
            if not isinstance(shape, LinkShape):
                raise self._error(f"link {link!r} is given {shape!r} as a shape; {SHAPES}", line)
        self._lines.setdefault("shape " + link, line)
        self._shapes.setdefault(link, []).extend(shapes)

    def visual(self, link: str, *visuals: "Visual", line: int | None = None) -> None:
        """Say what is drawn of a link, in the link's frame; the world may have some too.

        Raises ModelError for what is no visual.
        """
        from poise.geometry.visuals import VISUALS, Visual

        self._name("link with a visual", link, line)
        for visual in visuals:
            if not isinstance(visual, Visual):
                raise self._error(f"link {link!r} is given {visual!r} as a visual; {VISUALS}", line)
        self._lines.setdefault("visual " + link, line)
        self._visuals.setdefault(link, []).extend(visuals)

    def disable(self, first: str, second: str, *, line: int | None = None) -> None:
        """Say that two links need never be looked at for a collision between them.

        Where any pair is named, those that are named are all that is left out, as in an SRDF: name each two links that
        a joint joins too.  Without, random configurations say which pairs need no look.  Raises ModelError for one and
        the same link.
        """
        for link in (first, second):
            self._name("link that cannot collide", link, line)
        if first == second:
            raise self._error(f"collisions of link {first!r} with itself are never looked at; name two links", line)
        self._disabled.setdefault(frozenset((first, second)), line)

    def end_effector(self, link: str, fingers: Sequence[str] = ()) -> None:
        """Say that an arm or a leg ends at a link, and which joints beyond it are fingers; none are named: all.

        `build` raises ModelError for a link that does not exist.
        """
        self._end_effectors[link] = tuple(fingers)

    def loop(self, first: str, second: str, kind: LoopKind = "point", *, line: int | None = None) -> None:
        """Close a chain: two frames stay together as the joint of this `kind` holds them; see `poise.Loop`.

        A tree holds each link once, so a loop is cut at one of its joints, and what the joint held together is said
        here: `frame` both sides of it, then close them.  In a plane a hinge needs no more than a "point".
        Raises ModelError for an unknown kind and for one frame twice.
        """
        for frame in (first, second):
            self._name("frame of a loop", frame, line)
        if kind not in LOOP_KINDS:
            known = ", ".join(LOOP_KINDS)
            raise self._error(
                f"the loop of {first!r} and {second!r} has the kind {kind!r}; the kinds are {known}", line
            )
        if first == second:
            raise self._error(f"a loop is of two frames, and {first!r} is named twice; name the other one", line)
        self._loops.setdefault(Loop(first, second, kind), line)

    def group(self, name: str, joints: Sequence[str]) -> None:
        """Name a set of joints."""
        self._groups[name] = tuple(joints)

    def posture(self, name: str, positions: Mapping[str, Sequence[float]]) -> None:
        """Name a configuration: numbers by joint; joints left out stand at neutral within their limits."""
        self._postures[name] = dict(positions)

    def give_way(self, remark: Callable[[str, int | None], None]) -> None:
        """Take limits off joints that mimic where these would hold still the joint that they follow, as files of hands
        often have it; `remark` is told of them, and of those that narrow or slow it, each with a line.

        For readers of files, when all joints are there.  Raises ModelError as `build` does of joints that mimic.
        """
        check_mimics(self._joints, self._refusal)
        found = followers(self._joints)
        self._joints |= {name: freed(self._joints[name]) for name in found.giving_way}
        for text, name in found.remarks:
            remark(text, self._lines[name])

    def build(self, *, base: Base = "fixed", home: str | None = None, declared: bool = False) -> Model:
        """The model.  `base` is how the roots are joined to the world, `home` the posture to start from.

        Raises ModelError for links with two parents, cycles, unknown parents (when `declared`), a mimic of a missing
        joint or in a circle, frames, end effectors, masses, shapes or visuals on missing links, loops of missing
        frames or of frames that no joint moves against each other.
        """
        links = self._check_links(declared)
        known = {*links, WORLD}
        joints = parents_first(self._joints, links, self._refusal)
        check_mimics(self._joints, self._refusal)
        carried = {joint.child for joint in joints}
        roots = [link for link in links if link not in carried]
        grounded = [] if base == "fixed" else [self._grounding(base, root, len(roots)) for root in roots]
        joints = [*grounded, *joints]
        order = [*roots, *(joint.child for joint in joints if joint.child in carried)]
        for frame in self._frames.values():
            if frame.link not in known:
                raise self._error(
                    f"frame {frame.name!r} is on the link {frame.link!r}, which does not exist",
                    self._lines["frame " + frame.name],
                )
            if frame.name in known:
                raise self._error(
                    f"frame {frame.name!r} has the name of a link; give it another", self._lines["frame " + frame.name]
                )
        for link in self._end_effectors:
            if link not in known:
                raise self._error(f"an arm or a leg ends at the link {link!r}, which does not exist")
        for what, given in (("mass", self._masses), ("shape", self._shapes), ("visual", self._visuals)):
            for link in given:
                if link not in known:
                    line = self._lines[f"{what} {link}"]
                    raise self._error(f"a {what} is given to the link {link!r}, which does not exist", line)
        for pair, line in self._disabled.items():
            for link in sorted(pair - known):
                raise self._error(f"collisions are disabled for the link {link!r}, which does not exist", line)
        whole = functools.partial(
            Model,
            self.name,
            joints,
            order,
            self._frames.values(),
            groups=self._groups,
            end_effectors=self._end_effectors,
            masses=self._masses,
            inertias=self._inertias,
            shapes=self._shapes,
            visuals=self._visuals,
            disabled=self._disabled,
            loops=self._loops,
        )
        try:
            model = whole()
        except ModelError as error:  # the model itself knows no file
            raise self._error(error.message) from None
        self._check_positions(model)
        self._check_loops(model)
        if not self._postures:
            return model
        postures = {name: self._configuration(model, name) for name in self._postures}
        return whole(home=postures.get(home) if home else None, postures=postures)

    # Checks ------------------------------------------------------------------------------------------------------

    def _error(self, message: str, line: int | None = None) -> ModelError:
        return ModelError(message, file=self._file, line=line)

    def _refusal(self, message: str, joint: str) -> ModelError:
        return self._error(message, self._lines[joint])

    def _name(self, noun: str, name: str, line: int | None) -> None:
        if not name:
            raise self._error(f"a {noun} has no name", line)

    def _check_place(self, what: str, origin: SE3 | None, line: int | None) -> None:
        if origin is not None and not isinstance(origin, SE3):
            raise InvalidType(
                "not-a-pose", f"the origin of {what} is {origin!r}; it must be an SE3, as in SE3.from_parts([x, y, z])"
            )
        if origin is not None and not (np.abs(origin.xyz) <= LARGEST).all():
            raise self._error(f"{what} stands at {origin.xyz.tolist()}; {BOUND}", line)

    def _axis(self, name: str, axis: ArrayLike, line: int | None) -> tuple[float, float, float]:
        vector = reals(axis)
        if vector.shape != (3,) or not (np.abs(vector) <= LARGEST).all():
            raise self._error(f"joint {name!r} has the axis {axis!r}; it must be three finite numbers", line)
        length = float(np.linalg.norm(vector))
        if length < 1e-9:
            raise self._error(f"joint {name!r} has a zero axis; it must have a direction", line)
        x, y, z = vector / length
        return float(x), float(y), float(z)

    def _numbers(self, name: str, what: str, value: ArrayLike, size: int, line: int | None) -> tuple[float, ...]:
        numbers = reals(value)
        if numbers.ndim == 0:
            numbers = np.full(size, float(numbers))
        if numbers.shape != (size,):
            raise self._error(f"joint {name!r} takes {size} numbers as its {what}, got {numbers.size}", line)
        if np.isnan(numbers).any():
            raise self._error(f"joint {name!r} has a {what} that is not a number", line)
        return tuple(map(float, numbers))

    def _rate(self, name: str, what: str, value: ArrayLike, size: int, line: int | None) -> tuple[float, ...]:
        numbers = self._numbers(name, what, value, size, line)
        if not all(number > 0.0 for number in numbers):
            raise self._error(f"joint {name!r} has the {what} {value!r}; it must be above 0, or left out", line)
        return numbers

    def _ball(
        self,
        name: str,
        axis: tuple[float, float, float],
        swing: ArrayLike | None,
        twist: ArrayLike | None,
        across: ArrayLike | None,
        line: int | None,
    ) -> SwingTwist | None:
        if swing is None and twist is None and across is None:
            return None
        try:
            return SwingTwist(axis=axis, swing=swing, twist=twist, across=across)
        except ValueError as error:
            raise self._error(f"joint {name!r}: {error}", line) from None

    def _check_links(self, declared: bool) -> list[str]:
        links = {name: None for name in self._links if name != WORLD}
        for joint in self._joints.values():
            for link in (joint.parent, joint.child):
                if link == WORLD or link in links:
                    continue
                if declared:
                    near = nearest_names(link, links)
                    hint = f"; did you mean {near[0]!r}?" if near else ""
                    raise self._error(
                        f"joint {joint.name!r} needs the link {link!r}, which is not declared{hint}",
                        self._lines[joint.name],
                    )
                links[link] = None
        return list(links)

    def _check_positions(self, model: Model) -> None:
        """Every name of a coordinate is one joint's alone, and what follows a joint has digits where that may stand."""
        names = {joint.name for joint in model.joints if joint.size}
        for joint in model.joints:
            for coordinate in joint.coordinates if joint.size > 1 else ():
                if coordinate in names:
                    raise self._error(
                        f"joint {coordinate!r} has the name of a coordinate of joint {joint.name!r}; give it another",
                        self._lines.get(coordinate),
                    )
            if joint.mimic:
                leader = model.follows(joint)[0]
                at = model.index(leader)
                for end in (*model.lower[at], *model.upper[at]):
                    if model.farthest[at][0] < abs(end) < math.inf:
                        raise self._error(
                            f"joint {joint.name!r} follows {leader!r} too far, which may stand at {end:g}; {BOUND}: "
                            "narrow its limits or lower the multiplier",
                            self._lines[joint.name],
                        )

    def _check_loops(self, model: Model) -> None:
        for loop, line in self._loops.items():
            for frame in (loop.first, loop.second):
                if frame not in model.frames:
                    raise self._error(f"{loop.label} is of the frame {frame!r}, which does not exist", line)
            first, second = ({j.name for j in model.root_path(model.frame(f).link)} for f in (loop.first, loop.second))
            if not any(model.joint(name).size for name in first ^ second):
                raise self._error(
                    f"{loop.label} closes nothing: no joint moves one of its frames against the other", line
                )

    def _grounding(self, base: Base, root: str, count: int) -> Joint:
        from poise.model.changes import unused

        if base not in ("planar", "floating"):
            raise InvalidValue("unknown-word", f"base must be 'fixed', 'planar' or 'floating', got {base!r}")
        name = unused("root" if count == 1 else f"root_{root}", self._joints)
        blank = Joint(name=name, kind=JointKind(base), parent=WORLD, child=root)
        free = [math.inf] * blank.size
        return Joint(
            name=name,
            kind=blank.kind,
            parent=WORLD,
            child=root,
            lower=tuple(-x for x in free),
            upper=tuple(free),
            velocity=tuple([math.inf] * blank.speeds),
        )

    def _configuration(self, model: Model, name: str) -> npt.NDArray[np.float64]:
        q = model.clip(model.neutral)
        for joint, value in self._postures[name].items():
            at = model.index(joint)
            numbers = np.atleast_1d(reals(value))
            if numbers.shape != (at.stop - at.start,) or not (np.abs(numbers) <= model.farthest[at]).all():
                raise self._error(f"posture {name!r} gives joint {joint!r} the position {value}, which it cannot take")
            q[at] = numbers
        try:
            unit = model.normalize(q)
        except ValueError as error:
            raise self._error(f"posture {name!r}: {error}") from None
        return np.where(np.abs(unit - q) < 1e-15, q, unit)  # number for number, where there is nothing to mend
