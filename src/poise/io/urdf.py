"""URDF: links and joints, as ROS writes them (https://wiki.ros.org/urdf/XML).

Kinematics, masses and inertias, shapes that collide and those that are seen: textures, transmissions and the extensions
of simulators are passed over.

What the format leaves open is read thus:

- A revolute or prismatic joint without `<limit>` has none; with a `<limit>` that lacks `lower` or `upper`, they are 0,
  but a joint that mimics another and gives neither is limited by the other alone, and where loops are stated beside the
  file one that gives neither has no limits: exporters write so the joints of mechanisms that have no motor.
- A limit of 1e16, as SDF has it, or of the largest number of four or eight bytes is a placeholder for none.
- A `velocity` of 0 or -1 is a placeholder of exporters and sets no limit, and so is an `effort` of 0 or less.
- A `<mimic>` on a fixed joint has no effect, nor has one of a joint that is not there.
- Limits on continuous, planar, spherical and floating joints do not hold, except for the velocity of continuous.
- Where the limits of a joint that mimics another would hold that one still, they give way.
- `quat_xyzw` counts from version 1.1 on, `acceleration`, `deceleration` and `jerk` from 1.2 on; without
  `<robot version=...>` it is 1.0.
- Of two types that URDF lacks, `helical` has the attribute `pitch` [m/rad], and `spherical` may be called `ball`.
- A link called "world" is the world, which has no mass.
- An `<inertial>` without `<mass>` has none; without `<inertia>` the mass is a point.
- A `<capsule>`, which URDF lacks, has the `length` of its straight part.
"""

import os
from pathlib import Path

import numpy as np

from poise.common.array import Array
from poise.common.errors import ModelError
from poise.io.collisions import link_shapes
from poise.io.elements import Element, parse, read_bytes
from poise.io.foreign import foreign_root
from poise.io.notes import Notes
from poise.io.packages import PackageDirs, Packages
from poise.io.parts import part_of_another
from poise.io.srdf import add_srdf
from poise.io.srdf_file import BESIDE, Srdf, chosen_srdf
from poise.io.urdf_joints import UrdfJoints
from poise.io.urdf_meshes import Meshes
from poise.io.visuals import link_visuals, named_colours
from poise.io.vocabulary import Vocabulary, note_unknown, words
from poise.io.xacro_elements import left_over, xacro_in
from poise.model.builder import Base, ModelBuilder
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.spatial import SE3

_WORDS: Vocabulary = {
    "robot": words("name version", "link joint material", "gazebo hardware mujoco ros2_control sensor transmission"),
    "link": words(
        "name type concave",
        "inertial visual collision",
        "contact gazebo sensor gravity kinematic self_collide surface"  # some of SDF, left by converters
        " origin",  # see `_note_places`
    ),
    "joint": words(
        "name type pitch dont_collapse",
        "parent child origin axis limit mimic",
        "calibration dynamics gazebo hardwareInterface joint_properties safety_controller",
    ),
    "parent": words("link"),
    "child": words("link"),
    "origin": words("xyz rpy quat_xyzw"),
    "axis": words("xyz"),
    "limit": words(
        "lower upper velocity effort acceleration deceleration jerk"
        " command_effort current gear_velocity"  # of drives, which some vendors add
    ),
    "mimic": words("joint multiplier offset"),
    "inertial": words("", "origin mass inertia"),
    "mass": words("value"),
    "inertia": words("ixx ixy ixz iyy iyz izz iyx izx izy"),  # the last three say once more what is symmetric
    "visual": words("name group", "origin geometry material"),
    "collision": words("name group concave", "origin geometry material", "contact surface verbose"),  # of simulators
    "geometry": words("name", None),
    "box": words("size"),
    "sphere": words("radius"),
    "cylinder": words("radius length"),
    "capsule": words("radius length"),
    "mesh": words("filename scale"),
    "material": words("name", "color texture"),
    "color": words("rgba"),
    "texture": words("filename"),
}
_OF_SRDF = {
    *("group", "group_state", "end_effector", "virtual_joint", "passive_joint"),
    *("disable_collisions", "enable_collisions", "disable_default_collisions"),
}


