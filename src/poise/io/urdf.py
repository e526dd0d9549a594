"""URDF: links and joints, as ROS writes them (https://wiki.ros.org/urdf/XML).

Kinematics, masses, shapes that collide and those that are seen: textures, moments of inertia, transmissions and the
extensions of simulators are passed over.

What the format leaves open is read thus:

- A revolute or prismatic joint without `<limit>` has none; with a `<limit>` that lacks `lower` or `upper`, they are 0,
  but a joint that mimics another and gives neither is limited by the other alone.
- A limit of 1e16, as SDF has it, or of the largest number of four or eight bytes is a placeholder for none.
- A `velocity` of 0 is a placeholder of exporters and sets no limit.
- A `<mimic>` on a fixed joint has no effect, nor has one of a joint that is not there.
- Limits on continuous, planar, spherical and floating joints are passed over, except for the velocity of continuous.
- Of two types that URDF lacks, `helical` has the attribute `pitch` [m/rad], and `spherical` may be called `ball`.
- A link called "world" is the world, which has no mass.
- An `<inertial>` without `<mass>` has none.
- A `<capsule>`, which URDF lacks, has the `length` of its straight part.
"""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import final

import numpy as np

from poise.errors import JointNotFound, ModelError
from poise.geometry.meshes import is_pointer_file
from poise.io.collisions import link_shapes
from poise.io.elements import Element, parse, read_bytes
from poise.io.foreign import foreign_root, without_links, xacro_in
from poise.io.notes import Notes
from poise.io.packages import PackageDirs, Packages, is_remote, package_of
from poise.io.parts import part_of_another
from poise.io.srdf import add_srdf, find_srdf
from poise.io.visuals import link_visuals, named_colours
from poise.model.builder import Base, ModelBuilder
from poise.model.frame import WORLD
from poise.model.joint import JointKind, Mimic, like_degrees
from poise.model.model import Model
from poise.quaternions import rpy_quaternion
from poise.spatial import SE3, pose_of

_ALIASES = {"ball": "spherical"}
_READ = {
    "robot": {"link", "joint", "material"},
    "link": {"collision", "inertial", "visual"},
    "joint": {"parent", "child", "origin", "axis", "limit", "mimic"},
}
_PASSED_OVER = {
    "robot": {"gazebo", "hardware", "mujoco", "ros2_control", "sensor", "transmission"},
    "link": {"contact", "gazebo", "sensor"}
    | {"gravity", "kinematic", "self_collide", "surface"},  # of SDF, left by converters
    "joint": {"calibration", "dynamics", "gazebo", "hardwareInterface", "safety_controller"},
}
_ONE_AXIS = {JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.HELICAL}
_LIMITED = _ONE_AXIS - {JointKind.CONTINUOUS}
_NONE = (1e16, 3.402823e38, 1.797693e308)
"""Limits that exporters write for none: that of SDF, and the largest numbers of four and of eight bytes."""


def read_urdf(path: str | os.PathLike[str], *, base: Base = "fixed", package_dirs: PackageDirs = ()) -> Model:
    """The robot of a URDF file, with the groups and postures of the SRDF beside it, if there is one.

    `base` is how the root is joined to the world.  Meshes are looked for, also in `package_dirs`, but not opened.
    Raises ModelError, with file and line, for anything that is no kinematic tree; warns once (ModelWarning) of what
    it passed over.
    """
    path = Path(path)
    document, packages = read_bytes(path), Packages(path.parent, package_dirs)
    with part_of_another(path):
        return parse_urdf(document, file=str(path), base=base, packages=packages, srdf=find_srdf(path))


def parse_urdf(
    document: str | bytes,
    *,
    file: str | None = None,
    name: str | None = None,
    base: Base = "fixed",
    packages: Packages | None = None,
    srdf: Path | None = None,
) -> Model:
    """The robot of a URDF document; `file` is its name in messages, `name` that of a robot without one.

    Meshes are looked for in `packages`.  Raises and warns as `read_urdf` does.
    """
    root = parse(document, file)
    if root.tag != "robot":
        raise root.error(_not_a_robot(root.tag))
    _refuse_xacro(root)
    builder = ModelBuilder(root.attributes.get("name") or name or Path(file or "robot").stem, file=file)
    notes = Notes(file)
    meshes = _Meshes(packages)
    colours = named_colours(root, notes)
    for link in root.all("link"):
        builder.link(link.text("name"), line=link.line)
        _add_mass(builder, link, notes)
        if shapes := link_shapes(link, _pose, meshes.find, notes):
            builder.shape(link.text("name"), *shapes, line=link.line)
        if visuals := link_visuals(link, _pose, meshes.find, colours, notes):
            builder.visual(link.text("name"), *visuals, line=link.line)
    names = {joint.text("name") for joint in root.all("joint")}
    for joint in root.all("joint"):
        _add_joint(builder, joint, names, notes)
    model = _build(builder, root, base)
    _check_root(root, base)
    _note_unknown(root, notes)
    meshes.note_missing(root, notes)
    if srdf is not None:
        home = add_srdf(builder, model, srdf)
        model = _build(builder, root, base, home)
    notes.warn()
    return model


