"""Read robots: from files, from text, and by name."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from poise.common.errors import LISTED, InvalidValue, ModelError, NameNotFound
from poise.io.loops_file import BESIDE as BESIDE_LOOPS
from poise.io.loops_file import Loops, Stated, stated_loops
from poise.io.packages import PackageDirs, package_folders
from poise.io.srdf_file import BESIDE, Srdf, chosen_srdf
from poise.io.suffixes import ROBOT_SUFFIXES, SKELETON_SUFFIXES
from poise.io.xacro_args import XacroArgs
from poise.model.builder import Base
from poise.model.model import Model

INSTALLED = "example-robot-data/"
"""Before a name, asks for the installed robot even if a textbook one has the name too."""
SUFFIXES = {*ROBOT_SUFFIXES, *SKELETON_SUFFIXES}
"""Of files that `load` reads."""
_TEXT = "the text"
"""What messages call a robot that is given as text."""


def load(
    source: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    package_dirs: PackageDirs = (),
    xacro_args: XacroArgs | None = None,
    srdf: Srdf = BESIDE,
    loops: Loops = BESIDE_LOOPS,
    joints: Mapping[str, str] | None = None,
) -> Model:
    """The robot of a file (URDF, xacro or MJCF), of a name in `robot_names()`, or of a text; the skeleton of a file.

    A str that begins with `<` is the text of a URDF or MJCF, one that has a suffix or a separator is a path.  Textbook
    robots go before installed ones of the same name; "example-robot-data/panda" is the installed one.  Skeletons are
    those of BVH, glTF and VRM files.  Packages beside poise may bring more names, and readers of more suffixes.

    `base` is how the robot's root is joined to the world: "fixed", "planar" or "floating"; textbook robots stand fixed,
    and a skeleton floats, with spherical joints, in metres, z up (`poise.load_motion` reads its frames too).
    `package_dirs` is a folder, or several, in which to look first for the packages of `package://` and `$(find ...)`.
    `xacro_args` are values of `<xacro:arg>` by name: str, numbers, bool or paths.  Files that end in `.xacro` are
    expanded in any case, others and texts only if it is given, `{}` for none: expressions of xacro are Python and run.
    `srdf` is the file with a URDF's groups, postures and pairs that cannot collide; left out, that of its name beside
    it or in `../srdf`; None: none.

    `loops` close the chains of a mechanism, of which a URDF knows nothing: pairs of frames, `[("rod", "plate"), ("bar",
    "rocker", "hinge")]`, or a file of them, TOML or YAML; left out, the one beside the URDF, `robot.loops.toml` or
    `robot.yaml` for `robot.urdf`; None: none.  `joints` are those that the file could only call hinges, by name or
    pattern, `{"ball_*": "spherical", "knee": "universal"}`; see `Model.with_loops`.  A joint of such a URDF whose
    `<limit>` has no ends has no limits.

    Files that a robot names and that are not there are warned of (ModelWarning), for kinematics needs no meshes.
    Raises ModelError, with file and line, for a file that is no kinematic tree, and with the nearest names for an
    unknown name or argument; MissingExtra if the format needs an extra that is not installed; ValueError for a folder
    that is not there, and for an argument that such a robot cannot take.
    """
    is_text = isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")
    stated = stated_loops(loops, None if is_text else Path(source).expanduser())
    model = _load(source, base, package_dirs, xacro_args, srdf, looped=stated is not None)
    if stated is None and not joints:
        return model
    try:
        beside = stated or Stated([], {}, [])
        kinds = {**beside.joints, **joints} if isinstance(joints, Mapping) else joints or beside.joints
        return model.with_loops(beside.loops, joints=kinds, actuated=beside.actuated)
    except (InvalidValue, ModelError, NameNotFound) as error:
        if stated is None or stated.file is None:
            raise
        raise ModelError(f"{error}; loops=None leaves the loops out", file=stated.file) from None


def _load(
    source: str | os.PathLike[str],
    base: Base,
    package_dirs: PackageDirs,
    xacro_args: XacroArgs | None,
    srdf: Srdf,
    *,
    looped: bool,
) -> Model:
    """The robot as its own file tells of it; `looped`: whether loops are stated beside it."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return _load_text(source.lstrip("\ufeff"), base, package_dirs, xacro_args, srdf, looped)
    if not isinstance(source, str):
        return _load_file(Path(source), base, package_dirs, xacro_args, srdf, looped)
    if Path(source).suffix.lower() not in SUFFIXES:
        model = _load_name(source, base, package_dirs, xacro_args, srdf)
        if model is not None:
            return model
        if not Path(source).suffix and not any(mark in source for mark in ("/", os.sep)):
            raise _unknown(source, robot_names())
    return _load_file(Path(source).expanduser(), base, package_dirs, xacro_args, srdf, looped)


