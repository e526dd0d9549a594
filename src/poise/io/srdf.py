"""SRDF: groups of joints, named postures and pairs of links that cannot collide, for a URDF.

See https://wiki.ros.org/srdf.

Quaternions are written x y z w.  A posture may also place the base, by the name of a `<virtual_joint>` or as
"root_joint"; that is kept if the model's base is free to move so, and passed over if not.  One SRDF often serves
several robots, so pairs with a link that this one lacks are passed over without a word.
"""

from pathlib import Path

import numpy as np

from poise.common.errors import ModelError
from poise.io.elements import Element, parse, read_bytes
from poise.io.notes import Notes
from poise.io.vocabulary import Vocabulary, note_unknown, words
from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind
from poise.model.model import Model
from poise.model.tip import finger_links
from poise.model.units import in_degrees
from poise.quaternions import unit_quaternion

_HOMES = (
    "home",
    "ready",
    "default",
    "standing",
    "half_sitting",
    "straight_standing",
    "neutral",
    "homing_nominal",
    "standing_with_arm_home",
    "standing_with_arm_up",
    "arm_up",
    "hanging",
)
"""Names of postures to start from, the best first."""
_LINKS = "link1 link2 reason"
_WORDS: Vocabulary = {
    "robot": words(
        "name version",
        "group group_state end_effector virtual_joint passive_joint"
        " disable_collisions enable_collisions disable_default_collisions",
        "link_sphere_approximation joint_property"
        " gripper rotor_params specificities",  # of programs that plan, which real files have
    ),
    "group": words("name", None),
    "chain": words("base_link tip_link"),
    "link": words("name"),
    "joint": words("name value"),
    "group_state": words("name group", "joint"),
    "end_effector": words("name parent_link group parent_group"),
    "virtual_joint": words("name type parent_frame child_link"),
    "passive_joint": words("name"),
    "disable_collisions": words(_LINKS),
    "enable_collisions": words(_LINKS),
    "disable_default_collisions": words("link"),
}


def add_srdf(builder: ModelBuilder, model: Model, path: Path) -> str | None:
    """Give `builder` what an SRDF says of `model`, its robot; returns the name of the posture to start from.

    Raises ModelError, with file and line, for what is no SRDF; warns once (ModelWarning) of joints, links and groups
    that the robot does not have, and of attributes and tags that an SRDF has not.
    """
    try:
        return _add(builder, model, path)
    except ModelError as error:
        message = f"{error.message}; to load the robot without its SRDF, give srdf=None, or rename the file"
        raise ModelError(message, file=error.file, line=error.line) from None


def _add(builder: ModelBuilder, model: Model, path: Path) -> str | None:
    root = parse(read_bytes(path), str(path))
    if root.tag != "robot":
        raise root.error(f"the root of an SRDF is <robot>, not <{root.tag}>")
    notes = Notes(str(path))
    reader = _Reader(root, model, notes)
    for name in reader.groups:
        builder.group(name, reader.members(name))
    postures = reader.postures()
    for name, positions in postures.items():
        builder.posture(name, positions)
    for link, beyond in reader.end_effectors().items():
        builder.end_effector(link, beyond)
    for (first, second), line in reader.disabled().items():
        builder.disable(first, second, line=line)
    note_unknown(root, _WORDS, notes)
    notes.warn()
    return next((name for name in _HOMES if name in postures), None)


