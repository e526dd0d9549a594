"""Read MJCF, the robot files of MuJoCo, from the arrays that MuJoCo's own compiler makes of them.

Defaults, includes, angle units, orientations and attachments are therefore MuJoCo's, not a second reading of them.
The semantics of the arrays are those of `mj_kinematics` (MuJoCo documentation, "Computation" and "XML reference").
"""

import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue, ModelError, ModelWarning
from poise.common.lazy import optional
from poise.geometry.enclosing import enclosed
from poise.geometry.meshes import LinkShape
from poise.geometry.visuals import Visual
from poise.io.elements import Element, parse, read_bytes, root_tag
from poise.io.foreign import XACRO_MJCF, foreign_root
from poise.io.geoms import DEFAULT_COLOUR, KINDS, colliding, colours, drawn_part, never_compared, part, seen
from poise.io.mjcf_assets import Compiled, compiled_without, whole
from poise.io.mjcf_efforts import efforts
from poise.io.parts import part_of_another
from poise.model.builder import Base, ModelBuilder
from poise.model.frame import WORLD
from poise.model.joint import JointKind, Mimic
from poise.model.joint_function import JointFunction
from poise.model.model import Model
from poise.quaternions import quaternion_matrix
from poise.spatial import BOUND, LARGEST, SE3