def _not_a_robot(tag: str) -> str:
    if tag == "mujoco":
        return "this is an MJCF, not a URDF; give the file a name that ends in .xml"
    return foreign_root(tag)


def _refuse_xacro(root: Element) -> None:
    found = xacro_in(root)
    if found is not None:
        what = found.name if found.tag.startswith("xacro:") else f"an expression in {found.label}"
        raise found.error(
            f"this is a xacro file ({what}): load it with xacro_args={{}}, or give it a name that ends in .xacro, "
            "if you trust it, for its expressions are Python that runs as it is read"
        )


def _build(builder: ModelBuilder, root: Element, base: Base, home: str | None = None) -> Model:
    try:
        return builder.build(base=base, home=home, declared=True)
    except ModelError as error:
        if error.file is not None or root.file is None:
            raise
        raise ModelError(error.message, file=root.file) from None  # the model itself knows no file


def _check_root(root: Element, base: Base) -> None:
    """A URDF has one root; another one is a link that some joint forgot."""
    links = root.all("link")
    if not links:
        raise root.error(without_links(root))
    joints = root.all("joint")
    moved = {joint.required("child").text("link") for joint in joints}
    loose = [link for link in links if link.text("name") not in moved]
    grounded = any(joint.required("parent").text("link") == WORLD for joint in joints)
    if grounded and not any(link.text("name") == WORLD for link in loose):
        loose = [root, *loose]  # the world itself, used and not declared
    if len(loose) > 1:
        names = " and ".join(repr(WORLD if link is root else link.text("name")) for link in loose[:2])
        raise loose[1].error(
            f"{len(loose)} links have no parent, {names} among them; a URDF has one root: "
            "join the others to it, or remove them"
        )
    if grounded and base != "fixed":
        raise root.error(
            f"the robot is joined to {WORLD!r} by a joint of its own, so base={base!r} frees nothing; "
            'remove that joint, or load it with base="fixed"'
        )


def _add_joint(builder: ModelBuilder, element: Element, names: set[str], notes: Notes) -> None:
    name, written = element.text("name"), element.text("type")
    kind = _ALIASES.get(written, written)
    origin, limit = element.child("origin"), element.child("limit")
    limits = _limits(element, limit, notes) if kind in _LIMITED else None
    if limits is not None and kind == JointKind.REVOLUTE and like_degrees(JointKind.REVOLUTE, *limits):
        remark = "limits of more than three turns; a URDF is in radians: if these are degrees, multiply them by pi/180"
        notes.add(remark, element.line, f"{element.label} from {limits[0]:g} to {limits[1]:g}")
    builder.joint(
        name,
        kind,
        parent=element.required("parent").text("link"),
        child=element.required("child").text("link"),
        origin=None if origin is None else _pose(origin),
        axis=_axis(element, kind),
        limits=limits,
        velocity=_velocity(limit, notes) if limit is not None and kind in _ONE_AXIS else None,
        pitch=element.number("pitch") if kind == JointKind.HELICAL else 0.0,
        mimic=None if kind == JointKind.FIXED else _mimic(element, names, notes),
        line=element.line,
    )


def _add_mass(builder: ModelBuilder, link: Element, notes: Notes) -> None:
    name, inertial = link.text("name"), link.child("inertial")
    if inertial is None:
        return
    mass, origin = inertial.child("mass"), inertial.child("origin")
    if mass is None:
        notes.add("an <inertial> without <mass> is passed over", inertial.line, link.label)
    elif name == WORLD:
        notes.add(f"the mass of {WORLD!r} is passed over", mass.line)
    else:
        centre = (0.0, 0.0, 0.0) if origin is None else _place(origin)
        builder.mass(name, mass.number("value"), centre=centre, line=mass.line)


def _place(origin: Element) -> tuple[float, ...]:
    return origin.numbers("xyz", 3) if "xyz" in origin.attributes else (0.0, 0.0, 0.0)


def _pose(origin: Element) -> SE3:
    rpy = origin.numbers("rpy", 3) if "rpy" in origin.attributes else (0.0, 0.0, 0.0)
    return pose_of(np.concatenate([_place(origin), rpy_quaternion(np.array(rpy))]))


