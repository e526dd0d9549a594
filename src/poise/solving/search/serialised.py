"""A prepared solver or tracker as a file that `libpoise` loads, see `kernels/serialised.py`."""

import hashlib
import os
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.common.files import write_whole
from poise.kernels.machine import layout
from poise.kernels.machine.jit import SIGNATURES, function_of, symbol
from poise.kernels.machine.kinds import NARROW, WIDE
from poise.kernels.machine.layout import CALL, WIDTH
from poise.kernels.machine.record import Record
from poise.kernels.machine.work import SECTIONS
from poise.kernels.serialised import FIXED, FUNCTION, IMAGE, MAGIC, OBSTACLE, TRACKER, WORK
from poise.model.kinematics import query_of_all
from poise.model.model import Model
from poise.model.scene import Scene
from poise.solving.problem.workspace import ADDRESSES, ENTRY_POINTS, Bound, Scratch
from poise.tasks.base import Task

Words = npt.NDArray[np.int64]
_CHUNK: Final = 8
"""Iterations between two looks at a deadline."""


@cache
def layout_number() -> int:
    """What changes with any record of a problem, a workspace, a lane, a call, a method or a file."""
    from poise.kernels.methods.routines import ROUTINES
    from poise.methods.registry import METHODS

    list(METHODS.values())  # each makes its routines
    sections = {**layout.PROBLEM, **SECTIONS}
    keys = [f"{name} {kind.key if isinstance(kind, Record) else ''}" for name, kind in sections.items()]
    keys += [f"lanes {layout.STATE} {layout.BRANCHES} {layout.CHOICE}"]
    keys += [IMAGE.key, CALL.key, OBSTACLE.key, *sorted(routine.record.key for routine in ROUTINES.values())]
    return int.from_bytes(hashlib.sha256("\n".join(keys).encode()).digest()[:6], "little")