_KINDS = (JointKind.FLOATING, JointKind.SPHERICAL, JointKind.PRISMATIC, JointKind.REVOLUTE)
"""Joint kinds in the order of `mjtJoint`: free, ball, slide, hinge."""
_EQUALITIES = {0: "connect", 1: "weld", 2: "joint", 3: "tendon"}
"""Equality constraints by `mjtEq`; all others are of flexes."""
_LOOPS = ("connect", "weld")
_SITE = 6
"""A site's `mjtObj`."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def read_mjcf(path: str | os.PathLike[str], *, base: Base = "fixed") -> Model:
    """The kinematic tree of an MJCF file.

    q is MuJoCo's qpos, number for number, but for joints that an equality constraint drives: they take no place in
    q.  The zero of q is MuJoCo's, so at a joint's `ref` the body stands where the file draws it.

    | MJCF | here |
    |---|---|
    | body, the world body | link, "world" |
    | hinge with and without limits, slide, ball, free | revolute and continuous, prismatic, spherical, floating |
    | several joints on a body, a joint with a `pos` | a chain through links named `body/joint` |
    | body without joints, mocap body | a fixed joint `body/fixed` |
    | mass and inertia of a body, given or of its geoms | those of the link; `armature` of joints is passed over |
    | `actuatorfrcrange` of a joint, forces of its actuators | its effort, the less of both ways |
    | geom that can collide, of the world body too | shape of the link; a mesh is its convex hull |
    | geom that MuJoCo shows, see `poise.io.geoms` | visual of the link; textures and height fields are passed over |
    | geoms that MuJoCo never looks at together | pair of links in `disabled` |
    | site | frame; `site/site` if a body has its name |
    | active `equality/joint` | a joint that mimics another, by its polynomial, or is fixed at a constant |
    | active `equality/connect` and `weld` | loops of points and of poses: frames `NAME/1` and `NAME/2`, or the sites |
    | keyframes | postures; `home` is the one named "home", else the first, else `qpos0` |

    The velocity of a free or ball joint is along fixed axes here, while MuJoCo's angular qvel is along the body's
    own.  Raises MissingExtra without mujoco, ModelError with the compiler's message for a file that it refuses.
    Warns once (ModelWarning) of what is not held here: equalities of tendons and flexes, welds to
    a mocap body, which is led by hand, and cone limits; of joints that mimic others and narrow their range, or give
    way where they would leave nothing of it; and of meshes that are not there, which are left out, and with them the
    masses that come of them.
    """
    _check_base(base)
    path = Path(path)
    file = str(path)
    tag = root_tag(read_bytes(path), file)  # says what is wrong with the file itself better than MuJoCo
    with part_of_another(path):
        if tag != "mujoco":
            raise ModelError(foreign_root(tag), file=file)
        mujoco = _mujoco()
        try:
            compiled = _compile(
                lambda: mujoco.MjModel.from_xml_path(file), lambda: mujoco.MjSpec.from_file(file), path.parent
            )
        except ValueError as error:
            raise _refusal(error, path) from error
        return _read(compiled, file, path.stem)


def parse_mjcf(document: str, *, file: str, base: Base = "fixed") -> Model:
    """The kinematic tree of an MJCF document, `file` in messages; all meshes that it names are missing.

    Otherwise as `read_mjcf`.
    """
    _check_base(base)
    root = parse(document, file)
    _refuse_other_files(root)
    mujoco = _mujoco()
    try:
        compiled = compiled_without(lambda: mujoco.MjSpec.from_string(document), None)
    except ValueError as error:
        raise _refusal(error, Path(file)) from error
    return _read(compiled, file, "robot")


def model_of(mjmodel: Any) -> Model:
    """The kinematic tree of an `mujoco.MjModel`, as MuJoCo has it now; otherwise as `read_mjcf`."""
    return _read(whole(mjmodel), "the MjModel", "robot")


def _check_base(base: Base) -> None:
    if base != "fixed":
        raise InvalidValue(
            "conflict", f"base must be 'fixed' for an MJCF, whose bodies declare their own freejoints; got {base!r}"
        )


def _mujoco() -> Any:
    return optional("reading MJCF files", "mujoco", "mjcf", "mujoco")


def _compile(load: Callable[[], Any], parse: Callable[[], Any], folder: Path) -> Compiled:
    try:
        return whole(load())
    except ValueError:
        return compiled_without(parse, folder)


def _read(compiled: Compiled, file: str, name: str) -> Model:
    try:
        return _Reader(compiled, file, name).model()
    except UnicodeDecodeError as error:  # MuJoCo keeps names as bytes
        raise ModelError(f"a name cannot be decoded as text: {error}; save it as UTF-8", file=file) from None


def _refuse_other_files(root: Element) -> None:
    """Raises ModelError for the files that a document without a folder cannot include."""
    pending = [root]
    while pending:
        element = pending.pop()
        if element.tag in ("include", "model") and not os.path.isabs(element.attributes.get("file", "/")):
            raise element.error(
                f"it names the file {element.attributes['file']!r}, and a text has no folder in which that could be; "
                "give the path of the MJCF instead"
            )
        pending += element.children


def _refusal(error: ValueError, path: Path) -> ModelError:
    """What MuJoCo says of a file, with its place and what to do."""
    message = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    message = re.sub(r"^(XML )?Error: ", "", message)
    # Line 0 is MuJoCo's for an element of an included file, which it does not name.
    line = re.search(r"[Ll]ine(?: number=| )([1-9]\d*)", message)
    if "xacro:" in message:
        message += f"; {XACRO_MJCF}"
    opening = re.search(r"[Ee]rror opening file '(.*?)'", message)
    if opening is not None:
        message += f"; it is looked for in {path.absolute().parent}: put it there, or mend the name"
    return ModelError(f"MuJoCo refuses the file: {message}", file=str(path), line=int(line[1]) if line else None)


@final
class _Reader:
    """One compiled file on its way to a model; joints, bodies and sites are MuJoCo's indices."""

    def __init__(self, compiled: Compiled, file: str, name: str) -> None:
        self.compiled, self.file = compiled, file
        self.m = m = compiled.model
        self.bodies = [m.body(i).name or f"body{i}" for i in range(m.nbody)]
        self.joints = [m.joint(i).name or f"joint{i}" for i in range(m.njnt)]
        self.efforts = efforts(m)
        self.followers: dict[int, tuple[int, JointFunction]] = {}
        """Driving joint (-1 for none), and how it is followed, by driven joint."""
        self.sites: list[str] = []
        """The names of their frames."""
        self.remarks: list[str] = []
        own = m.names.split(b"\0", 1)[0].decode()
        self.builder = ModelBuilder(name if own == "MuJoCo Model" else own, file=file)

    def model(self) -> Model:
        if self.m.nbody == 1 and not self.m.ngeom and not self.m.nsite:
            raise ModelError(
                "this MJCF has no bodies; if it is a part that another file includes, give that file", file=self.file
            )
        self.note_missing()
        self.ask_for_radians()
        self.couple()
        links = [WORLD]
        for body in range(1, self.m.nbody):
            links += self.add_body(body)
        self.builder.give_way(lambda remark, _: self.remarks.append(remark))
        self.add_sites(links)
        self.add_loops()
        self.add_shapes()
        self.add_visuals()
        cones = [self.joints[j] for j in np.flatnonzero(self.m.jnt_limited) if self.kind(int(j)) is JointKind.SPHERICAL]
        if cones:
            self.remarks.append(f"the cone limits of the ball joints {', '.join(cones)} are ignored")
        home = self.add_postures()
        if self.remarks:
            warnings.warn(f"{self.file}: {'; '.join(self.remarks)}", ModelWarning, stacklevel=4)
        return self.builder.build(home=home)

    def kind(self, joint: int) -> JointKind:
        return _KINDS[self.m.jnt_type[joint]]

    def zero(self, joint: int) -> float:
        """Position of a one-axis joint at which its body stands where the file draws it [rad or m]."""
        return float(self.m.qpos0[self.m.jnt_qposadr[joint]])

    def note_missing(self) -> None:
        """Remark on the files that are not there, and on what is left out for them."""
        missing, pointers = self.compiled.missing, self.compiled.pointers
        if not missing:
            return
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        self.remarks.append(
            f"{len(missing)} mesh file{'s are' if more else ' is'} not found, which kinematics does not need, and "
            f"geoms made of them are left out: {missing[0]}{more}"
        )
        if pointers:
            self.remarks.append(f"{pointers} of them are Git LFS pointers: run 'git lfs pull' in their repository")
        lost = [repr(self.bodies[body]) for body in np.flatnonzero(self.compiled.bodies)]
        if lost:
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            self.remarks.append(f"masses that come of these meshes are left out: {', '.join(lost[:3])}{more}")

    def ask_for_radians(self) -> None:
        """Remark on ranges that look like radians in a file of degrees."""
        hinges = (self.m.jnt_type == _KINDS.index(JointKind.REVOLUTE)) & (self.m.jnt_limited != 0)
        if hinges.sum() > 1 and (np.abs(self.m.jnt_range[hinges]) <= math.radians(2.0 * math.pi)).all():
            self.remarks.append(
                "no hinge turns further than 6.3 degrees from 0; an MJCF is in degrees, so if its ranges are radians, "
                'write <compiler angle="radian"/>'
            )

    # Couplings ---------------------------------------------------------------------------------------------------

    def couple(self) -> None:
        """Read y - y0 = a0 + a1 (x - x0) of the active joint equalities; remark on all others."""
        m = self.m
        lost: Counter[str] = Counter()
        for i in np.flatnonzero(m.eq_active0):
            kind = _EQUALITIES.get(int(m.eq_type[i]), "flex")
            if kind != "joint":
                lost[kind] += kind not in _LOOPS
                continue
            driven, source = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
            name = repr(self.joints[driven])
            constant, *slopes = self.numbers(f"the coupling of {name}", "polycoef", m.eq_data[i, :5]).tolist()
            if driven in self.followers or self.driver(source)[0] == driven:
                self.remarks.append(f"a second coupling of {name} is ignored")
                continue
            constant += self.zero(driven)
            if source < 0 or not any(slopes):
                self.followers[driven] = (-1, JointFunction.polynomial([constant]))
            else:
                rule = JointFunction.polynomial([constant, *slopes], origin=self.zero(source))
                self.followers[driven] = (source, rule)
        if lost := +lost:
            counts = ", ".join(f"{count} {kind}" for kind, count in lost.items())
            self.remarks.append(
                f"equality constraints are ignored ({counts}): only those of joints and bodies are read"
            )

    def driver(self, joint: int) -> tuple[int, JointFunction]:
        """The free joint (-1 for none) that sets `joint`, and how that is followed."""
        function = JointFunction.polynomial([0.0, 1.0])
        while joint in self.followers:
            joint, rule = self.followers[joint]
            function = function.after(rule)
        return joint, function

    def numbers(self, what: str, attribute: str, values: Array) -> Array:
        """Numbers of an element; raises ModelError, with its name, for what no robot has, and MuJoCo lets through."""
        if not (np.abs(values) <= LARGEST).all():
            raise ModelError(
                f"{what} has the {attribute} {values.tolist()}; every number must be finite, and {BOUND}",
                file=self.file,
            )
        return np.array(values)

    def pose(self, what: str, xyz: Array, wxyz: Array) -> SE3:
        """Its pose likewise."""
        if np.linalg.norm(self.numbers(what, "quaternion", wxyz)) < 1e-12:
            raise ModelError(f"{what} has a zero quaternion, which is no rotation", file=self.file)
        return SE3.from_xyz_wxyz(self.numbers(what, "pos", xyz), wxyz)

    # Loops -------------------------------------------------------------------------------------------------------

    def add_loops(self) -> None:
        """Add the active connects and welds: two points, or two poses, that stay together.

        A weld's numbers are its anchor in the second body, then the second body's pose in the first; one without
        `torquescale` is a connect.
        """
        m = self.m
        for i in np.flatnonzero(m.eq_active0).tolist():
            kind = _EQUALITIES.get(int(m.eq_type[i]))
            if kind not in _LOOPS:
                continue
            name = m.eq(i).name or f"{kind}{i}"
            sites = m.eq_objtype[i] == _SITE
            objects = [int(m.eq_obj1id[i]), int(m.eq_obj2id[i])]
            bodies = [int(m.site_bodyid[x]) for x in objects] if sites else objects
            mocap = [body for body in bodies if m.body_mocapid[body] >= 0]
            if mocap:
                self.remarks.append(
                    f"{kind} {name!r} is ignored: {self.bodies[mocap[0]]!r} is a mocap body, led by hand"
                )
                continue
            if self.movers(bodies[0]) == self.movers(bodies[1]):
                self.remarks.append(f"{kind} {name!r} is ignored: no joint moves one of its bodies against the other")
                continue
            data = self.numbers(f"{kind} {name!r}", "data", m.eq_data[i])
            rigid = kind == "weld" and data[10] > 0.0
            if sites:
                first, second = (self.sites[x] for x in objects)
            else:
                first, second = f"{name}/1", f"{name}/2"
                places = (data[:3], data[3:6]) if kind == "connect" else (data[3:6], data[:3])
                turns = (data[6:10] if rigid else _UPRIGHT, _UPRIGHT)
                for frame, body, xyz, wxyz in zip((first, second), bodies, places, turns, strict=True):
                    self.builder.frame(
                        frame,
                        link=self.bodies[body] if body else WORLD,
                        origin=self.pose(f"{kind} {name!r}", xyz, wxyz),
                    )
            self.builder.loop(first, second, "pose" if rigid else "point")

    def movers(self, body: int) -> set[int]:
        """The joints that move a body in the world."""
        found: set[int] = set()
        while body:
            first = int(self.m.body_jntadr[body])
            found |= {j for j in range(first, first + int(self.m.body_jntnum[body])) if self.driver(j)[0] >= 0}
            body = int(self.m.body_parentid[body])
        return found

    # Bodies and sites --------------------------------------------------------------------------------------------

    def add_body(self, body: int) -> list[str]:
        """Add the body's mass and joints, a chain from its parent's link to its own; returns the links added."""
        m, name = self.m, self.bodies[body]
        link = self.bodies[m.body_parentid[body]]
        # The pose in `link` of the body's frame, as it stands before the joints still to come.
        here = self.pose(f"body {name!r}", m.body_pos[body], m.body_quat[body])
        links: list[str] = []
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        for joint in range(first, first + count):
            # Only turns have a centre, which need not be the body's origin.
            turns = self.kind(joint) in (JointKind.REVOLUTE, JointKind.SPHERICAL)
            anchor = self.numbers(f"joint {self.joints[joint]!r}", "pos", m.jnt_pos[joint]) if turns else np.zeros(3)
            whole = joint == first + count - 1 and not anchor.any()
            child = name if whole else f"{name}/{self.joints[joint]}"
            if self.kind(joint) is JointKind.FLOATING:
                here = SE3.identity()  # qpos is the pose in the world
            self.add_joint(joint, link, child, here @ SE3.from_parts(anchor))
            link, here = child, SE3.from_parts(-anchor)
            links.append(child)
        if m.body_mass[body] and not self.compiled.bodies[body]:
            axes = quaternion_matrix(m.body_iquat[body])
            inertia = axes @ np.diag(m.body_inertia[body]) @ axes.T
            self.builder.mass(name, m.body_mass[body], centre=m.body_ipos[body], inertia=inertia)
        if link != name:
            self.builder.joint(f"{name}/fixed", JointKind.FIXED, parent=link, child=name, origin=here)
            links.append(name)
        return links

    def add_joint(self, joint: int, parent: str, child: str, origin: SE3) -> None:
        m, kind, name = self.m, self.kind(joint), self.joints[joint]
        if kind in (JointKind.FLOATING, JointKind.SPHERICAL):
            self.builder.joint(name, kind, parent=parent, child=child, origin=origin)
            return
        axis, zero = self.numbers(f"joint {name!r}", "axis", m.jnt_axis[joint]), self.zero(joint)
        self.numbers(f"joint {name!r}", "ref", np.array(zero))
        lower, upper = map(float, m.jnt_range[joint]) if m.jnt_limited[joint] else (-np.inf, np.inf)
        source, function = self.driver(joint)
        if source < 0:
            offset = float(function(0.0))
            if not lower <= offset <= upper:
                raise ModelError(
                    f"an equality constraint holds joint {name!r} at {offset:g}, outside its range {lower:g} to "
                    f"{upper:g}; widen the range or mend the constraint",
                    file=self.file,
                )
            origin = origin @ _motion(kind, axis, offset - zero)
            self.builder.joint(name, JointKind.FIXED, parent=parent, child=child, origin=origin)
            return
        unlimited = kind is JointKind.REVOLUTE and not m.jnt_limited[joint]
        self.builder.joint(
            name,
            JointKind.CONTINUOUS if unlimited else kind,
            parent=parent,
            child=child,
            # At `zero`, not at 0, the body stands where the file draws it.
            origin=origin @ _motion(kind, axis, -zero),
            axis=axis,
            limits=None if unlimited else (lower, upper),
            effort=float(self.efforts[joint]),
            mimic=None if source == joint else _mimic(self.joints[source], function),
        )

    def add_sites(self, links: list[str]) -> None:
        m = self.m
        for i in range(m.nsite):
            name = m.site(i).name or f"site{i}"
            self.sites.append(f"{name}/site" if name in links else name)
            self.builder.frame(
                self.sites[i],
                link=self.bodies[m.site_bodyid[i]],
                origin=self.pose(f"site {name!r}", m.site_pos[i], m.site_quat[i]),
            )

    def add_shapes(self) -> None:
        m = self.m
        parts: dict[int, list[LinkShape]] = {}
        left_out: Counter[str] = Counter()
        for i in colliding(m)[~self.compiled.geoms[colliding(m)]].tolist():
            what = f"geom {m.geom(i).name!r}" if m.geom(i).name else f"geom {i}"
            pose = self.pose(what, m.geom_pos[i], m.geom_quat[i])
            found = part(m, i, pose, self.numbers(what, "size", m.geom_size[i]))
            if found is None:
                left_out[KINDS[m.geom_type[i]]] += 1
            else:
                parts.setdefault(int(m.geom_bodyid[i]), []).append(found)
        if left_out:
            counts = ", ".join(f"{count} {kind}" for kind, count in left_out.items())
            self.remarks.append(f"geoms that are no solid are ignored ({counts})")
        for body, those in parts.items():
            solids: tuple[LinkShape, ...] = enclosed(those)
            self.builder.shape(self.bodies[body] if body else WORLD, *solids)
        for first, second in never_compared(m):
            self.builder.disable(*(self.bodies[body] if body else WORLD for body in (first, second)))

    def add_visuals(self) -> None:
        m, painted = self.m, colours(self.m)
        for i in seen(m)[~self.compiled.geoms[seen(m)]].tolist():
            what = f"geom {m.geom(i).name!r}" if m.geom(i).name else f"geom {i}"
            try:
                pose = self.pose(what, m.geom_pos[i], m.geom_quat[i])
                drawn = drawn_part(m, i, pose, self.numbers(what, "size", m.geom_size[i]))
            except ValueError as error:  # a ModelError is one
                reason = error.message if isinstance(error, ModelError) else str(error)
                self.remarks.append(f"{what} is not drawn: {reason}")
                continue
            if drawn is not None:
                body = int(m.geom_bodyid[i])
                plain = tuple(painted[i]) == DEFAULT_COLOUR
                visual = Visual(drawn, None if plain else painted[i])
                self.builder.visual(self.bodies[body] if body else WORLD, visual)

    # Postures ----------------------------------------------------------------------------------------------------

    def add_postures(self) -> str:
        """Add the keyframes and `qpos0`; returns the name of the one to start from."""
        m = self.m
        keys = [m.key(i).name or f"key{i}" for i in range(m.nkey)]
        for name, qpos in zip([*keys, "qpos0"], [*m.key_qpos, m.qpos0], strict=True):
            self.builder.posture(name, self.positions(qpos))
        return "home" if "home" in keys else [*keys, "qpos0"][0]

    def positions(self, qpos: Array) -> dict[str, list[float]]:
        """The numbers of `qpos` (nq,) by joint, of the joints that have a place in q."""
        starts = [*map(int, self.m.jnt_qposadr), self.m.nq]
        free = [joint for joint in range(self.m.njnt) if joint not in self.followers]
        return {self.joints[j]: qpos[starts[j] : starts[j + 1]].tolist() for j in free}


def _mimic(leader: str, function: JointFunction) -> Mimic:
    if function.linear is None:
        return Mimic(joint=leader, function=function)
    multiplier, offset = function.linear
    return Mimic(joint=leader, multiplier=multiplier, offset=offset)


def _motion(kind: JointKind, axis: Array, amount: float) -> SE3:
    """The motion of a one-axis joint by `amount` [rad or m]."""
    if kind is JointKind.PRISMATIC:
        return SE3.from_parts(amount * axis)
    return SE3.from_rotvec(np.zeros(3), amount * axis)
