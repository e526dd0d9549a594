"""A motion: the configurations of a model at times, read from files and written to them."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, SupportsIndex, cast, final, overload

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.common.errors import InvalidValue, ModelError, ShapeError
from poise.common.files import write_whole
from poise.io.brought import (
    brought_suffixes,
    is_table,
    other_than,
    read_brought,
    refuse_absent,
    write_brought,
)
from poise.io.bvh import read_bvh
from poise.io.bvh_writer import write_bvh
from poise.io.gltf import read_gltf
from poise.io.gltf_writer import write_gltf
from poise.io.skeleton import SkeletonFile, SkeletonJoint, Up, check_arguments, refuse_no_frames
from poise.io.stature import height, unit_of
from poise.io.suffixes import EXTRA_SUFFIXES, GLTF_SUFFIXES, SKELETON_SUFFIXES, STORAGE_SUFFIXES, TABLE_SUFFIXES
from poise.model.frame import WORLD
from poise.model.joint import JointKind
from poise.model.model import Model, a_model
from poise.model.units import units
from poise.motion.storage import write_storage
from poise.motion.tables import Quaternion, columns_of, read_table, refuse_uneven, up_of, write_csv
from poise.spatial import frozen

_WRITTEN: Final = (".bvh", ".glb", ".gltf", *TABLE_SUFFIXES)
_STILL = 1e-9
"""How far a joint may move against its parent and not be given places in a BVH [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Configurations of a model over time; a copy of what it is given, and never changed.

    Raises ShapeError for arrays that do not fit, ValueError for no frame, for numbers that are not finite, for a zero
    quaternion, for times that do not grow, and for an axis or a unit that is none.
    """

    model: Model
    times: Array
    """(frames,) growing [s]."""
    q: Array
    """(frames, nq) [rad or m]; quaternions have unit length."""
    name: str = ""
    up: Up = "z"
    """The axis that is up."""
    unit: float = 1.0
    """Metres that one unit of length in its file is; here all lengths are metres."""
    notes: tuple[str, ...] = ()
    """What was assumed and mended while reading, in words."""
    bones: Mapping[str, str] = field(default_factory=dict)
    """By bone of a humanoid, in the words of VRM such as `leftUpperLeg`, the joint of the model that it is, where the
    file says so: `retarget` then guesses no names."""

    def __post_init__(self) -> None:
        a_model(self.model)
        check_arguments(self.unit, str(self.up), None)
        times = np.array(finite("times", self.times))
        unit = self.model.normalize(self.q)
        q = np.where(np.abs(unit - self.q) < 1e-15, self.q, unit)  # number for number, where there is nothing to mend
        if times.ndim != 1 or q.shape != (len(times), self.model.nq):
            raise ShapeError(
                f"a motion needs times (frames,) and q (frames, {self.model.nq}), got {times.shape} and {q.shape}"
            )
        if not len(times):
            raise InvalidValue("empty", "a motion needs at least one frame, got none")
        if (np.diff(times) <= 0.0).any():
            raise InvalidValue(
                "inconsistent", f"times must grow; times[{int(np.argmax(np.diff(times) <= 0.0)) + 1}] does not"
            )
        object.__setattr__(self, "times", frozen(times))
        object.__setattr__(self, "q", frozen(q))
        for joint in self.bones.values():
            self.model.joint(joint)
        object.__setattr__(self, "bones", MappingProxyType(dict(self.bones)))

    def __reduce__(self) -> tuple[object, ...]:
        known = (self.model, self.times, self.q, self.name, self.up, self.unit, self.notes, dict(self.bones))
        return Motion, known  # arrays stay frozen

    def __repr__(self) -> str:
        rate = f" in {self.duration:.4g} s, {self.fps:.4g} a second" if len(self) > 1 else ""
        return f"Motion({self.name!r}, {len(self)} frame{'s' if len(self) > 1 else ''}{rate}, of {self.model.name!r})"

    def __len__(self) -> int:
        """How many frames it has."""
        return len(self.times)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> "Motion": ...
    def __getitem__(self, index: SupportsIndex | slice) -> "Array | Motion":
        """(nq,) the configuration of a frame, or the motion of a slice of them, which keeps their times."""
        if not isinstance(index, slice):
            return cast(Array, self.q[index])
        if not len(self.times[index]):
            raise InvalidValue(
                "empty", f"frames {index.start} to {index.stop} of {len(self)} are none; a motion needs one"
            )
        return replace(self, times=self.times[index], q=self.q[index])

    def __iter__(self) -> Iterator[Array]:
        """The configurations (nq,), frame by frame."""
        return iter(self.q)

    @property
    def duration(self) -> float:
        """From the first frame to the last [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def fps(self) -> float:
        """Frames a second, on average; 0 for a single frame."""
        return (len(self) - 1) / self.duration if len(self) > 1 else 0.0

    def at(self, time: ArrayLike) -> Array:
        """(..., nq) the configurations at times (...) [s]; turns are even between two frames.

        Before the first frame and after the last one it stands still.  Raises ValueError for a time that is not finite.
        """
        asked = np.clip(finite("time", time), self.times[0], self.times[-1])
        if len(self) == 1:
            return np.broadcast_to(self.q[0], (*asked.shape, self.model.nq)).copy()
        k = np.clip(np.searchsorted(self.times, asked, side="right") - 1, 0, len(self) - 2)
        share = (asked - self.times[k]) / (self.times[k + 1] - self.times[k])
        way = self.model.difference(self.q[k], self.q[k + 1])
        return self.model.integrate(self.q[k], share[..., None] * way)

    def positions(self, frames: Sequence[str] | None = None) -> Array:
        """(frames of the motion, n, 3) where the named frames of the model are [m]; without names, all of its links.

        Raises FrameNotFound, with the nearest names.
        """
        return self.model.poses(self.q, self.model.links if frames is None else frames).xyz

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        unit: float | None = None,
        quaternion: Quaternion = "wxyz",
        header: bool = True,
        joints: Sequence[str] | None = None,
        format: str | None = None,
        fps: float | None = None,
        bodies: Sequence[str] | None = None,
    ) -> None:
        """Write a BVH, glTF, CSV or NPZ file, or a table of OpenSim, by the suffix of its name.

        - BVH: the links as a skeleton, y up, in units of `unit` [m]; without it that of the file that it was read from,
          or centimetres where that was none, or metres where the size would not tell centimetres when it is read.
        - `.glb`, `.gltf`: the links as nodes and joints of a skin without a mesh, y up, in metres; and one animation.
        - CSV: `time_s` and a column for each coordinate, by name.  A floating root is `root.x` and so on, and the names
          of its quaternion's columns say their order, `quaternion`.  `joints` are those to write, in their order, after
          the root; without it all, in the model's.  `header=False` leaves out the names and the times, as programs for
          reinforcement learning read it: a row a frame, the root's place and quaternion, then the joints.
        - NPZ: `time_s` (frames,), `q` (frames, nq), `joints` (nq,) and `units` (nq,), names and units of coordinates,
          `links` (n,) and `positions` (frames, n, 3) [m], `fps`, `name`, `up`, `unit` and `notes`.
        - `.mot`, `.sto`: `time` and a column for each coordinate, and for joints that mimic others, turns in degrees.

        With a `format`, "beyondmimic", "mjlab", "holosoma" or "asap", it is what those programs train policies on, as
        their own loaders read it: `joints` and their velocities, and of bodies places, quaternions and velocities.
        `fps` is then the rate, 50 a second without it, and `bodies` are the links, in their order; without them those
        that move against another one, and the root, in the order that the format has.

        What was there of this name stays until all is written, and where that fails.  Raises ValueError for another
        suffix, for arguments that the format does not take, and for frames that are not even where a BVH or rows
        without a header cannot say so; JointNotFound, with the nearest names; OSError that names the file, the reason
        and the mend.
        """
        file = Path(path)
        kind = file.suffix.lower()
        settings = {"joints": joints, "fps": fps, "bodies": bodies}
        if format is not None:
            if unit is not None or quaternion != "wxyz" or not header:
                raise InvalidValue("conflict", "unit, quaternion and header are not for a format; leave them out")
            write_brought(self, file, format, settings)
            return
        if fps is not None or bodies is not None:
            raise InvalidValue("needs", "fps and bodies go with a format, such as format='beyondmimic'; at() resamples")
        if kind not in _WRITTEN:
            raise InvalidValue("wrong-format", f"{file} must end in {_of(_WRITTEN)}, for a motion to be written there")
        if unit is not None and kind != ".bvh":
            raise InvalidValue("conflict", f"unit is for BVH; lengths in {kind} are metres, so leave it out")
        if kind != ".csv" and (quaternion != "wxyz" or not header or joints is not None):
            raise InvalidValue(
                "conflict", f"quaternion, header and joints are for CSV; {kind} has its own order, so leave them out"
            )
        if kind == ".bvh":
            refuse_uneven(self.times, "a BVH")
            skeleton = self._skeleton()
            write_bvh(skeleton, file, unit=self._own_unit(skeleton) if unit is None else unit)
        elif kind in GLTF_SUFFIXES:
            write_gltf(self._skeleton(), file)
        elif kind == ".csv":
            columns = columns_of(self.model, quaternion, joints)
            write_csv(file, self.model, self.times, self.q, columns, header=header)
        elif kind in STORAGE_SUFFIXES:
            write_storage(file, self.model, self.times, self.q)
        else:
            self._to_npz(file)

    def _to_npz(self, file: Path) -> None:
        unit = units(self.model)
        out = io.BytesIO()  # an archive that a full disk cuts off would complain once more when it is closed
        np.savez_compressed(
            out,
            time_s=self.times,
            q=self.q,
            joints=np.array(self.model.coordinates, dtype=str),
            units=np.array([unit[name] for name in self.model.coordinates], dtype=str),
            links=np.array(self.model.links, dtype=str),
            positions=self.positions(),
            fps=self.fps,
            name=self.name,
            up=self.up,
            unit=self.unit,
            notes=np.array(self.notes, dtype=str),
        )
        write_whole(file, out.getvalue())

    def _own_unit(self, skeleton: SkeletonFile) -> float:
        """The unit of a BVH [m]: that of the file it was read from, or the first that its size will tell when read."""
        if self.unit != 1.0:
            return self.unit
        size, whole = height([j.parent for j in skeleton.joints], [j.offset for j in skeleton.joints], skeleton.ends)
        return next((unit for unit in (0.01, 1.0, 0.001) if unit_of(size / unit, whole=whole)[0] == unit), 0.01)

    def _skeleton(self) -> SkeletonFile:
        """The links as joints of a skeleton: each with its pose in that of its parent."""
        model = self.model
        number = {name: i for i, name in enumerate(model.links)} | {WORLD: -1}
        poses = model.poses(self.q, model.links)
        carrier = {joint.child: joint for joint in model.joints}
        rest = model.poses(model.neutral, model.links)
        joints, places, turns = [], {}, np.zeros((len(self), len(model.links), 4))
        for i, link in enumerate(model.links):
            joint = carrier.get(link)
            parent = -1 if joint is None else number[joint.parent]
            local = poses[:, i] if parent < 0 else poses[:, parent].inverse() @ poses[:, i]
            still = rest[i] if parent < 0 else rest[parent].inverse() @ rest[i]
            if parent < 0 or np.abs(local.xyz - still.xyz).max() > _STILL:
                places[i] = local.xyz
            turns[:, i] = local.wxyz
            fixed = joint is not None and joint.kind is JointKind.FIXED
            level = bool((np.abs(still.wxyz[1:]) <= 0.0).all())
            offset = np.zeros(3) if parent < 0 else still.xyz
            joints.append(SkeletonJoint(name=link, parent=parent, offset=offset, turns=not (fixed and level)))
        ends = [model.frame(name) for name in model.frames if name not in number]
        return SkeletonFile(
            name=self.name,
            joints=tuple(joints),
            ends=tuple((end.name, number[end.link], end.origin.xyz) for end in ends if end.link != WORLD),
            times=self.times,
            places=places,
            turns=turns,
            up=self.up,
        )


def load_motion(
    path: str | os.PathLike[str],
    *,
    unit: float | None = None,
    up: Up | None = None,
    fps: float | None = None,
    skin: int | str | None = None,
    animation: int | str | None = None,
    model: Model | None = None,
    quaternion: Quaternion | None = None,
    joints: Sequence[str] | None = None,
    body_model: str | os.PathLike[str] | None = None,
) -> Motion:
    """The motion in a BVH, glTF or VRM file, with its skeleton as the model; or that of `model` in a CSV, NPZ, `.mot`
    or `.sto` file.

    Packages beside poise may bring readers of more suffixes, which say what arguments they take.

    Of a BVH, `unit` is the metres that one unit of length is, which the file does not say: without it the size of the
    skeleton tells; glTF has metres, unless you say otherwise.  `up` is the axis that is up in the file, "y" or "z":
    without it that of a BVH along which the head is over the feet, and y of a glTF.  What is y up is turned so that z
    is, what is z up left as it is.  `fps` frames a second take the place of the file's own.  Of several skins and
    animations of a glTF, `skin` and `animation` are names, or indices from 0; without them it is the skin with the most
    joints and the first animation.  What was assumed and mended is in the motion's `notes`; what was mended is warned
    of (ModelWarning) as well.

    A CSV whose first row is numbers has neither names nor times: a row is a root that floats, place and quaternion, and
    then the joints.  `fps` and the order of the `quaternion`, "wxyz" or "xyzw", must be said, and `joints` are its
    joints in their order, where that is not the model's.  A `.mot` or `.sto` of OpenSim keeps its times, and says y is
    up, unless `up` says otherwise; an NPZ says what is up in it.

    With the extra `motion` it is also that of an SMPL, SMPL-H or SMPL-X body, as AMASS has them, in an NPZ or PKL file
    without `model`; `body_model` is then the file of the body, such as SMPLX_NEUTRAL.npz, whose joints stand where its
    `betas` have them; without it those of a person of average proportions.  And that of FBX, USD and AMC files.  Bones
    that a VRM names, or SMPL by its tree, are the motion's `bones`.

    Raises ModelError, with file and line or the path in the JSON, for what is no such file, was cut off or holds no
    frame; MissingExtra for a format that needs an extra that is not installed; PoiseError for a table without the
    coordinates of `model`; NameNotFound for an unknown skin, animation or joint; ValueError for arguments that the file
    does not take.
    """
    file = Path(path).expanduser()
    kind = file.suffix.lower()
    table = kind in TABLE_SUFFIXES and (model is not None or is_table(file))
    if not table and kind not in SKELETON_SUFFIXES:
        check_arguments(unit, up, fps)
        given = {"unit": unit, "up": up, "fps": fps, "skin": skin, "animation": animation, "body_model": body_model}
        return _read_brought(file, given | {"model": model, "quaternion": quaternion, "joints": joints})
    if kind not in GLTF_SUFFIXES and (skin is not None or animation is not None):
        raise InvalidValue(
            "conflict", f"skin and animation are for glTF; {file} has no choice of them, so leave them out"
        )
    if body_model is not None:
        raise InvalidValue("conflict", f"body_model is for SMPL bodies, and {file} holds none; leave it out")
    if table:
        if model is None:
            raise InvalidValue("needs", f"{file} holds numbers by name, and no skeleton; say whose they are with model")
        a_model(model)
        if unit is not None or (up is not None and kind not in STORAGE_SUFFIXES):
            raise InvalidValue(
                "conflict", f"unit and up are for BVH and glTF; {file} is in metres and stays as it is; leave them out"
            )
        check_arguments(unit, up, fps)
        times, q, notes = read_table(file, model, fps=fps, quaternion=quaternion, joints=joints)
        return Motion(model, times, q, name=file.stem, up=up or up_of(file), notes=notes)
    if model is not None:
        raise InvalidValue(
            "conflict", f"model is for tables of numbers; {file} brings a skeleton of its own, so leave it out"
        )
    if quaternion is not None or joints is not None:
        raise InvalidValue(
            "conflict", f"quaternion and joints are for CSV files without a header; leave them out for {file}"
        )
    if kind == ".bvh":
        return of_skeleton(read_bvh(file, unit=unit, up=up, fps=fps))
    return of_skeleton(read_gltf(file, unit=unit, up=up, fps=fps, skin=skin, animation=animation))


def brings_skeleton(file: Path) -> bool:
    """Whether `load_motion` reads a skeleton from this file, and so takes no model; raises as `is_table`."""
    kind = file.suffix.lower()
    return not is_table(file) and (kind in (*SKELETON_SUFFIXES, *EXTRA_SUFFIXES) or kind in brought_suffixes())


def _of(suffixes: Iterable[str]) -> str:
    """All of them, in words."""
    *some, last = dict.fromkeys(suffixes)
    return f"{', '.join(some)} or {last}"


def _read_brought(file: Path, given: Mapping[str, Any]) -> Motion:
    """What a package beside poise reads of a file that is no table."""
    point = brought_suffixes().get(file.suffix.lower())
    if point is None:
        refuse_absent(file)
        known = _of((*SKELETON_SUFFIXES, *TABLE_SUFFIXES, *brought_suffixes()))
        raise ModelError(f"this is no motion; its name must end in {known}", file=str(file))
    motion = read_brought(point, file, given)
    if not isinstance(motion, Motion):
        raise other_than(point, file, motion, "Motion")
    return motion


def of_skeleton(skeleton: SkeletonFile) -> Motion:
    """The motion of what a reader found; raises ModelError if there is no frame."""
    refuse_no_frames(skeleton)
    model = skeleton.model()
    return Motion(
        model,
        skeleton.times,
        skeleton.configurations(model),
        name=skeleton.name,
        up=skeleton.up,
        unit=skeleton.unit,
        notes=skeleton.notes,
        bones=skeleton.bones,
    )
