"""The `<joint>` elements of a URDF, and `<origin>`, of whatever it is."""

import math
from typing import Final, final

import numpy as np

from poise.common.errors import JointNotFound
from poise.io.elements import Element
from poise.io.notes import Notes
from poise.model.builder import ModelBuilder
from poise.model.joint import JointKind, Mimic, like_degrees
from poise.quaternions import rpy_quaternion, unit_quaternion
from poise.spatial import SE3, pose_of

_ALIASES = {"ball": "spherical"}
_ONE_AXIS = {JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.HELICAL}
_LIMITED = _ONE_AXIS - {JointKind.CONTINUOUS}
_NONE = (1e16, 3.402823e38, 1.797693e308)
"""Limits that exporters write for none: that of SDF, and the largest numbers of four and of eight bytes."""
_ENDS = ("lower", "upper")
_ALL_ROUND = 4.0 * math.pi - 1e-3
"""Limits that leave a continuous joint two turns keep it from nowhere [rad]; files round them."""
_ZEROS = (0.0, 0.0, 0.0)
_RATES = {"acceleration": "acceleration", "deceleration": "acceleration", "jerk": "jerk"}
"""Attributes of `<limit>` and what they bound."""
_NEWEST: Final = (1, 2)
_QUATERNIONS, _LIMITS_OF_RATES = (1, 1), (1, 2)
"""Versions of URDF: the newest, and those that brought `quat_xyzw` and limits of accelerations."""


