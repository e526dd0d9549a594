"""Where an arm ends: at its hand, before the fingers.

No format says so.  An SRDF may name end effectors; else it is told from names and from structure.  A finger is a joint
that is called so, or its link, such as a thumb or a jaw; a leaf that moves with its twin on the same link by `mimic`,
or one of several that slide there; one of many at the end of an arm; what stands beside fingers, and all that hangs on
them.  A robot that is nothing but fingers is a hand, and ends at the tip of one.
"""

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind

if TYPE_CHECKING:
    from poise.model.model import Model

_FINGER: Final = re.compile(r"finger|fngr|thumb|knuckle|jaw|claw|pincer|pinky|phalan")
_GRIPPER: Final = re.compile(r"grip|grasp")
_WHOLE: Final = re.compile(r"wrist|yaw|pitch|roll|rotat")
"""What turns a whole gripper is called so."""
_MANY, _ARM = 4, 5
"""As many branches, beyond as many joints of one axis, are fingers whatever they are called."""
_TOOL: Final = frozenset(("tcp", "tool", "ee", "eef", "effector", "endpoint", "grasp", "grasping"))
SENSOR: Final = re.compile(
    r"cam(era)?(_|$)|imu|sensor|optical|accelero|gyro|range|laser|lidar|sonar|_led_|visual|inertia"
)


def tip_of(model: "Model") -> str:
    """The link at the end of the longest chain of joints that are no fingers: the hand of an arm, a foot of a dog.

    Of the links that are fixed to each other there it is an end effector of an SRDF, or else one that is called a tool,
    or else the last; neither a sensor nor a finger.
    """
    beyond, body, ends = finger_links(model), _bodies(model), _ends(model)
    arm = any(joint.size and joint.child not in beyond for joint in model.joints)
    freedom, depth = {WORLD: 0}, {WORLD: 0}
    for joint in model.joints:
        freedom[joint.child] = freedom.get(joint.parent, 0) + (max(joint.nv, 1) if joint.size else 0)
        depth[joint.child] = depth.get(joint.parent, 0) + 1
    fixed = [link for link in model.links if body[link] != link]
    fingered = Counter(body[link] for link in fixed if _FINGER.search(link.lower()))

    def sensor_or_finger(link: str) -> bool:
        """Whether it is a sensor, or one of several fingers; a single tip that is fixed is where an arm ends."""
        if body[link] == link or link in ends:
            return False
        finger = bool(_FINGER.search(link.lower())) and (fingered[body[link]] > 1 or "tip" not in link.lower())
        return (arm and finger) or bool(SENSOR.search("_".join(words_of(link))))

    def rank(link: str) -> tuple[int, bool, bool, bool, int]:
        end = ends.get(link) == ()  # one with joints of its own is where a gripper is mounted
        tool = not sensor_or_finger(link) and not _TOOL.isdisjoint(words_of(link))
        return freedom.get(link, 0), end, not sensor_or_finger(link), tool, depth.get(link, 0)

    last = max((link for link in model.links if not arm or link not in beyond), key=rank, default=WORLD)
    tools = (name for name in model.end_effectors if name not in model.links and model.frame(name).link == last)
    return next(tools, last)


def finger_links(model: "Model") -> set[str]:
    """The links of the fingers, and all that they carry."""
    body, before = _bodies(model), dict[str, int]()
    branches: dict[str, list[Joint]] = {}
    for joint in model.joints:
        if joint.size:
            parent = body[joint.parent]
            branches.setdefault(parent, []).append(joint)
            before[joint.child] = before.get(parent, 0) + (joint.size == 1)
    ends_in_file = _ends(model)
    carrying = {joint.name for link in ends_in_file for joint in model.root_path(link)}
    fingers_in_file = {name for names in ends_in_file.values() for name in names}
    ends = {body[link] for link, names in ends_in_file.items() if not names}
    found: set[str] = set()
    for link, joints in branches.items():
        free = [joint for joint in joints if joint.name not in carrying]
        own = [joint for joint in free if link in ends or joint.name in fingers_in_file or _called_so(joint)]
        twins = _twins(model, [joint for joint in free if joint.child not in branches]) if link in before else []
        # What a trunk carries beside a gripper is something else.
        palm = own and (link in before or any(_FINGER.search(joint.name.lower()) for joint in own))
        many = len(free) >= _MANY and before.get(link, 0) >= _ARM
        found |= {joint.child for joint in (free if palm or many else [*own, *twins])}
    for joint in model.joints:
        if joint.parent in found:
            found.add(joint.child)
    return found


def _ends(model: "Model") -> dict[str, tuple[str, ...]]:
    """By the link that carries it, the fingers of each end effector that is stated."""
    return {model.frame(name).link: names for name, names in model.end_effectors.items()}


def _bodies(model: "Model") -> dict[str, str]:
    """By link, the first of those that are fixed to each other."""
    body = {link: link for link in (WORLD, *model.links)}
    for joint in model.joints:  # parents first
        body[joint.child] = joint.child if joint.size else body[joint.parent]
    return body


def _called_so(joint: Joint) -> bool:
    """Whether a joint that moves, or what it moves, is called a finger."""
    name, child = joint.name.lower(), joint.child.lower()
    if _FINGER.search(name):
        return True
    if _WHOLE.search(name):
        return False
    return bool(_GRIPPER.search(name)) or (bool(_FINGER.search(child)) and "fixed" not in child)


def _twins(model: "Model", leaves: list[Joint]) -> list[Joint]:
    """Those of the last joints that one link carries that move together, or slide beside each other."""
    followed = Counter(model.follows(joint)[0] for joint in leaves)
    slides = [joint for joint in leaves if joint.kind is JointKind.PRISMATIC]
    return [j for j in leaves if followed[model.follows(j)[0]] > 1 or (j in slides and len(slides) > 1)]


def words_of(name: str) -> list[str]:
    """Its words, be they parted by marks, digits or capitals."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