def read_urdf(
    path: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    package_dirs: PackageDirs = (),
    srdf: Srdf = BESIDE,
    looped: bool = False,
) -> Model:
    """The robot of a URDF file, with the groups and postures of an SRDF, if there is one.

    `base` is how the root is joined to the world.  Meshes are looked for, also in `package_dirs`, but not opened.
    `looped`: whether loops are stated beside it, see the module.  Raises ModelError, with file and line, for anything
    that is no kinematic tree; warns once (ModelWarning) of what it passed over.
    """
    path = Path(path)
    document, packages = read_bytes(path), Packages(path.parent, package_dirs)
    with part_of_another(path):
        return parse_urdf(
            document, file=str(path), base=base, packages=packages, srdf=chosen_srdf(srdf, path), looped=looped
        )


def parse_urdf(
    document: str | bytes,
    *,
    file: str | None = None,
    name: str | None = None,
    base: Base = "fixed",
    packages: Packages | None = None,
    srdf: Path | None = None,
    looped: bool = False,
) -> Model:
    """The robot of a URDF document; `file` is its name in messages, `name` that of a robot without one.

    Meshes are looked for in `packages`.  `looped`: whether loops are stated beside it.  Raises and warns as `read_urdf`
    does.
    """
    root = parse(document, file)
    if root.tag != "robot":
        raise root.error(_not_a_robot(root.tag))
    _refuse_xacro(root)
    builder = ModelBuilder(root.attributes.get("name") or name or Path(file or "robot").stem, file=file)
    notes = Notes(file)
    meshes = Meshes(packages)
    joints = UrdfJoints(root, builder, notes, looped=looped)
    colours = named_colours(root, notes)
    for link in root.all("link"):
        builder.link(link.text("name"), line=link.line)
        _add_mass(builder, link, joints, notes)
        if shapes := link_shapes(link, joints.pose, meshes.find, notes):
            builder.shape(link.text("name"), *shapes, line=link.line)
        if visuals := link_visuals(link, joints.pose, meshes.find, colours, notes):
            builder.visual(link.text("name"), *visuals, line=link.line)
    joints.add()
    model = _build(builder, root, base)
    _check_root(root, base)
    for remnant in left_over(root):
        notes.add(f"<{remnant.tag}> is left over from xacro and passed over", remnant.line)
    note_unknown(root, _WORDS, notes)
    _note_places(root, joints, notes)
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
        raise root.error(_without_links(root))
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
            f"join the others to it, or remove them{_lost_joint(root)}"
        )
    if grounded and base != "fixed":
        raise root.error(
            f"the robot is joined to {WORLD!r} by a joint of its own, so base={base!r} frees nothing; "
            'remove that joint, or load it with base="fixed"'
        )


def _without_links(root: Element) -> str:
    """Why a `<robot>` has no links."""
    if any(child.tag in _OF_SRDF for child in root.children):
        return (
            "this is an SRDF, which adds groups and postures to a robot; give its URDF, and an SRDF beside it is read"
        )
    return "the robot has no <link>"


def _lost_joint(root: Element) -> str:
    """What looks like a joint and is none that URDF knows, for a message."""
    for element in root.children:
        if element.tag != "joint" and (element.tag.startswith("xacro:") or element.all("child")):
            name = f" {element.attributes['name']!r}" if "name" in element.attributes else ""
            return f"; <{element.tag}>{name} in line {element.line} is not of URDF and was passed over"
    return ""


def _note_places(root: Element, joints: UrdfJoints, notes: Notes) -> None:
    """Remark on the origins of links: exporters write that which says nothing, and any other is one nobody heeds."""
    for link in root.all("link"):
        for origin in link.all("origin"):
            if not joints.pose(origin).isclose(SE3.identity()):
                notes.add("unknown tag <origin> in <link>", origin.line)


def _add_mass(builder: ModelBuilder, link: Element, joints: UrdfJoints, notes: Notes) -> None:
    name, inertial = link.text("name"), link.child("inertial")
    if inertial is None:
        return
    mass, origin = inertial.child("mass"), inertial.child("origin")
    if mass is None:
        notes.add("an <inertial> without <mass> is passed over", inertial.line, link.label)
    elif name == WORLD:
        notes.add(f"the mass of {WORLD!r} is passed over", mass.line)
    else:
        pose, inertia = SE3.identity() if origin is None else joints.pose(origin), inertial.child("inertia")
        about = None if inertia is None else pose.rotation.matrix() @ _matrix(inertia) @ pose.rotation.matrix().T
        builder.mass(name, mass.number("value"), centre=pose.xyz, inertia=about, line=mass.line)


def _matrix(inertia: Element) -> Array:
    """(3, 3) what an `<inertia>` says; what it leaves out is 0."""
    xx, xy, xz, yy, yz, zz = (inertia.number(name, 0.0) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
