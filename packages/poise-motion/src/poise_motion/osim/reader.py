"""The reader of `.osim`: bodies, joints, couplings of coordinates and markers, as a `Model`.

A joint becomes as many joints in a row as it has axes.  An axis whose function is a coordinate itself has that
coordinate's name; others follow it by their function.  A coordinate that no axis equals is a joint that moves nothing.
"""

import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np

from poise import SE3, JointFunction, Mimic, Model, ModelBuilder, ModelError, ModelWarning
from poise.extending import WORLD, Array, Element, nearest_names
from poise_motion.osim.document import detached, document, is_true, listed, named, no_such, number, numbers, word, words
from poise_motion.osim.functions import IDENTITY, function_in
from poise_motion.osim.joints import Axis, Coordinate, OsimJoint, joint_of, moved, place_of

_BODIES: Final = 40000
"""The first version in which joints stand beside the bodies, and not in them."""
_GROUND: Final = "ground"
_MOST: Final = 2_000
"""Joints."""
_PASSED_OVER: Final = {
    "ForceSet": "muscles and other forces",
    "ContactGeometrySet": "contact geometries",
    "ControllerSet": "controllers",
    "ProbeSet": "probes",
}
_SENSOR: Final = "_imu"
"""How the names of sensors of orientation end."""
_COUPLER: Final = "CoordinateCouplerConstraint"


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """A frame of the file: on which body, and where on it."""

    body: str
    pose: SE3


def read(path: Path) -> Model:
    """The model of an `.osim`, versions 1 to 4, with its own axes: y is up; coordinates start at their defaults.

    | in the file | in the model |
    |---|---|
    | body | link; its mass, the centre of that and the inertia about it |
    | joint, by its axes | joints in a row, see the top of this file |
    | coordinate | a joint of its name; its range where it is clamped; a locked one stands at its default |
    | CoordinateCouplerConstraint | a joint that mimics another |
    | marker, and frame on a body whose name ends in `_imu` | frame |

    Warns once (ModelWarning) of what is passed over: muscles, contacts, other constraints.  Raises ModelError, with
    file and line, for what is no such file.
    """
    model, version = document(path, "Model")
    return _Reader(model, version, str(path)).build()


