"""How long files of motion take to be read: BVH and GLB, beside others who read them; and joints given by their places.

The files are those of Debian's assimp-testmodels, or where ASSIMP_TESTMODELS says, and the climbs of
holosoma-retargeting, or where HOLOSOMA says; what is not there is left out.  Readers take turns.
"""

import importlib.util
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from report import print_table

import poise as pz

ROUNDS = 9
ASSIMP = Path(os.environ.get("ASSIMP_TESTMODELS", "/usr/share/assimp/models"))
WALK, UNIT = ASSIMP / "BVH" / "01_03.bvh", 0.0254 / 0.45
"""CMU subject 1, 4,511 frames of 31 joints; its unit of length [m]."""
ARM = ("Hips", "LeftHand")
"""The one chain of it that ikpy reads at a time."""


@dataclass(frozen=True)
class Read:
    """What a reader took for a file."""

    what: str
    reader: str
    frames: int
    median: float
    """[s]"""
    worst: float
    """[s]"""
    bar: float | None = None
    """[s] what poise promises."""


def motions() -> list[Read]:
    """All rows for which there are files and libraries."""
    rows = list[Read]()
    if WALK.exists():
        walk = pz.load_motion(WALK)
        with tempfile.TemporaryDirectory() as folder:
            glb = Path(folder) / "walk.glb"
            walk.save(glb)
            rows += turns(f"BVH of CMU, {WALK.stat().st_size / 1e6:.1f} MB", len(walk), readers_of_bvh(), 0.3)
            size = glb.stat().st_size / 1e6
            rows += turns(f"the same as GLB, {size:.1f} MB", len(walk), readers_of_glb(glb), 0.1)
    else:
        print(f"{WALK} is missing: apt-get install assimp-testmodels")
    if climb := climbs():
        names, parents, places = climb
        readers = {"poise": lambda: pz.motion_from_positions(places, names, parents, fps=30.0)}
        rows += turns(f"places of {len(names)} joints, by solving", len(places), readers, None)
    return rows


def readers_of_bvh() -> dict[str, Callable[[], Any]]:
    """Each gives every joint's rotation and place in its own way; ikpy the angles of one chain."""
    readers: dict[str, Callable[[], Any]] = {
        "poise": lambda: pz.load_motion(WALK),
        "poise, with the places of all joints": lambda: pz.load_motion(WALK).positions(),
    }
    if importlib.util.find_spec("pybvh"):
        import pybvh

        readers["pybvh"] = lambda: pybvh.read_bvh_file(WALK)
        readers["pybvh, with the places of all joints"] = lambda: pybvh.read_bvh_file(WALK).node_positions()
    if importlib.util.find_spec("ikpy"):
        from ikpy.bvh import BVH

        readers["ikpy, one arm"] = lambda: BVH.get_bvh_motion(str(WALK), base_elements=list(ARM), scale=UNIT)
    return readers


def readers_of_glb(file: Path) -> dict[str, Callable[[], Any]]:
    """pygltflib gives the numbers of the file, and no poses."""
    readers: dict[str, Callable[[], Any]] = {"poise": lambda: pz.load_motion(file)}
    if importlib.util.find_spec("pygltflib"):
        import pygltflib

        def numbers() -> list[np.ndarray]:
            other = pygltflib.GLTF2().load(str(file))
            data = other.binary_blob()
            views = [other.bufferViews[accessor.bufferView] for accessor in other.accessors]
            return [np.frombuffer(data, "<f4", view.byteLength // 4, view.byteOffset or 0) for view in views]

        readers["pygltflib, numbers alone"] = numbers
    return readers


def climbs() -> tuple[list[str], list[str | None], np.ndarray] | None:
    """Names and parents of the joints of the longest climb, and where they are (frames, joints, 3) [m]."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from support import captures

    if captures.HOLOSOMA is None:
        print("the climbs are missing: pip install --no-deps holosoma-retargeting")
        return None
    return *captures.climber(), max(map(np.load, captures.climbs()), key=len)


def turns(what: str, frames: int, readers: dict[str, Callable[[], Any]], bar: float | None) -> list[Read]:
    """Each reader ROUNDS times, one after the other, after a first time that is not counted."""
    took: dict[str, list[float]] = {name: [] for name in readers}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(ROUNDS + 1):
            for name, read in readers.items():
                begin = perf_counter()
                read()
                took[name].append(perf_counter() - begin)
    return [
        Read(what, name, frames, float(np.median(seconds[1:])), max(seconds[1:]), bar if name == "poise" else None)
        for name, seconds in took.items()
    ]


def show(rows: list[Read]) -> None:
    """Print them as Markdown."""
    print("\nFiles of motion\n")
    cells = []
    for row in rows:
        times = [f"{1e3 * seconds:.4g}" for seconds in (row.median, row.worst)]
        cells.append([row.what, row.reader, f"{row.frames:,}", *times, f"{1e3 * row.bar:.4g}" if row.bar else ""])
    print_table(["what", "reader"], ["frames", "median, ms", "worst, ms", "bar, ms"], cells)


if __name__ == "__main__":
    show(motions())
