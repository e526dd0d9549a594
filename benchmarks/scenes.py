"""Arms and obstacles that must not meet, in the forms in which libraries read them."""

import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from judge import Array
from robots import example

import poise as pz

HAND = "panda_hand"
URDF, SRDF = "panda_description/urdf/panda_collision.urdf", "panda_description/srdf/panda.srdf"
MESHES = "panda_description/urdf/panda.urdf"
"""The same arm with meshes."""
Shape = pz.Sphere | pz.Box | pz.Capsule


def guarded_panda(file: str = URDF) -> pz.Model:
    """A Panda of capsules, or as another file has it, with the pairs that its SRDF leaves out."""
    return pz.load(str(example(file)))


def crowd(seed: int, count: int = 20) -> pz.World:
    """Spheres, boxes and capsules around an arm, by turns."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, Shape] = {}
    for i in range(count):
        angle, far = rng.uniform(-np.pi, np.pi), rng.uniform(0.35, 0.9)
        middle = np.array([far * np.cos(angle), far * np.sin(angle), rng.uniform(0.0, 1.0)])
        box = pz.Box(pz.SE3.from_xyz_rpy(middle, rng.uniform(-np.pi, np.pi, 3)), (0.1, 0.15, 0.1))
        way = rng.uniform(-0.15, 0.15, 3)
        shapes[f"obstacle{i}"] = (pz.Sphere(middle, 0.08), box, pz.Capsule(middle - way, middle + way, 0.05))[i % 3]
    return pz.World(shapes)


def free(arm: pz.Model, world: pz.World, least: float, count: int, seed: int) -> Array:
    """(count, nq) configurations at which nothing is nearer than `least`; fewer where few of many are."""
    q = arm.sample(40 * count, seed=seed)
    return q[arm.distance(q, world).distance > least][:count]


@dataclass(frozen=True)
class Scene:
    """A Panda with its fingers fixed, among obstacles, and where its hand is to go; the same for every library."""

    world: pz.World
    start: Array
    """(7,)"""
    asked: float
    """The least distance of any two shapes [m]."""
    dt: float
    """[s]"""
    goals: Array
    """(N, 4, 4) of the hand."""

    @cached_property
    def obstacles(self) -> dict[str, Shape]:
        """By name."""
        return {name: self.world[name] for name in self.world.names}  # type: ignore[misc]

    @cached_property
    def arm(self) -> pz.Model:
        """As poise has it."""
        return fixed_panda()

    @cached_property
    def capsules(self) -> dict[str, tuple[str, pz.Capsule]]:
        """Of the arm, by name: the link, and the shape as seen from there."""
        return {
            f"{link}_{k}": (link, shape)  # type: ignore[misc]
            for link, shapes in self.arm.fitted_shapes.items()
            for k, shape in enumerate(shapes)
        }

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Of names of capsules and obstacles, all that could meet; what stands still meets nothing that does."""
        moving = [name for name, (link, _) in self.capsules.items() if link != "panda_link0"]
        off = {frozenset(pair) for pair in self.arm.disabled}
        own = [
            (a, b)
            for i, a in enumerate(self.capsules)
            for b in list(self.capsules)[:i]
            if (links := frozenset((self.capsules[a][0], self.capsules[b][0]))) not in off and len(links) == 2
        ]
        return own + [(a, b) for a in moving for b in self.obstacles]


def fixed_panda(file: str = URDF) -> pz.Model:
    """The Panda of `guarded_panda` without joints of its fingers: seven numbers."""
    whole = guarded_panda(file)
    with as_file(chain()) as file:
        return pz.load(file).with_shapes(whole.fitted_shapes, disabled=[tuple(pair) for pair in whole.disabled])