@final
class UrdfJoints:
    """Reads the joints of one document; `root` says which version of URDF it is written in."""

    def __init__(self, root: Element, builder: ModelBuilder, notes: Notes, *, looped: bool) -> None:
        """`looped`: whether loops are stated beside the document, as whose joints a `<limit>` without ends has none."""
        self.builder, self.notes, self.looped = builder, notes, looped
        self.elements = root.all("joint")
        self.names = {joint.text("name") for joint in self.elements}
        self.version = _version(root, notes)

    def add(self) -> None:
        """Give the builder all joints.  Raises ModelError, with the line, for one that is none."""
        for element in self.elements:
            self._add(element)
        self.builder.give_way(lambda remark, line: self.notes.add(remark, line or 1))

    def pose(self, origin: Element) -> SE3:
        """The pose of an `<origin>`; a rotation of any length counts as a unit quaternion."""
        if "quat_xyzw" in origin.attributes and self._is_of(_QUATERNIONS, "quat_xyzw", origin):
            if "rpy" in origin.attributes:
                raise origin.error(f"{origin.label} states its rotation twice, as rpy and as quat_xyzw; keep one")
            xyzw = origin.numbers("quat_xyzw", 4)
            try:
                wxyz = np.roll(unit_quaternion("quat_xyzw", xyzw), 1)
            except ValueError as error:
                raise origin.error(f"{origin.label}: {error}") from None
        else:
            wxyz = rpy_quaternion(np.array(origin.numbers("rpy", 3, _ZEROS)))
        return pose_of(np.concatenate([place(origin), wxyz]))

    def _is_of(self, version: tuple[int, int], what: str, element: Element) -> bool:
        """Whether the document is of the version that brought `what`; if not, other readers pass it over too."""
        if self.version >= version:
            return True
        written = ".".join(map(str, version))
        remark = f'{what} is of URDF {written} and passed over; if it shall count, write <robot version="{written}">'
        self.notes.add(remark, element.line, element.label)
        return False

    def _add(self, element: Element) -> None:
        name, written = element.text("name"), element.text("type")
        kind = _ALIASES.get(written, written)
        origin, limit = element.child("origin"), element.child("limit")
        limits = self._limits(element, limit) if kind in _LIMITED else None
        if limits is not None and kind == JointKind.REVOLUTE and like_degrees(JointKind.REVOLUTE, *limits):
            remark = (
                "limits of more than three turns; a URDF is in radians: if these are degrees, multiply them by pi/180"
            )
            self.notes.add(remark, element.line, f"{element.label} from {limits[0]:g} to {limits[1]:g}")
        if limit is not None and kind not in _LIMITED | {JointKind.FIXED}:
            self._note_idle(limit, kind)
        moves = limit is not None and kind in _ONE_AXIS
        rates = self._rates(limit) if limit is not None and moves else {}
        self.builder.joint(
            name,
            kind,
            parent=element.required("parent").text("link"),
            child=element.required("child").text("link"),
            origin=None if origin is None else self.pose(origin),
            axis=_axis(element, kind),
            limits=limits,
            velocity=self._velocity(limit) if limit is not None and moves else None,
            acceleration=rates.get("acceleration"),
            jerk=rates.get("jerk"),
            effort=self._effort(limit) if limit is not None and moves else None,
            pitch=element.number("pitch") if kind == JointKind.HELICAL else 0.0,
            mimic=None if kind == JointKind.FIXED else self._mimic(element),
            line=element.line,
        )

    def _limits(self, element: Element, limit: Element | None) -> tuple[float, float]:
        if limit is None:
            self.notes.add("a joint without <limit> is taken as unlimited", element.line, element.label)
            return -math.inf, math.inf
        missing = [end for end in _ENDS if end not in limit.attributes]
        if len(missing) == 2:
            if element.child("mimic") is not None or self.looped:
                return -math.inf, math.inf
            self.notes.add("a <limit> without lower and upper holds its joint at 0", limit.line, element.label)
        elif missing:
            self.notes.add(f"a <limit> without {missing[0]} has 0 there", limit.line, element.label)
        low, high = (limit.number(end, 0.0, infinite=True) for end in _ENDS)
        return self._unless_none(low, limit), self._unless_none(high, limit)

    def _unless_none(self, end: float, limit: Element) -> float:
        """A limit, which is infinite where it is written for none."""
        if math.isfinite(end) and _is_none(end):
            self.notes.add(f"a limit of {end:g} is taken as none", limit.line, limit.owner)
            return math.copysign(math.inf, end)
        return end

    def _note_idle(self, limit: Element, kind: str) -> None:
        """Remark on limits that hold nothing; exporters write 0 and 0 where there are none."""
        ends = [limit.number(end, 0.0, infinite=True) for end in _ENDS]
        all_round = kind == JointKind.CONTINUOUS and ends[1] - ends[0] > _ALL_ROUND
        if any(ends) and not all(map(_is_none, ends)) and not all_round:
            mend = "; call it revolute if they shall" if kind == JointKind.CONTINUOUS else ""
            example = f"{limit.owner} from {ends[0]:g} to {ends[1]:g}"
            self.notes.add(f"limits of a {kind} joint do not hold{mend}", limit.line, example)

    def _velocity(self, limit: Element) -> float:
        velocity = limit.number("velocity", math.inf, infinite=True)
        if velocity in (0.0, -1.0):  # of exporters, and of SDF
            self.notes.add(f"a velocity limit of {velocity:g} is taken as none", limit.line, limit.owner)
            return math.inf
        if velocity < 0.0:
            raise limit.error(
                f"{limit.label} has a negative velocity limit, {velocity:g}: write it without the sign, or leave it out"
            )
        return velocity

    def _effort(self, limit: Element) -> float | None:
        """The largest torque or force; None where it is not above 0, which exporters write for none."""
        effort = limit.number("effort", 0.0, infinite=True)
        return effort if effort > 0.0 else None

    def _rates(self, limit: Element) -> dict[str, float]:
        """The largest acceleration and jerk; the lower one of acceleration and deceleration holds for both."""
        found: dict[str, float] = {}
        for attribute, rate in _RATES.items():
            if attribute not in limit.attributes or not self._is_of(_LIMITS_OF_RATES, attribute, limit):
                continue
            most = limit.number(attribute, infinite=True)
            if most < 0.0:
                raise limit.error(f"{limit.label} has a negative {attribute}, {most:g}: write it without the sign")
            if most == 0.0:
                self.notes.add(f"a limit of {attribute} of 0 is taken as none", limit.line, limit.owner)
                continue
            found[rate] = min(most, found.get(rate, math.inf))
        return found

    def _mimic(self, element: Element) -> Mimic | None:
        mimic = element.child("mimic")
        if mimic is None:
            return None
        joint, multiplier, offset = mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        if joint not in self.names:
            remark = "a <mimic> of a joint that is not there is passed over, and its own joint moves by itself"
            missing = JointNotFound(joint, sorted(self.names - {element.text("name")}), owner="the robot")
            self.notes.add(remark, mimic.line, f"{element.label}: {missing.message}")
            return None
        return Mimic(joint=joint, multiplier=multiplier, offset=offset)


def place(origin: Element) -> tuple[float, ...]:
    """(3,) where an `<origin>` is [m]."""
    return origin.numbers("xyz", 3, _ZEROS)


def _axis(element: Element, kind: str) -> tuple[float, ...]:
    axis = element.child("axis")
    if kind not in _ONE_AXIS | {JointKind.PLANAR} or axis is None:
        return (1.0, 0.0, 0.0)  # exporters write 0 0 0 on joints that need no axis
    return axis.numbers("xyz", 3)


def _is_none(end: float) -> bool:
    return math.isinf(end) or any(math.isclose(abs(end), none, rel_tol=1e-5) for none in _NONE)


def _version(root: Element, notes: Notes) -> tuple[int, int]:
    """The version of URDF; 1.0 unless it is stated, and the newest where what is stated is not known."""
    written = root.attributes.get("version", "1.0")
    known = {f"{_NEWEST[0]}.{minor}": (_NEWEST[0], minor) for minor in range(_NEWEST[1] + 1)}
    if written not in known:
        newest = ".".join(map(str, _NEWEST))
        notes.add(f"version {written!r} of URDF is not one of {', '.join(known)}: read as {newest}", root.line)
    return known.get(written, _NEWEST)