def robot_names() -> tuple[str, ...]:
    """The names that `load` knows: textbook robots, those of an installed `example-robot-data`, those of packages."""
    from poise.io.brought import brought_robots
    from poise.io.installed import installed_robots
    from poise.robots import TEXTBOOK

    return tuple(dict.fromkeys([*TEXTBOOK, *installed_robots(), *brought_robots()]))


def file_of(robot: str) -> Path | None:
    """The file that `load` reads a robot from; None for one that is written in code."""
    from poise.io.brought import brought_robot
    from poise.io.installed import installed_robots
    from poise.robots import TEXTBOOK

    if robot in TEXTBOOK:
        return None
    found: Model | Path | None = installed_robots().get(robot.removeprefix(INSTALLED))
    if found is None and Path(robot).suffix.lower() not in SUFFIXES:
        found = brought_robot(robot)
    return None if isinstance(found, Model) else found or Path(robot).expanduser()


def _load_name(
    name: str, base: Base, package_dirs: PackageDirs, xacro_args: XacroArgs | None, srdf: Srdf
) -> Model | None:
    from poise.io.installed import installed_robots
    from poise.robots import TEXTBOOK

    textbook = TEXTBOOK.get(name)
    installed = installed_robots() if textbook is None else {}
    asked = name.removeprefix(INSTALLED)
    if name.startswith(INSTALLED) and asked not in installed:
        raise _unknown(asked, tuple(installed))
    if textbook is None and asked not in installed:
        return _load_brought(name, base, package_dirs, xacro_args, srdf)
    if package_folders(package_dirs):
        raise InvalidValue("conflict", f"package_dirs is for files; the robot {name!r} knows where its own are")
    if xacro_args is not None:
        raise InvalidValue("conflict", f"xacro_args is for xacro files, and the robot {name!r} is none; leave it out")
    if textbook is None:
        from poise.io.urdf import read_urdf

        return read_urdf(installed[asked], base=base, srdf=srdf)
    _refuse_srdf(srdf, f"the textbook robot {name!r}")
    _refuse_base(base, f"the textbook robot {name!r}")
    return textbook()


def _load_brought(
    name: str, base: Base, package_dirs: PackageDirs, xacro_args: XacroArgs | None, srdf: Srdf
) -> Model | None:
    from poise.io.brought import brought_robot

    found = brought_robot(name)
    if isinstance(found, Path):
        return _load_file(found, base, package_dirs, xacro_args, srdf)
    if found is not None:
        what = f"the robot {name!r} of a package"
        if package_folders(package_dirs) or xacro_args is not None:
            raise InvalidValue(
                "conflict", f"package_dirs and xacro_args are for files, and {what} is none; leave them out"
            )
        _refuse_srdf(srdf, what)
        _refuse_base(base, what)
    return found


def _load_file(
    path: Path,
    base: Base,
    package_dirs: PackageDirs,
    xacro_args: XacroArgs | None,
    srdf: Srdf,
    looped: bool = False,
) -> Model:
    if path.suffix.lower() == ".xacro":
        from poise.io.xacro import read_xacro

        return read_xacro(path, base=base, package_dirs=package_dirs, arguments=xacro_args, srdf=srdf, looped=looped)
    if path.suffix.lower() in SKELETON_SUFFIXES:
        return _load_skeleton(path, base, package_dirs, xacro_args, srdf)
    if path.suffix.lower() not in SUFFIXES:
        model = _read_brought(path, base, package_dirs, xacro_args, srdf)
        if model is not None:
            return model
    if re.match(r"[a-z]{2,}://?[^/]", str(path)):  # two slashes are one to Path
        raise ModelError("this is an address, not a path; download the file, and give its path", file=str(path))
    from poise.io.brought import refuse_absent
    from poise.io.elements import parse, read_bytes, root_tag

    data = read_bytes(path)
    refuse_absent(path)
    if xacro_args is not None:
        from poise.io.xacro import check_xacro, read_xacro

        check_xacro(parse(data, str(path)), str(path))
        return read_xacro(path, base=base, package_dirs=package_dirs, arguments=xacro_args, srdf=srdf, looped=looped)
    if root_tag(data, str(path)) == "mujoco":
        from poise.io.mjcf import read_mjcf

        _refuse_package_dirs(package_dirs, str(path))
        _refuse_srdf(srdf, str(path))
        return read_mjcf(path, base=base)
    from poise.io.urdf import read_urdf

    return read_urdf(path, base=base, package_dirs=package_dirs, srdf=srdf, looped=looped)