@contextmanager
def as_file(urdf: str) -> Iterator[Path]:
    """A file for a library that reads nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scene.urdf"
        file.write_text(urdf)
        yield file


def chain() -> str:
    """A URDF of the same: geometry and limits of joints, no shapes and no masses."""
    robot = ET.parse(example(URDF)).getroot()
    for link in robot.findall("link"):
        link[:] = []
    for joint in robot.findall("joint"):
        if "finger" in joint.get("name", ""):
            joint.set("type", "fixed")
        kept = ("origin", "parent", "child", *(() if joint.get("type") == "fixed" else ("axis", "limit")))
        joint[:] = [part for part in joint if part.tag in kept]
    robot[:] = [part for part in robot if part.tag in ("link", "joint")]
    return ET.tostring(robot, encoding="unicode")


def line_through(asked: float, speed: float, dt: float, steps: int) -> Scene:
    """The hand is to go to and fro in a line at `speed` [m/s], through a thin wall, among 19 more obstacles."""
    arm = fixed_panda()
    start = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.785])
    pose = arm.pose(HAND, start).matrix()
    for seed in range(100):
        around = crowd(seed, 19)
        world = pz.World({"wall": pz.Box(pz.SE3.from_parts((0.6, 0.0, 0.5)), (0.005, 2.0, 2.0))})
        for name in around.names:
            world.add(name, around[name])
        if arm.distance(start, world).distance > asked + 0.02:
            break
    way = speed * dt * np.arange(1, steps + 1)
    goals = np.repeat(pose[None], steps, axis=0)
    goals[:, 0, 3] += _SPAN - np.abs(way % (2.0 * _SPAN) - _SPAN)
    return Scene(world, start, asked, dt, goals)


_SPAN = 0.5
"""How far the line goes [m]."""


def urdf_with_shapes(scene: Scene, *, obstacles: bool, capsule: str) -> str:
    """A URDF with the arm's capsules, and the obstacles as links that are fixed to the base if asked.

    `capsule`: "named", a cylinder that `collision_checking` calls a capsule, as Pinocchio reads it; or "drake".
    """
    robot = ET.fromstring(chain())
    links = {link.get("name"): link for link in robot.findall("link")}
    for name, (link, shape) in scene.capsules.items():
        _add(links[link], name, shape, capsule)
    for name, shape in scene.obstacles.items() if obstacles else ():
        _add(ET.SubElement(robot, "link", name=name), name, shape, capsule)
        joint = ET.SubElement(robot, "joint", name=f"{name}_joint", type="fixed")
        ET.SubElement(joint, "parent", link="panda_link0"), ET.SubElement(joint, "child", link=name)
    return ET.tostring(robot, encoding="unicode")


def _add(link: ET.Element, name: str, shape: Shape, capsule: str) -> None:
    collision = ET.SubElement(link, "collision", name=name)
    pose = shape.pose
    numbers = [" ".join(map(repr, map(float, x))) for x in (pose.xyz, pose.rotation.rpy())]
    ET.SubElement(collision, "origin", xyz=numbers[0], rpy=numbers[1])
    geometry = ET.SubElement(collision, "geometry")
    if isinstance(shape, pz.Sphere):
        ET.SubElement(geometry, "sphere", radius=repr(shape.radius))
    elif isinstance(shape, pz.Box):
        ET.SubElement(geometry, "box", size=" ".join(map(repr, map(float, shape.size))))
    elif capsule == "drake":
        ET.SubElement(geometry, "drake:capsule", radius=repr(shape.radius), length=repr(shape.length))
    else:
        ET.SubElement(geometry, "cylinder", radius=repr(shape.radius), length=repr(shape.length))
        known = link.find("collision_checking")
        ET.SubElement(ET.SubElement(link, "collision_checking") if known is None else known, "capsule", name=name)


def shapes_of(scene: Scene) -> Iterator[tuple[str, str | None, Shape]]:
    """Name, link (None: the world) and shape of all."""
    for name, (link, shape) in scene.capsules.items():
        yield name, link, shape
    for name, shape in scene.obstacles.items():
        yield name, None, shape


def numbered(name: str, scene: Scene) -> str:
    """What Pinocchio calls a shape: its link, and a running number."""
    return name if name in scene.capsules else f"{name}_0"