def _axis(element: Element, kind: str) -> tuple[float, ...]:
    axis = element.child("axis")
    if kind not in _ONE_AXIS | {JointKind.PLANAR} or axis is None:
        return (1.0, 0.0, 0.0)  # exporters write 0 0 0 on joints that need no axis
    return axis.numbers("xyz", 3)


def _limits(element: Element, limit: Element | None, notes: Notes) -> tuple[float, float]:
    if limit is None:
        notes.add("a joint without <limit> is taken as unlimited", element.line, element.label)
        return -math.inf, math.inf
    if not limit.attributes.keys() & {"lower", "upper"}:
        if element.child("mimic") is not None:
            return -math.inf, math.inf
        notes.add("a <limit> without lower and upper holds its joint at 0", limit.line, element.label)
    ends = [limit.number(end, 0.0, infinite=True) for end in ("lower", "upper")]
    for i, end in enumerate(ends):
        if any(math.isclose(abs(end), none, rel_tol=1e-5) for none in _NONE):
            notes.add(f"a limit of {end:g} is taken as none", limit.line, element.label)
            ends[i] = math.copysign(math.inf, end)
    return ends[0], ends[1]


def _velocity(limit: Element, notes: Notes) -> float:
    velocity = limit.number("velocity", math.inf, infinite=True)
    if velocity == 0.0:
        notes.add("a velocity limit of 0 is taken as none", limit.line, limit.owner)
        return math.inf
    return velocity


def _mimic(element: Element, names: set[str], notes: Notes) -> Mimic | None:
    mimic = element.child("mimic")
    if mimic is None:
        return None
    joint, multiplier, offset = mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    if joint not in names:
        remark = "a <mimic> of a joint that is not there is passed over, and its own joint moves by itself"
        missing = JointNotFound(joint, sorted(names - {element.text("name")}), owner="the robot")
        notes.add(remark, mimic.line, f"{element.label}: {missing.message}")
        return None
    return Mimic(joint=joint, multiplier=multiplier, offset=offset)


def _note_unknown(root: Element, notes: Notes) -> None:
    for element in (root, *root.all("link"), *root.all("joint")):
        known = _READ.get(element.tag, set()) | _PASSED_OVER[element.tag]
        for child in element.children:
            if child.tag == "origin" and element.tag == "link" and _pose(child).isclose(SE3.identity()):
                continue  # exporters write it; any other place would be one that nobody heeds
            if child.tag not in known and ":" not in child.tag:  # a prefix marks an extension
                notes.add(f"unknown tag <{child.tag}> in <{element.tag}>", child.line)


@final
class _Meshes:
    """Where the meshes of a document are; each is looked for once."""

    def __init__(self, packages: Packages | None) -> None:
        self.packages = packages
        self.known: dict[str, tuple[Path | None, tuple[Path, ...]]] = {}

    def look(self, uri: str) -> tuple[Path | None, tuple[Path, ...]]:
        """The file, or None, and the paths that were tried."""
        if uri not in self.known:
            nowhere: tuple[Path | None, tuple[Path, ...]] = (None, ())
            self.known[uri] = nowhere if self.packages is None or is_remote(uri) else self.packages.file(uri)
        return self.known[uri]

    def find(self, uri: str) -> str:
        """The path of the file, or its name in the document where that is not found."""
        found, _ = self.look(uri)
        return uri if found is None else os.path.abspath(found)

    def note_missing(self, root: Element, notes: Notes) -> None:
        """Remark on the meshes that are not where the document says."""
        shapes = [shape for link in root.all("link") for tag in ("visual", "collision") for shape in link.all(tag)]
        for mesh in (m for shape in shapes for geometry in shape.all("geometry") for m in geometry.all("mesh")):
            uri = mesh.attributes.get("filename", "")
            found, tried = self.look(uri)
            if found is not None and is_pointer_file(found):
                notes.add(
                    "mesh is a Git LFS pointer, which kinematics does not mind; run 'git lfs pull' for it",
                    mesh.line,
                    str(found),
                )
            if self.packages is None or found is not None or is_remote(uri) or not uri:
                continue
            remark, package = "mesh not found, which kinematics does not need", package_of(uri)
            if package is not None and self.packages.find(package) is None:
                holders = self.packages.holders
                paths, remark = _few(holders), f"{remark}; give package_dirs= the folder that holds {package!r}"
                notes.add(remark, mesh.line, f"{uri!r}, looked in {paths}" if holders else repr(uri))
            elif tried:
                notes.add(remark, mesh.line, f"{uri!r}, tried {_few(tried)}")
            else:
                notes.add(f"{remark}; a text has no folder to look in", mesh.line, repr(uri))


def _few(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