def _read_brought(
    path: Path, base: Base, package_dirs: PackageDirs, xacro_args: XacroArgs | None, srdf: Srdf
) -> Model | None:
    """What a package beside poise reads; None where none does."""
    from poise.io.brought import brought_reader, other_than, read_brought

    point = brought_reader(path)
    if point is None:
        return None
    given = {
        "base": None if base == "fixed" else base,
        "package_dirs": package_folders(package_dirs) or None,
        "xacro_args": xacro_args,
        "srdf": None if srdf == BESIDE else srdf,
    }
    found = read_brought(point, path, given)
    model = getattr(found, "model", found)  # of a motion
    if not isinstance(model, Model):
        raise other_than(point, path, found, "Model and no Motion")
    return model


def _load_skeleton(
    path: Path, base: Base, package_dirs: PackageDirs, xacro_args: XacroArgs | None, srdf: Srdf
) -> Model:
    from poise.io.bvh import read_bvh
    from poise.io.gltf import read_gltf

    if base == "planar":
        raise InvalidValue("conflict", f"{path} is a skeleton, whose root floats; leave base out")
    if package_folders(package_dirs) or xacro_args is not None:
        raise InvalidValue(
            "conflict", f"package_dirs and xacro_args are for robots, and {path} is a skeleton; leave them out"
        )
    _refuse_srdf(srdf, str(path))
    return (read_bvh if path.suffix.lower() == ".bvh" else read_gltf)(path).model()


def _load_text(
    text: str, base: Base, package_dirs: PackageDirs, xacro_args: XacroArgs | None, srdf: Srdf, looped: bool
) -> Model:
    from poise.io.elements import parse
    from poise.io.foreign import refuse_foreign
    from poise.io.packages import Packages

    refuse_foreign(text[:256].encode(errors="replace"), _TEXT)
    root = parse(text, _TEXT)
    if xacro_args is not None:
        from poise.io.xacro import check_xacro, parse_xacro

        check_xacro(root, _TEXT)
        return parse_xacro(
            text, file=_TEXT, base=base, package_dirs=package_dirs, arguments=xacro_args, srdf=srdf, looped=looped
        )
    if root.tag == "mujoco":
        from poise.io.mjcf import parse_mjcf

        _refuse_package_dirs(package_dirs, _TEXT)
        _refuse_srdf(srdf, _TEXT)
        return parse_mjcf(text, file=_TEXT, base=base)
    from poise.io.urdf import parse_urdf

    return parse_urdf(
        text, file=_TEXT, name="robot", base=base, packages=Packages(None, package_dirs), srdf=chosen_srdf(srdf, None),
        looped=looped,
    )  # fmt: skip


def _refuse_package_dirs(package_dirs: PackageDirs, what: str) -> None:
    if package_folders(package_dirs):
        raise InvalidValue(
            "conflict",
            f"package_dirs is for URDF and xacro files, and {what} is an MJCF, whose <compiler> says where its files "
            "are: leave it out",
        )


def _refuse_srdf(srdf: Srdf, what: str) -> None:
    if srdf is not None and srdf != BESIDE:
        raise InvalidValue("conflict", f"srdf is for URDF and xacro files, and {what} is none: leave it out")


def _refuse_base(base: Base, what: str) -> None:
    if base != "fixed":
        raise InvalidValue("conflict", f"{what} stands fixed; base={base!r} is for robots read from files")


def _unknown(name: str, known: tuple[str, ...]) -> ModelError:
    from poise.io.installed import installed_robots

    parts = [NameNotFound(name, known, owner="the list of robots").message]
    parts += ["`poise info` lists them"] if len(known) > LISTED else []
    parts += [] if installed_robots() else ['more robots come with: pip install "poise[robots]"']
    return ModelError("; ".join(parts).replace("?; ", "? "))
