"""People on a G1 whose links are kept apart, beside the same without: what it costs in likeness, contacts and time.

The clips are CMU's 01_01 and 01_03 and a boxer of Debian's assimp-testmodels, or where ASSIMP_TESTMODELS says, a walk
that is made here, and DeepMimic's (Peng et al. 2018) from the folder that DEEPMIMIC names.  Which links meet is judged
by coal, with the convex hulls of the robot's own meshes in Pinocchio: all pairs that no joint joins and that are apart
at neutral.  Times are CPU time of whole calls, the least of some, in turns.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import thread_time

import coal
import numpy as np
import pinocchio as pin
from lying import clip
from report import print_table
from retarget import clips
from robots import humanoid

import poise as pz

CLIPS = ("walk", "run", "jump", "dance_a", "dance_b", "punch", "kick", "cartwheel", "crawl", "getup_facedown")
MOST = 800
"""Frames of a clip."""
ROUNDS = 2
JUDGED = 200
"""Frames of a clip that are judged."""
DEEP = 5e-4
"""What is less deep in one another is none: hulls of both sides are rounded differently [m]."""


@dataclass(frozen=True)
class Met:
    """One clip with one list of limits."""

    clip: str
    limits: str
    meets: float
    """Frames with links in one another, percent."""
    deepest: float
    """[mm]"""
    pair: str
    """The links that meet most often."""
    direction: float
    """Between the limbs of both, mean [deg]."""
    kept: float
    """Contacts that it has too, percent."""
    skate: float
    """Percent of the frames in contact."""
    jerk: float
    """By the source's, of frames 1/30 s apart."""
    slower: float
    """Times the call without."""


def limits() -> dict[str, "bool | list[pz.CollisionLimit]"]:
    """What is compared."""
    floor = pz.World({"floor": pz.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))})
    return {
        "none": True,
        "0 mm": [pz.CollisionLimit(min_distance=0.0)],
        "10 mm": [pz.CollisionLimit()],
        "10 mm and a floor": [pz.CollisionLimit(floor)],
    }


class Judge:
    """A G1 in Pinocchio, with hulls in coal."""

    def __init__(self, robot: pz.Model) -> None:
        file = str(humanoid().urdf)
        self.model = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer())
        self.shapes = pin.buildGeomFromUrdf(self.model, file, pin.COLLISION, package_dirs=[str(Path(file).parents[4])])
        for shape in self.shapes.geometryObjects:
            if isinstance(shape.geometry, coal.BVHModelBase):
                shape.geometry.buildConvexHull(True, "Qt")
                shape.geometry = shape.geometry.convex
        self.data = self.model.createData()
        self.links = [self.model.frames[shape.parentFrame].name for shape in self.shapes.geometryObjects]
        self.columns = [robot.index(name).start for name in self.model.names[2:]]
        self.shapes.addAllCollisionPairs()
        apart = {pair for pair, distance in self._distances(robot.neutral).items() if distance > 0.0}
        parents = [shape.parentJoint for shape in self.shapes.geometryObjects]
        for pair in list(self.shapes.collisionPairs):
            one, other = parents[pair.first], parents[pair.second]
            joined = one == other or self.model.parents[one] == other or self.model.parents[other] == one
            if joined or self._names(pair) not in apart:
                self.shapes.removeCollisionPair(pair)

    def depths(self, q: np.ndarray) -> dict[tuple[str, str], float]:
        """How deep the links are in one another that meet at q, which is in the order of poise [m]."""
        return {pair: -distance for pair, distance in self._distances(q).items() if distance < -DEEP}

    def _distances(self, q: np.ndarray) -> dict[tuple[str, str], float]:
        """The distance of each pair of links at q [m]."""
        theirs = np.concatenate([q[:3], q[4:7], q[3:4], q[self.columns]])
        placed = pin.GeometryData(self.shapes)
        pin.computeDistances(self.model, self.data, self.shapes, placed, theirs)
        out: dict[tuple[str, str], float] = {}
        for pair, found in zip(self.shapes.collisionPairs, placed.distanceResults, strict=True):
            names = self._names(pair)
            out[names] = min(out.get(names, np.inf), found.min_distance)
        return out

    def _names(self, pair: pin.CollisionPair) -> tuple[str, str]:
        """The two links, in the order of the alphabet."""
        one, other = sorted((self.links[pair.first], self.links[pair.second]))
        return one, other


def recordings() -> Iterator[tuple[str, pz.Motion]]:
    """Those that are there."""
    for name, motion in clips():
        start = min(600, max(len(motion) - MOST, 0)) if name.startswith("CMU 01_01") else 0
        yield name, motion[start : start + MOST]
    folder = os.environ.get("DEEPMIMIC")
    if folder is None:
        print("DeepMimic's are missing: pip install pybullet; DEEPMIMIC=FOLDER of pybullet_data/data/motions")
        return
    for name in CLIPS:
        yield name, clip(Path(folder) / f"humanoid3d_{name}.txt")


def measured(name: str, motion: pz.Motion, robot: pz.Model, judge: Judge) -> Iterator[Met]:
    """A clip with each list of limits."""
    stated = limits()
    taken = {label: [] for label in stated}
    done = {label: pz.retarget(motion[:2], robot, limits=some) for label, some in stated.items()}
    for _ in range(ROUNDS):
        for label, some in stated.items():
            began = thread_time()
            done[label] = pz.retarget(motion, robot, limits=some)
            taken[label].append(thread_time() - began)
    for label, one in done.items():
        path = one.motion.q[:: max(1, len(motion) // JUDGED)]
        depths = [judge.depths(q) for q in path]
        pairs = Counter(pair for found in depths for pair in found)
        report = one.report
        yield Met(
            name,
            label,
            100.0 * float(np.mean([bool(found) for found in depths])),
            1e3 * max((depth for found in depths for depth in found.values()), default=0.0),
            " and ".join(pairs.most_common(1)[0][0]) if pairs else "",
            float(np.degrees(np.nanmean(report.tracking.direction))),
            100.0 * report.ground.kept,
            100.0 * report.skate.share,
            report.slow_jerk.ratio,
            min(taken[label]) / min(taken["none"]),
        )


def show(rows: list[Met]) -> None:
    """Print them as Markdown."""
    heads = ["meets %", "deepest mm", "direction deg", "contacts kept %", "skate %", "jerk ratio", "times the call"]
    cells = [
        [
            one.clip,
            one.limits,
            *(f"{v:.3g}" for v in (one.meets, one.deepest)),
            f"{one.direction:.2f}",
            *(f"{v:.3g}" for v in (one.kept, one.skate, one.jerk, one.slower)),
        ]
        for one in rows
    ]
    print_table(["clip", "limits"], heads, cells)
    for one in rows:
        if one.pair:
            print(f"{one.clip}, {one.limits}: most often {one.pair}")


if __name__ == "__main__":
    robot = pz.load(humanoid().urdf, base="floating")
    judge = Judge(robot)
    chosen = sys.argv[1:]
    show(
        [
            row
            for name, motion in recordings()
            if not chosen or name in chosen
            for row in measured(name, motion, robot, judge)
        ]
    )
