"""Where the problems come from: four sets of a hundred lie here, all seven are in an archive that may be named.

Those here are of MotionBenchMaker (Chamzas et al. 2022; BSD 3-Clause, see `problems.LICENSE`), to micrometres and
microradians.  The archive is `resources/panda/problems.tar.bz2` of KavrakiLab/vamp.
"""

import gzip
import json
import os
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from poise import SE3
from poise.extending import optional
from poise_experiments.motion_bench_maker.problem import Obstacle, Problem

SETS: Final = ("bookshelf_small", "bookshelf_tall", "bookshelf_thin", "box", "cage", "table_pick", "table_under_pick")
ARCHIVE: Final = "MOTION_BENCH_MAKER"
"""The environment variable that names the archive."""
Sets = Mapping[str, Sequence[Problem]]
_MEMBER: Final = re.compile(r"problems/(\w+)_panda/(scene|request)(\d+)\.yaml")


def problem_sets() -> Sets:
    """The problems by the name of their set, in the order of SETS: of the archive if one is named, else those here."""
    named = os.environ.get(ARCHIVE)
    found = _from_archive(Path(named)) if named else _from_here()
    return {name: found[name] for name in SETS if name in found}


def _from_here() -> Sets:
    packed = files("poise_experiments.motion_bench_maker").joinpath("problems.json.gz").read_bytes()
    return {name: list(_unpacked(**some)) for name, some in json.loads(gzip.decompress(packed))["sets"].items()}


def _unpacked(obstacles: list[Any], goals: list[Any], poses: list[Any]) -> Iterator[Problem]:
    """The problems of a set, whose scenes differ only in where things stand."""
    kinds = [(name, kind, tuple(size)) for name, kind, *size in obstacles]
    for number, (goal, places) in enumerate(zip(goals, poses, strict=True), start=1):
        stand = [SE3.from_xyz_wxyz(place[:3], place[3:]) for place in places]
        scene = tuple(Obstacle(*kind, pose) for kind, pose in zip(kinds, stand, strict=True))
        yield Problem(number, np.array(goal), scene)


def _from_archive(path: Path) -> Sets:
    yaml = optional("reading MotionBenchMaker's archive", "PyYAML", "hands", "yaml")
    if not path.is_file():
        raise ValueError(f"{ARCHIVE} names {path}, which is no file: it should be vamp's problems.tar.bz2 of a Panda")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    read: dict[tuple[str, int], dict[str, Any]] = defaultdict(dict)
    with tarfile.open(path) as archive:
        for member in archive:
            if parts := _MEMBER.fullmatch(member.name):
                text = archive.extractfile(member)
                read[parts[1], int(parts[3])][parts[2]] = yaml.load(text, loader)
    found: dict[str, list[Problem]] = defaultdict(list)
    for (name, number), both in sorted(read.items()):
        found[name].append(Problem(number, _goal(both["request"]), tuple(_obstacles(both["scene"]))))
    return found


def _goal(request: Any) -> np.ndarray:
    """(7,) of a request as MoveIt writes it."""
    at = {each["joint_name"]: each["position"] for each in request["goal_constraints"][0]["joint_constraints"]}
    return np.array([at[f"panda_joint{k}"] for k in range(1, 8)])


def _obstacles(scene: Any) -> Iterator[Obstacle]:
    """Those of a scene as MoveIt writes it, of one shape each."""
    for each in scene["world"]["collision_objects"]:
        (shape,), (pose,) = each["primitives"], each["primitive_poses"]
        at = SE3.from_xyz_xyzw(pose["position"], pose["orientation"])
        yield Obstacle(each["id"], shape["type"], tuple(shape["dimensions"]), at)