class _Reader:
    def __init__(self, model: Element, version: int, file: str) -> None:
        self.model, self.file, self.newer = model, file, version >= _BODIES
        self.builder = ModelBuilder(model.attributes.get("name", "") or Path(file).stem, file=file)
        self.bodies = {named(body): body for body in listed(model.child("BodySet")) if body.tag == "Body"}
        self.frames: dict[str, _Place] = {}
        """Offset frames by their names behind those of their owners."""
        self.joints: list[OsimJoint] = []
        self.remarks: list[str] = []
        self.constants: dict[str, float] = {}
        """What locked coordinates stand at."""
        self.couplings: dict[str, tuple[str, JointFunction]] = {}
        """By a coordinate that follows another: that one, and how."""

    def build(self) -> Model:
        self.add_frames()
        self.read_joints()
        self.read_couplings()
        self.add_tree()
        self.add_masses()
        self.add_markers()
        self.add_sensors()
        home = {
            coordinate.name: [self.within(coordinate)]
            for joint in self.joints
            for coordinate in joint.coordinates
            if coordinate.name not in self.constants and coordinate.name not in self.couplings
        }
        self.builder.posture("default", home)
        self.note_others()
        built = self.builder.build(home="default")
        if self.remarks:
            remarks = "\n".join(f"  {remark}" for remark in self.remarks)
            warnings.warn(f"{self.file}:\n{remarks}", ModelWarning, stacklevel=4)
        return built

    # Frames ------------------------------------------------------------------------------------------------------

    def add_frames(self) -> None:
        """Frames fixed to bodies, of bodies and of joints; one may stand on another that comes later."""
        waiting: list[tuple[str, Element]] = [("", each) for each in listed(self.model.child("ComponentSet"))]
        for carrier in (*self.bodies.values(), *listed(self.model.child("JointSet"))):
            inner = [*listed(carrier.child("frames")), *listed(carrier.child("components"))]
            waiting += [(named(carrier), each) for each in inner]
        waiting = [(owner, each) for owner, each in waiting if each.tag == "PhysicalOffsetFrame"]
        while waiting:
            rest: list[tuple[str, Element]] = []
            for owner, each in waiting:
                on = self.find(word(each, "socket_parent", "socket_parent_frame"), owner)
                if on is None:
                    rest.append((owner, each))
                else:
                    pose = on.pose @ place_of(each, "translation", "orientation")
                    self.frames[f"{owner}/{named(each)}"] = _Place(on.body, pose)
            if len(rest) == len(waiting):
                raise no_such(rest[0][1], "frame", word(rest[0][1], "socket_parent", "socket_parent_frame"))
            waiting = rest

    def find(self, path: str, owner: str = "") -> _Place | None:
        """The frame at a path, as an element of this owner says it; None if there is none."""
        if path == "..":
            path = owner
        *before, last = path.strip("/").split("/")
        if len(before) < 2 and f"{owner}/{last}" in self.frames:
            return self.frames[f"{owner}/{last}"]
        if before and f"{before[-1]}/{last}" in self.frames:
            return self.frames[f"{before[-1]}/{last}"]
        if last == _GROUND or last in self.bodies:
            return _Place(last, SE3.identity())
        return next((place for name, place in self.frames.items() if name.endswith(f"/{last}")), None)

    def place(self, element: Element, what: str, path: str, owner: str = "") -> _Place:
        """The same; raises ModelError if there is none."""
        found = self.find(path, owner)
        if found is None:
            raise no_such(element, what, path)
        return found

    # Joints ------------------------------------------------------------------------------------------------------

    def read_joints(self) -> None:
        if self.newer:
            for each in listed(self.model.child("JointSet")):
                parent = word(each, "socket_parent_frame", "socket_parent_frame_connectee_name")
                child = word(each, "socket_child_frame", "socket_child_frame_connectee_name")
                self.joints.append(joint_of(each, parent, child))
        else:
            for name, body in self.bodies.items():
                for each in listed(body.child("Joint")):
                    parent, owner = word(each, "parent_body"), each.attributes.get("name", "")
                    on = self.place(each, "body", parent)
                    pose = place_of(each, "location_in_parent", "orientation_in_parent")
                    self.frames[f"{owner}/parent"] = _Place(on.body, pose)
                    self.frames[f"{owner}/child"] = _Place(name, place_of(each, "location", "orientation"))
                    self.joints.append(joint_of(each, "parent", "child"))
            self.bodies.pop(_GROUND, None)
        if len(self.joints) > _MOST:
            raise self.model.error(f"there are {len(self.joints):,} joints, and no body has more than {_MOST:,}")
        seen: dict[str, Coordinate] = {}
        for joint in self.joints:
            for coordinate in joint.coordinates:
                if coordinate.name in seen:
                    raise ModelError(
                        f"coordinate {coordinate.name!r} is there twice; give one another name",
                        file=self.file,
                        line=coordinate.line,
                    )
                seen[coordinate.name] = coordinate
                if coordinate.locked:
                    self.constants[coordinate.name] = coordinate.default

    def read_couplings(self) -> None:
        others: Counter[str] = Counter()
        names = [coordinate.name for joint in self.joints for coordinate in joint.coordinates]
        for each in listed(self.model.child("ConstraintSet")):
            if not is_true(each, "isEnforced", default=True) or is_true(each, "isDisabled"):
                continue
            if each.tag != _COUPLER:
                others[each.tag] += 1
                continue
            leaders = words(each, "independent_coordinate_names")
            driven, function = word(each, "dependent_coordinate_name"), function_in(each)
            for name in (*leaders, driven):
                if name not in names:
                    near = nearest_names(name, names)
                    mend = f"; did you mean {near[0]!r}?" if near else ""
                    raise each.error(f"{each.label} names the coordinate {name!r}, which is not there{mend}")
            if len(leaders) != 1 or function is None or driven in self.couplings:
                others[f"{_COUPLER} of {len(leaders)} coordinates"] += 1
                continue
            scale = JointFunction.polynomial([0.0, number(each, "scale_factor", 1.0)])
            rule, (leader,) = scale.after(function), leaders
            if driven in self.constants:
                continue
            if leader in self.constants:
                self.constants[driven] = float(rule(self.constants[leader]))
            else:
                self.couplings[driven] = leader, rule
        if others:
            which = ", ".join(f"{count} {kind}" for kind, count in others.items())
            self.remarks.append(f"constraints that are not held here: {which}")

    def within(self, coordinate: Coordinate) -> float:
        """Its default, within its range where it is clamped."""
        if coordinate.limits is None:
            return coordinate.default
        low, high = coordinate.limits
        return min(max(coordinate.default, low), high)

    # The tree ----------------------------------------------------------------------------------------------------

    def add_tree(self) -> None:
        """Joints from the ground on, each from the side that is reached first."""
        reached, waiting = {_GROUND}, list(self.joints)
        while waiting:
            rest: list[OsimJoint] = []
            for joint in waiting:
                ends = [self.place(joint.element, "frame", path, joint.name) for path in (joint.parent, joint.child)]
                within = [end.body in reached for end in ends]
                if all(within):
                    self.remarks.append(f"{joint.element.label} closes a loop, which is not held here")
                elif within[0]:
                    self.add_joint(joint, *ends)
                elif within[1]:
                    self.add_joint(joint.turned_round(), ends[1], ends[0])
                else:
                    rest.append(joint)
                reached |= {end.body for end in ends} if any(within) else set()
            if len(rest) == len(waiting):
                raise rest[0].element.error(f"{rest[0].element.label} hangs on nothing that hangs on the ground")
            waiting = rest
        for name, body in self.bodies.items():
            if name not in reached:  # OpenSim lets what has no joint float; no coordinate says how
                raise body.error(f"{body.label} hangs on no joint; give it one, as a FreeJoint to the ground")

    def add_joint(self, joint: OsimJoint, parent: _Place, child: _Place) -> None:
        """One joint: its axes in a row, then the body; coordinates that no axis is, beside them."""
        link = WORLD if parent.body == _GROUND else parent.body
        origin, own = parent.pose, self.own_axes(joint)
        by_name = {coordinate.name: coordinate for coordinate in joint.coordinates}
        for coordinate in joint.coordinates:
            if coordinate.name not in own.values() and coordinate.name not in self.constants:
                turns = any(axis.turns for axis in joint.axes if axis.coordinate == coordinate.name)
                beside = f"{joint.name}/{coordinate.name}"
                kind = "revolute" if turns else "prismatic"
                self.add_axis(coordinate.name, kind, link, beside, SE3.identity(), (0.0, 0.0, 1.0), coordinate)
        moving = [i for i, axis in enumerate(joint.axes) if not self.is_still(axis)]
        end = moving[-1] + 1 if moving else 0
        behind = SE3.identity()
        for axis in joint.axes[end:]:
            behind = behind @ self.still(axis)
        behind = behind @ child.pose.inverse()
        for i, axis in enumerate(joint.axes[:end]):
            if i not in moving:
                origin = origin @ self.still(axis)
                continue
            next_link = child.body if i == end - 1 and _is_level(behind) else f"{joint.name}/{axis.name}"
            kind, name = "revolute" if axis.turns else "prismatic", own.get(id(axis))
            if name is not None:
                sign = 1.0 if axis.function.linear is None else axis.function.linear[0]
                x, y, z = axis.direction
                self.add_axis(name, kind, link, next_link, origin, (sign * x, sign * y, sign * z), by_name[name])
            else:
                mimic = _mimic(axis.coordinate, axis.function)
                self.builder.joint(
                    f"{joint.name}/{axis.name}", kind, parent=link, child=next_link, origin=origin,
                    axis=axis.direction, mimic=mimic, line=joint.element.line,
                )  # fmt: skip
            link, origin = next_link, SE3.identity()
        if link != child.body:
            line = joint.element.line
            self.builder.joint(joint.name, "fixed", parent=link, child=child.body, origin=origin @ behind, line=line)

    def add_axis(
        self, name: str, kind: str, parent: str, child: str, origin: SE3, axis: tuple[float, float, float],
        coordinate: Coordinate,
    ) -> None:  # fmt: skip
        """The joint that is a coordinate, or mimics another where that is coupled to one."""
        leader, rule = self.couplings.get(name, ("", IDENTITY))
        self.builder.joint(
            name, kind, parent=parent, child=child, origin=origin, axis=axis, line=coordinate.line,
            limits=None if leader else coordinate.limits, mimic=_mimic(leader, rule) if leader else None,
        )  # fmt: skip

    def own_axes(self, joint: OsimJoint) -> dict[int, str]:
        """By the identity of an axis, the coordinate that it is, or is the negative of; each coordinate once."""
        found: dict[int, str] = {}
        for linear in ((1.0, 0.0), (-1.0, 0.0)):
            for axis in joint.axes:
                name = axis.coordinate
                if axis.function.linear == linear and name not in self.constants and name not in found.values():
                    found[id(axis)] = name
        return found

    def is_still(self, axis: Axis) -> bool:
        return not axis.coordinate or axis.coordinate in self.constants

    def still(self, axis: Axis) -> SE3:
        """Where such an axis leads."""
        return moved(axis, float(axis.function(self.constants.get(axis.coordinate, 0.0))))

    # What hangs on bodies ----------------------------------------------------------------------------------------

    def add_masses(self) -> None:
        light: list[str] = []
        for name, body in self.bodies.items():
            mass, inertia = number(body, "mass", 0.0), self.inertia(body)
            if mass > 0.0:
                centre = numbers(body, "mass_center", 3, (0.0, 0.0, 0.0))
                self.builder.mass(name, mass, centre=centre, inertia=inertia, line=body.line)
            elif inertia.any():
                light.append(name)
        if light:
            self.remarks.append(f"bodies without a mass, whose inertia does not count: {', '.join(light)}")

    def inertia(self, body: Element) -> Array:
        """(3, 3) of a body about its centre of mass, along its axes: six numbers, each an element before version 4."""
        order = ("xx", "yy", "zz", "xy", "xz", "yz")
        older = tuple(number(body, f"inertia_{axes}", 0.0) for axes in order)
        xx, yy, zz, xy, xz, yz = numbers(body, "inertia", 6, older)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def add_markers(self) -> None:
        for each in listed(detached(self.model.child("MarkerSet"), Path(self.file).parent)):
            if each.tag != "Marker":
                continue
            name, path = named(each), word(each, "socket_parent_frame", "socket_parent_frame_connectee_name", "body")
            on = self.place(each, "body", path)
            origin = on.pose @ SE3.from_parts(numbers(each, "location", 3, (0.0, 0.0, 0.0)))
            if name in self.bodies:
                self.remarks.append(f"{each.label} has the name of a body: its frame is {name + '/marker'!r}")
                name += "/marker"
            self.builder.frame(name, link=WORLD if on.body == _GROUND else on.body, origin=origin, line=each.line)

    def add_sensors(self) -> None:
        """Frames on bodies that are called as sensors are, which IMUPlacer writes."""
        for path, place in self.frames.items():
            name = path.rpartition("/")[2]
            if name.endswith(_SENSOR) and place.body != _GROUND:
                self.builder.frame(name, link=place.body, origin=place.pose)

    def note_others(self) -> None:
        """Remark on all that moves nothing and is not read."""
        counts = {
            what: sum(1 for _ in listed(self.model.child(tag)))
            for tag, what in _PASSED_OVER.items()
        }  # fmt: skip
        said = [f"{count} {what}" for what, count in counts.items() if count]
        if said:
            self.remarks.append(f"passed over: {', '.join(said)}")


def _mimic(leader: str, function: JointFunction) -> Mimic:
    if function.linear is None:
        return Mimic(joint=leader, function=function)
    multiplier, offset = function.linear
    return Mimic(joint=leader, multiplier=multiplier, offset=offset)


def _is_level(pose: SE3) -> bool:
    return bool((np.abs(pose.xyz) <= 0.0).all() and (np.abs(pose.wxyz[1:]) <= 0.0).all())
