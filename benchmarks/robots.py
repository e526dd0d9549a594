"""The robots: real files from installed packages, and the bare chain for libraries that read nothing else."""

import importlib.metadata
import importlib.util
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judge import Judge, attribute


@dataclass(frozen=True)
class Robot:
    """A URDF file and the frames to place; `floating` if nothing holds its root."""

    name: str
    urdf: Path
    tips: tuple[str, ...]
    floating: bool = False

    @cached_property
    def judge(self) -> Judge:
        """Kinematics and limits that no measured library had a part in."""
        return Judge(self.urdf, self.tips, floating=self.floating)

    def bare(self, *, masses: bool = False) -> str:
        """The file's joints from the root to the tips, and nothing but their geometry and limits.

        With `masses` it is all joints, and the masses of their links.
        """
        file, robot = ET.parse(self.urdf).getroot(), ET.Element("robot", name=self.name)
        chain = {joint.name for joint in self.judge.joints}
        joints = [joint for joint in file.findall("joint") if masses or joint.get("name") in chain]
        links = {link.get("name"): link for link in file.findall("link")}
        for name in (self.judge.root, *(attribute(joint, "child", "link", "") for joint in joints)):
            link = ET.SubElement(robot, "link", name=name)
            link.extend(links[name].findall("inertial") if masses else [])
        for joint in joints:
            kept = ET.SubElement(robot, "joint", joint.attrib)
            kept.extend(part for part in joint if part.tag in ("origin", "parent", "child", "axis", "limit"))
        return ET.tostring(robot, encoding="unicode")

    @contextmanager
    def bare_file(self, *, masses: bool = False) -> Iterator[Path]:
        """`bare` as a file, for a library that reads nothing else."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{self.name}.urdf"
            file.write_text(self.bare(masses=masses))
            yield file


def panda() -> Robot:
    """Franka Emika Panda."""
    return Robot("Panda", example("panda_description/urdf/panda.urdf"), ("panda_link8",))


def arms() -> tuple[Robot, ...]:
    """Panda, UR10 (the file with every joint limited to half a turn either way) and iiwa 14."""
    return (
        panda(),
        Robot("UR10", example("ur_description/urdf/ur10_joint_limited_robot.urdf"), ("tool0",)),
        Robot("iiwa14", bullet("kuka_iiwa/model.urdf"), ("lbr_iiwa_link_7",)),
    )


def branching() -> tuple[Robot, ...]:
    """Arms of six joints that have a closed form, with the links from the forearm on."""
    universal = tuple(f"{name}_link" for name in ("forearm", "wrist_1", "wrist_2", "wrist_3"))
    kinova = tuple(f"j2s6s200_link_{i}" for i in (3, 4, 5, 6))
    files = {name: f"ur_description/urdf/{name.lower()}_robot.urdf" for name in ("UR3", "UR5", "UR10")}
    return (
        *(Robot(name, example(file), universal) for name, file in files.items()),
        Robot("j2s6s200", example("kinova_description/robots/kinova.urdf"), kinova),
    )


def humanoid() -> Robot:
    """Unitree G1, 29 joints on a floating base: both hands and both feet."""
    tips = ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link")
    return Robot("G1", example("g1_description/urdf/g1_29dof_rev_1_0.urdf"), tips, floating=True)


def example(path: str) -> Path:
    """A file of example-robot-data."""
    folder = importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data")
    return Path(str(folder)) / "robots" / path


def bullet(path: str) -> Path:
    """A file of pybullet_data."""
    spec = importlib.util.find_spec("pybullet_data")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"{path} needs pybullet_data: pip install pybullet")
    return Path(spec.submodule_search_locations[0]) / path