class _Reader:
    """One SRDF against its robot."""

    def __init__(self, root: Element, model: Model, notes: Notes) -> None:
        self.root, self.model, self.notes = root, model, notes
        self.groups = {group.text("name"): group for group in root.all("group")}
        self.joints = {joint.name: joint for joint in model.joints}
        self.virtual = {"root_joint", *(joint.text("name") for joint in root.all("virtual_joint"))}
        free = (JointKind.PLANAR, JointKind.FLOATING)
        self.base = next((j.name for j in model.joints if j.parent == WORLD and j.kind in free), "")
        """The joint under a robot whose base moves."""

    def joint(self, element: Element) -> Joint | None:
        """The joint that an element names, if it has a place in q."""
        name = element.text("name")
        if name in self.virtual and name not in self.joints:
            name = self.base
        elif name not in self.joints:
            self.notes.add("the robot has no such joint", element.line, f"{name!r} of {element.owner}")
        joint = self.joints.get(name)
        return joint if joint and joint.nq else None

    # Groups ------------------------------------------------------------------------------------------------------

    def members(self, group: str) -> tuple[str, ...]:
        """The joints of a group and of the groups in it that have a place in q, in its order."""
        members: set[str] = set()
        seen: set[str] = set()
        pending = [group]
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for element in self.groups[name].children:
                if element.tag != "group":
                    members |= self._direct(element)
                elif element.text("name") in self.groups:
                    pending.append(element.text("name"))
                else:
                    self.notes.add("a <group> names a group that is not there", element.line, element.text("name"))
        return tuple(name for name in self.model.joint_names if name in members)

    def _direct(self, element: Element) -> set[str]:
        match element.tag:
            case "joint":
                joint = self.joint(element)
                return {joint.name} if joint else set()
            case "link":
                path = self._path(element, "name")
                return {path[-1].name} if path else set()
            case "chain":
                # From the base down to the tip; if the base does not carry it, up to where the two ways meet first.
                ways = self._path(element, "base_link"), self._path(element, "tip_link")
                base, tip = ({joint.name for joint in way} for way in ways)
                return base ^ tip
            case _:
                self.notes.add(f"unknown tag <{element.tag}> in <group>", element.line)
                return set()

    def _path(self, element: Element, attribute: str) -> tuple[Joint, ...]:
        """The joints from the world to the link that an attribute names."""
        link = element.text(attribute)
        if link != WORLD and link not in self.model.links:
            self.notes.add("a <group> names a link that the robot does not have", element.line, link)
        return self.model.root_path(link)

    def end_effectors(self) -> dict[str, tuple[str, ...]]:
        """The links where arms and legs end, and of each the joints beyond it that are in its group.

        A link that is missing is passed over, as one SRDF serves several robots; so is one of a finger, and one whose
        group has no joints, neither before it nor beyond.
        """
        beyond = finger_links(self.model)
        found = {}
        for element in self.root.all("end_effector"):
            link, group = element.attributes.get("parent_link", ""), element.attributes.get("group", "")
            if link not in self.model.links or link in beyond:
                continue
            above = {joint.name for joint in self.model.root_path(link)}
            members = self.members(group) if group in self.groups else ()
            if members:
                found[link] = () if above.intersection(members) else members
        return found

    # Collisions --------------------------------------------------------------------------------------------------

    def disabled(self) -> dict[tuple[str, str], int]:
        """The pairs of links that need never be looked at for a collision, and their lines.

        Links of which collisions are off by default are paired with all others; what is enabled again counts last.
        """
        links = dict.fromkeys(self.model.links)
        pairs: dict[tuple[str, str], int] = {}
        for element in self.root.all("disable_default_collisions"):
            link = element.text("link")
            pairs |= {_pair(link, other): element.line for other in links if link in links and other != link}
        for element in self.root.all("disable_collisions"):
            pair = _pair(element.text("link1"), element.text("link2"))
            if pair[0] == pair[1]:
                self.notes.add("a link is said not to collide with itself", element.line, pair[0])
            elif links.keys() >= {*pair}:
                pairs[pair] = element.line
        for element in self.root.all("enable_collisions"):
            pairs.pop(_pair(element.text("link1"), element.text("link2")), None)
        return pairs

    # Postures ----------------------------------------------------------------------------------------------------

    def postures(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Numbers by joint by posture.  Each group has states of its own; those of one name are one posture."""
        postures: dict[str, dict[str, tuple[float, ...]]] = {}
        for state in self.root.all("group_state"):
            posture = postures.setdefault(state.text("name"), {})
            for element in state.all("joint"):
                numbers = element.numbers("value")
                joint = self.joint(element)
                if joint is None:
                    self._note_fixed(element, numbers)
                    continue
                if len(numbers) == joint.size:
                    if (np.abs(numbers) > self.model.farthest[self.model.index(joint.name)]).any():
                        raise element.error(f"{element.label} is beyond what joints that follow it can take: lower it")
                    posture[joint.name] = _position(joint, numbers, element)
                    q, at = np.array(self.model.home), self.model.index(joint.name)
                    q[at] = posture[joint.name]
                    if in_degrees(self.model, q, at):
                        written = f"{numbers[0]:g} for {joint.name} of {state.text('name')!r}"
                        asked = "a posture is far beyond the limits: degrees? An SRDF is in radians"
                        self.notes.add(asked, element.line, written)
                elif joint.name != self.base:
                    written = f"{joint.name} takes {joint.size}, not {len(numbers)}"
                    self.notes.add("a posture has the wrong count of numbers for a joint", element.line, written)
        return postures

    def _note_fixed(self, element: Element, numbers: tuple[float, ...]) -> None:
        """Remark on a posture that moves a fixed joint; one that follows another stands where that takes it."""
        joint = self.joints.get(element.text("name"))
        if joint is not None and joint.kind is JointKind.FIXED and any(numbers):
            self.notes.add("a posture moves a joint that is fixed", element.line, element.label)


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first <= second else (second, first)


def _position(joint: Joint, numbers: tuple[float, ...], element: Element) -> tuple[float, ...]:
    at = joint.quaternion_at
    if at is None:
        return numbers
    try:
        wxyz = np.roll(unit_quaternion("its quaternion", numbers[at:]), 1)
    except ValueError as error:
        raise element.error(f"{element.label}: {error}") from None
    return (*numbers[:at], *map(float, wxyz))
