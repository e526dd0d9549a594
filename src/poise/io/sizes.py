"""How many joints the known robots have, without building them."""

import warnings
from pathlib import Path
from xml.etree import ElementTree

from poise.common.beside import owner
from poise.io import load
from poise.io.brought import brought_robots
from poise.io.installed import installed_robots
from poise.robots import TEXTBOOK


def robot_sizes() -> dict[str, int]:
    """Joints that can be set, so neither fixed ones nor those that follow another, by the names that `load` knows.

    Of an installed robot they are counted in its file, which nothing else is read of: that takes milliseconds where a
    model takes tens.  Robots of packages are loaded; one that cannot be is left out and warned of.
    """
    sizes = {name: len(make().joint_names) for name, make in TEXTBOOK.items()}
    sizes |= {name: _counted(file) for name, file in installed_robots().items() if name not in sizes}
    for name, point in brought_robots().items():
        try:
            sizes[name] = len(load(name).joint_names)
        except Exception as error:  # whatever a stranger's module raises, the others are listed
            warnings.warn(f"the robot {name!r} of {owner(point)} is left out: {error}", stacklevel=2)
    return sizes


def _counted(file: Path) -> int:
    joints = {joint.get("name"): joint for joint in ElementTree.parse(file).getroot().iterfind("joint")}

    def mimics(joint: ElementTree.Element) -> bool:
        mimic = joint.find("mimic")
        return mimic is not None and mimic.get("joint") in joints

    return sum(joint.get("type") != "fixed" and not mimics(joint) for joint in joints.values())