def version_number(version: str) -> int:
    """1,000,000 major + 1,000 minor + patch."""
    major, minor, patch = (int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")[:3])
    return 1_000_000 * major + 1_000 * minor + patch


@final
class _Contents:
    """What a file is made of, as it grows."""

    def __init__(self) -> None:
        self.fixed: list[Words] = []
        self.work: list[tuple[int, Words]] = []
        self.links: list[tuple[int, int, int]] = []
        self.functions: list[str] = []
        self.ends = {FIXED: 0, WORK: 0}

    def add_fixed(self, words: Any) -> int:
        """Put words into what is fixed; where they are."""
        at = self.ends[FIXED]
        self.fixed.append(np.ascontiguousarray(words).view(np.int64).ravel())
        self.ends[FIXED] += len(self.fixed[-1])
        return at

    def lay(self, words: Any) -> int:
        """Put words into the work of a thread, where a line of the cache begins; where they are."""
        at = self.ends[WORK]
        self.work.append((at, np.ascontiguousarray(words).view(np.int64).ravel()))
        self.ends[WORK] = -(-(at + len(self.work[-1][1])) // WIDTH) * WIDTH
        return at

    def reserve(self, count: int) -> int:
        """Room for so many numbers in the work of a thread."""
        return self.lay(np.zeros(count))

    def link(self, kind: int, place: int, target: int) -> None:
        self.links.append((kind, place, target))

    def call(self, function: str, place: int) -> None:
        """Let a word of what is fixed be the address of a function."""
        if function not in self.functions:
            self.functions.append(function)
        self.link(FUNCTION, place, self.functions.index(function))

    def entry(self, name: str) -> int:
        """A word of what is fixed that is the address of an entry point; where it is."""
        at = self.add_fixed(np.zeros(1, dtype=np.int64))
        self.call(symbol(name, SIGNATURES.get(function_of(name), ())), at)
        return at

    def table(self, bound: Bound, width: str) -> int:
        """A table of the routines of a problem, for workspaces of this width; where it is."""
        at = self.add_fixed(np.zeros(len(bound.routines), dtype=np.int64))
        for place, (function, *signature) in bound.jobs(width).items():
            self.call(symbol(function, tuple(signature)), at + place)
        return at

    def record(self, bound: Bound, scratch: Scratch, seen: Mapping[str, int] = MappingProxyType({})) -> dict[str, int]:
        """Lay out the record of a call and all that it tells of; where in the work they are.

        `seen` is where the shapes are, for one whose shapes another has laid out.
        """
        words = scratch.call.copy()
        place = {name: field.word for name, field in CALL.fields.items()}
        for name in (*ADDRESSES, "trace_rows"):
            words[place[name]] = 0
        words[place["chunk"]] = _CHUNK
        if words[place["closes_loops"]]:  # which Python does; nothing else begins steps where loops are closed
            words[place["closes_loops"]], words[place["keeps_by_steps"]] = 0, 0
        at = {"call": self.lay(words), "narrow": self.lay(scratch.narrow)}
        fields = {name: (WORK, at[name]) for name in ("narrow",)}
        fields["problem"] = FIXED, self.add_fixed(bound.problem.words)
        fields["routines"] = FIXED, self.table(bound, NARROW)
        if scratch.wide is not None:
            fields["wide"] = WORK, self.reserve(scratch.wide.size)
            fields["wide_routines"] = FIXED, self.table(bound, WIDE)
        if scratch.scene is not None:
            seen = seen or {"scene": self.lay(scratch.scene.words), "scene_work": self.lay(scratch.scene.narrow)}
            at |= seen
            fields |= {name: (WORK, at[name]) for name in seen}
        if scratch.near is not None:
            fields["near"] = WORK, self.reserve(scratch.near.size)
        for name, inner in scratch.bounds.items():
            fields[name] = WORK, self.record(inner, scratch.inner[name], seen)["call"]
        if scratch.following is not None:
            at["following_work"] = self.lay(scratch.following_work)
            fields["following"] = FIXED, self.add_fixed(scratch.following.words)
            fields |= {"following_work": (WORK, at["following_work"]), "past": (WORK, self.reserve(scratch.past_words))}
        if scratch.scout is not None:
            fields["scout"] = WORK, self.reserve(scratch.scout.size)
        if bound.proposer is not None and scratch.proposer is not None:
            fields["proposer"] = WORK, self.record(bound.proposer, scratch.proposer)["call"]
        for name, (kind, target) in fields.items():
            self.link(kind, at["call"] + place[name], target)
        return at

    def presets(self) -> Words:
        """Where the work does not begin with zeros: a place, a count, and so many words, again and again."""
        found: list[Any] = []
        for at, words in self.work:
            filled = np.flatnonzero(words)
            for run in np.split(filled, np.flatnonzero(np.diff(filled) > 2) + 1):
                if len(run):
                    some = words[run[0] : run[-1] + 1]
                    found += [[at + run[0], len(some)], some]
        return np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)


def written(
    file: str | os.PathLike[str],
    kind: int,
    model: Model,
    tasks: Sequence[Task],
    bound: Bound,
    scratch: Scratch,
    targets: Array,
    *,
    home: Array,
    constrained: bool = False,
) -> None:
    """Write the file of a solver or a tracker, whose `targets` are the numbers that its tasks begin with; `home` (nq,)
    is where one begins, and `constrained` is of a solver whose answers keep more than limits of joints."""
    from poise import __version__

    contents, head = _Contents(), np.zeros(1, dtype=IMAGE.dtype)[0]
    frame_tasks = [task for task in tasks if task.blocks]
    posture = model.nq if len(frame_tasks) < len(tasks) else 0
    at = contents.record(bound, scratch)
    guide = "guide" if kind == TRACKER else "posture_goal"
    rows = {name: at["narrow"] + bound.problem.rows(name).start for name in ("goal", guide, "start", "out")}
    frames = [model.frame(name) for name in model.frames]
    query = query_of_all(model, frames)
    scene = scratch.scene
    for name in () if scene is None else scene.clouds:
        raise InvalidValue(
            "not-exportable",
            f"{name!r} is a cloud of points or a height map, which no file holds; leave it out of the world",
        )
    obstacles = _obstacles(scene)
    head["magic"], head["layout"], head["version"] = MAGIC, layout_number(), version_number(__version__)
    head["held"] = constrained
    head["kind"], head["nq"], head["nv"] = kind, model.nq, model.nv
    head["tasks"], head["posture"] = len(frame_tasks), posture
    head["blocks"], head["frames"] = bound.problem.blocks, len(frames)
    head["shapes"], head["obstacles"] = 0 if scene is None else len(scene.names), len(obstacles)
    head["call"], head["start"] = at["call"], rows["start"]
    head["out"] = rows["out"] + layout.ANSWER * (kind == TRACKER)
    head["goal"], head["guide"] = rows["goal"], rows[guide]
    head["measured"] = at["following_work"] + scratch.measured_row if kind == TRACKER else 0
    head["frame_words"], head["column_words"] = query.frames, query.columns
    head["pose_frames"], head["pose_linear"], head["pose_angular"], head["pose_all"], head["pose_out"] = (
        contents.reserve(count) for count in (query.frames, query.columns, query.columns, 7 * len(frames), 6 * model.nv)
    )
    head["query"] = contents.add_fixed(query.words)
    if scene is not None:
        head["scene"], head["scene_work"], head["sight"] = at["scene"], at["scene_work"], contents.lay(scene.narrow)
        head["nearest"], head["place"] = (
            contents.entry(f"collision.queries.{name}") for name in ("nearest_at", "place")
        )
    head["run"] = contents.entry(ENTRY_POINTS[bound.parts[0]])
    head["poses"], head["jacobians"] = (contents.entry(f"kinematics.query.{name}") for name in ("poses", "jacobians"))
    head["lower"], head["upper"], head["home"] = map(contents.add_fixed, (model.lower, model.upper, home))
    head["targets"] = contents.add_fixed(targets)
    head["reads"] = contents.add_fixed(np.array([task.goal_read for task in frame_tasks], dtype=np.int64))
    head["movable"] = contents.add_fixed(obstacles)
    names = [
        *contents.functions,
        *(next(iter(task.frame_names), "") for task in frame_tasks),
        *model.coordinates,
        *model.frames,
    ]
    names += [] if scene is None else [*scene.names, *(scene.names[one["shape"]] for one in obstacles)]
    text = b"".join(name.encode() + b"\0" for name in names)
    parts = {
        "fixed": np.concatenate(contents.fixed),
        "presets": contents.presets(),
        "links": np.array(contents.links, dtype=np.int64).ravel(),
        "names": np.frombuffer(text + bytes(-len(text) % 8), dtype=np.int64),
    }
    counts = {"fixed": "fixed_words", "presets": "preset_words", "links": "link_count"}
    end = IMAGE.words
    for name, words in parts.items():
        head[name], end = end, end + len(words)
        if name in counts:
            head[counts[name]] = len(words) // (3 if name == "links" else 1)
    head["length"], head["work_words"], head["functions"] = end, contents.ends[WORK], len(contents.functions)
    whole = np.concatenate([np.frombuffer(head.tobytes(), dtype=np.int64), *parts.values()])
    place = IMAGE.fields["sum"].word
    whole[place] = zlib.crc32(whole[place + 1 :].astype("<i8").tobytes())
    write_whole(file, whole.astype("<i8").tobytes())


def _obstacles(scene: Scene | None) -> Any:
    """OBSTACLEs of what stands in the world of a scene."""
    found = [] if scene is None else scene.obstacles
    out = np.zeros(len(found), dtype=OBSTACLE.dtype)
    for one, (shape, core) in zip(out, found, strict=True):
        one["shape"], one["core"] = shape, core.array
    return out
