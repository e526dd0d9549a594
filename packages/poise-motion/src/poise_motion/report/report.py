"""What came out of carrying a motion to a robot: its measures as a table, as JSON and as a picture."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise import InvalidValue, Motion, ShapeError, World
from poise.extending import Array, ArrayLike, aligned, drawing, fill, finite, html, numbers, plain, to_json, write_whole
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import Contacts, Flags
from poise_motion.anatomy.fingers import carried
from poise_motion.anatomy.foot_geometry import lowest, sole
from poise_motion.anatomy.parts import FINGERS
from poise_motion.reference.objects import Kept
from poise_motion.report.measures import (
    DEEP,
    Ground,
    Jerk,
    Limits,
    Skate,
    Tracking,
    jerk,
    limits,
    rms,
    skate,
    tracking,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEAD: Final = ("", "robot", "source", "unit")
_WIDTH: Final = 80
_SEEN: Final = 30.0
"""Frames a second of the slow jerk."""
_PICTURES: Final = (".png", ".svg", ".pdf")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """How well a robot follows a body: print it, or take the measures, which are arrays over the frames."""

    robot: str
    source: str
    times: Array
    """(frames,) [s]"""
    tracking: Tracking
    skate: Skate
    """Of the robot's feet, while those of the body stand."""
    source_skate: Skate
    """Of the body's feet, in the same contacts."""
    ground: Ground
    limits: Limits
    jerk: Jerk
    """Of the robot's joints, and of those of the body that carry its parts, from frame to frame."""
    slow_jerk: Jerk
    """The same of frames 1/30 s apart, so that the noise of a recording with many frames is not all that is seen."""
    throughput: float | None = None
    """Frames a second, on one core, by what the median step takes, each as on average over a span of frames."""
    latency: float | None = None
    """The time that 99 % of the frames keep, by the same means [s]."""
    notes: tuple[str, ...] = ()
    """What else is to be known, in sentences."""
    fingers: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, bones) by how much the bones of fingers point another way than those of the body, as the wrists see them
    [rad]; of none where no fingers were carried over."""
    touches: tuple[Kept, ...] = ()
    """How well hands keep to their places of objects."""
    meets: Flags | None = None
    """(frames,) when links are in one another; None where nobody looked."""

    def to_dict(self) -> dict[str, Any]:
        """The measures as plain numbers and strings, in m, rad and s; None where there is no number."""
        t, g = self.tracking, self.ground
        joint, frame, jump = self.limits.largest_jump
        found: dict[str, Any] = plain({
            "robot": self.robot,
            "source": self.source,
            "frames": len(self.times),
            "duration": float(self.times[-1] - self.times[0]),
            "position_error": {"mean": _mean(t.position), "largest": _most(t.position)},
            "relative_position_error": {"mean": _mean(t.relative), "largest": _most(t.relative)},
            "rotation_error": {"mean": _mean(t.rotation), "largest": _most(t.rotation)},
            "direction_error": {"mean": _mean(t.direction), "largest": _most(t.direction)},
            "finger_error": {"mean": _mean(self.fingers), "largest": _most(self.fingers)},
            "parts": {
                part: {"position_error": _mean(t.position[:, i]), "rotation_error": _mean(t.rotation[:, i])}
                for i, part in enumerate(t.parts)
            },
            "contact": {
                "share": float(g.on.mean()) if g.on.size else 0.0,
                "kept": g.kept,
                "skate_share": self.skate.share,
                "skate_fastest": self.skate.fastest,
                "source_skate_share": self.source_skate.share,
                "source_skate_fastest": self.source_skate.fastest,
            },
            "penetration": {"share_1cm": g.deeper(DEEP[0]), "share_1mm": g.deeper(DEEP[1]), "largest": g.depth},
            "self_penetration": {"share": None if self.meets is None else float(self.meets.mean())},
            "limits": {
                "broken_share": self.limits.broken,
                "largest": float(self.limits.past.max()),
                "too_fast_share": self.limits.too_fast,
                "fastest": float(self.limits.speed.max(initial=0.0)),
                "largest_jump": {"joint": joint, "frame": frame, "angle": jump},
            },
            "touches": [
                {
                    "part": one.touch.part,
                    "object": one.touch.object,
                    "from": float(one.times[0]),
                    "until": float(one.times[-1]),
                    "distance": {"mean": _mean(one.off), "largest": _most(one.off)},
                }
                for one in self.touches
            ],
            "jerk": _rough(self.jerk),
            "slow_jerk": _rough(self.slow_jerk),
            "frames_per_second": self.throughput,
            "latency_p99": self.latency,
            "notes": list(self.notes),
        })  # fmt: skip
        return found

    def json(self) -> str:
        """`to_dict` as one line of JSON."""
        return to_json(self.to_dict())

    def __str__(self) -> str:
        return "\n".join(
            [fill(self._title(), _WIDTH), "", aligned(_HEAD, self._rows(), numbers=_HEAD[1:3], width=_WIDTH)]
            + [fill(note, _WIDTH) for note in self._notes()]
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        t = self.tracking
        parts = [
            (part, _scaled(t.position[:, i], 100.0), _scaled(np.degrees(t.rotation[:, i])))
            for i, part in enumerate(t.parts)
        ]
        return html.together(
            html.paragraph(self._title(), bold=True),
            html.table(_HEAD, self._rows(), "measures"),
            html.table(("part", "position error [cm]", "rotation error [deg]"), parts, "parts, on average"),
            *(html.paragraph(note) for note in self._notes()),
        )

    def _title(self) -> str:
        count, span = len(self.times), float(self.times[-1] - self.times[0])
        return f"{self.source} on {self.robot}: {count:,} frame{'s' * (count != 1)}, {span:.3g} s"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """Of each measure its name, the robot's number, the source's, and the unit."""
        t, g, own, body = self.tracking, self.ground, self.skate, self.source_skate
        off = np.concatenate([np.zeros(0), *(one.off for one in self.touches)])
        deep, shallow = (_share(g.deeper(depth)) for depth in DEEP)
        rows = [
            ("position error, mean", _scaled(t.position, 100.0), "", "cm"),
            ("position error, largest", _plain(_most(t.position), 100.0), "", "cm"),
            ("position error from the root, mean", _scaled(t.relative, 100.0), "", "cm"),
            ("rotation error, mean", _scaled(np.degrees(t.rotation)), "", "deg"),
            ("direction of limbs, mean error", _scaled(np.degrees(t.direction)), "", "deg"),
            ("direction of fingers, mean error", _scaled(np.degrees(self.fingers)), "", "deg"),
            ("contacts that it has too", _share(g.kept), "", "% of contact"),
            ("feet that skate", _share(own.share), _share(body.share), "% of contact"),
            ("fastest foot that stands", _plain(own.fastest), _plain(body.fastest), "m/s"),
            ("hands from their places of objects, mean", _scaled(off, 100.0), "", "cm"),
            ("hands from their places of objects, largest", _plain(_most(off), 100.0), "", "cm"),
            ("deeper than 1 cm in the ground", deep, "", "% of frames"),
            ("deeper than 1 mm in the ground", shallow, "", "% of frames"),
            ("deepest in the ground", _plain(g.depth, 1000.0), "", "mm"),
            ("links in one another", "" if self.meets is None else _share(float(self.meets.mean())), "", "% of frames"),
            ("a joint past its limit", _share(self.limits.broken), "", "% of frames"),
            ("a joint faster than it may be", _share(self.limits.too_fast), "", "% of steps"),
            ("fastest joint", f"{100.0 * self.limits.speed.max(initial=0.0):.3g}", "", "% of its limit"),
            ("largest jump of a joint", f"{np.degrees(self.limits.largest_jump[2]):.3g}", "", "deg a frame"),
            ("jerk of the joints", _plain(rms(self.jerk.robot)), _plain(rms(self.jerk.source)), "rad/s^3"),
            ("jerk by the source's", _plain(self.jerk.ratio), "", ""),
            *self._slow_jerk(),
            ("frames a second, by the steps", "" if self.throughput is None else f"{self.throughput:,.0f}", "", "1/s"),
            ("latency of 99 % of the frames", "" if self.latency is None else f"{1e6 * self.latency:.3g}", "", "us"),
        ]
        return [row for row in rows if row[1]]

    def _slow_jerk(self) -> list[tuple[str, str, str, str]]:
        """Nothing new where frames are 1/30 s apart."""
        slow = self.slow_jerk
        if slow.apart == 1:
            return []
        return [
            ("jerk, seen every 1/30 s", _plain(rms(slow.robot)), _plain(rms(slow.source)), "rad/s^3"),
            ("jerk by the source's, every 1/30 s", _plain(slow.ratio), "", ""),
        ]

    def _notes(self) -> list[str]:
        """Where the worst is, and what else is to be known."""
        out = []
        means = np.nanmean(self.tracking.position, axis=0) if self.tracking.position.size else np.zeros(0)
        if len(means) > 1:
            worst = int(np.argmax(means))
            out.append(f"farthest off is {self.tracking.parts[worst]}, by {100.0 * means[worst]:.3g} cm on average")
        joint, frame, jump = self.limits.largest_jump
        if joint and jump > 0.0:
            out.append(f"the largest jump is that of {joint}, to frame {frame}, at {self.times[frame]:.3g} s")
        return [*out, *map(str, self.touches), *self.notes]

    def figure(self) -> "Figure":
        """The measures over time: errors, feet and contacts, the ground, joint speeds and jerk.

        A Matplotlib figure; its `savefig` writes it.  Raises MissingExtra without Matplotlib.
        """
        from poise_motion.report.picture import draw

        title = f"{self.source} on {self.robot}"
        return draw(title, self.times, self.tracking, self.ground, self.limits, self.jerk)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers, .json, or the figure, .png, .svg or .pdf.

        Raises ValueError for another suffix, MissingExtra for a figure without Matplotlib.
        """
        file = Path(path)
        kind = file.suffix.lower()
        if kind not in (".json", *_PICTURES):
            raise InvalidValue(
                "wrong-format", f"{file} must end in .json, .png, .svg or .pdf, for a report to be written there"
            )
        if kind == ".json":
            write_whole(file, to_json(self.to_dict(), indent=1) + "\n")
        else:
            drawing.save_figure(self.figure(), file)


def report(
    source: Motion,
    robot: Motion,
    body: BodyMap,
    contacts: Contacts,
    feet: Mapping[str, ArrayLike],
    targets: ArrayLike,
    *,
    target_turns: ArrayLike | None = None,
    places: ArrayLike | None = None,
    points: Mapping[str, Array] | None = None,
    joints: Mapping[str, Array] | None = None,
    ground: ArrayLike | None = 0.0,
    soles: Mapping[str, Array] | None = None,
    roundings: Mapping[str, float] | None = None,
    world: World | None = None,
    throughput: float | None = None,
    latency: float | None = None,
    notes: Sequence[str] = (),
    fingers: ArrayLike | None = None,
    touches: Sequence[Kept] = (),
    meets: Flags | None = None,
) -> Report:
    """The measures of a robot's motion, of which each frame is that of the source with the same number.

    `contacts` were found in `feet`, by part the paths (frames, points, 3) in the source.  `targets` (frames, parts, 3)
    are where `body.parts` should be in the world of the robot, and `target_turns` (frames, parts, 4) how, NaN where
    that is free; `places` (frames, parts, 3) are where they are in the source, if not in the world but as its trunk
    sees them, which a robot on a pedestal does not move; `points` holds by part the point (3,) of the robot's frame
    that should be there, 0 where it is left out, and `joints` the one at which its bone ends, where that is another
    [m].  `ground` is how high the ground is there beneath each of `contacts.parts`, a number or (frames, parts) [m];
    or (frames, parts, 4), the unit vector out of it and how far along that it is from the origin [m]; or None for a
    robot that stands on none, as one on a pedestal.  `world` holds what else it must not be in.  `soles` holds by part
    the points of the robot's foot in its frame, see `poise_motion.anatomy.foot_geometry`, which finds all others, and
    `roundings` the radius of those that are balls [m].  `fingers` (frames, bones) are the angles by which those of
    fingers are off [rad], `touches` say how well hands keep to their places of objects, and `meets` (frames,) when
    links are in one another.

    Raises ShapeError for arrays that do not fit.
    """
    if len(source) != len(robot) or len(contacts) != len(robot):
        raise ShapeError(
            f"source, robot and contacts must have as many frames, got {len(source)}, {len(robot)} and {len(contacts)}"
        )
    standing = [part for part in contacts.parts if part in body.robot]
    on = np.stack([contacts[part] for part in standing], axis=1) if standing else np.zeros((len(robot), 0), dtype=bool)
    bottoms_of = {
        part: sole(robot.model, body.robot[part]) if soles is None or part not in soles else soles[part]
        for part in standing
    }
    paths = [_paths(robot, body.robot[part], bottoms_of[part]) for part in standing]
    planes = _planes(0.0 if ground is None else ground, (len(robot), len(contacts.parts)))
    planes = planes[:, [contacts.parts.index(part) for part in standing]]
    floor = np.nan if ground is None else float(planes[..., 3].min(initial=0.0))
    radii = {} if roundings is None else roundings
    heights, bottoms = np.zeros((2, len(robot), len(standing)))
    for k, (part, path) in enumerate(zip(standing, paths, strict=True)):
        radius = radii.get(part, 0.0)
        bottoms[:, k] = path[..., 2].min(axis=1) - radius
        heights[:, k] = np.einsum("fpi,fi->fp", path, planes[:, k, :3]).min(axis=1) - radius - planes[:, k, 3]
    # In a world the shapes of the robot are measured; else what stands on ground that is not known beyond its stance.
    stood = np.where(on, heights, np.inf) if world is None else np.zeros((len(robot), 0))
    over = np.concatenate([lowest(robot.model, robot.q) - floor, bottoms - floor, stood], axis=1).min(
        axis=1, initial=np.nan if ground is None else np.inf
    )
    if world is not None:
        over = np.minimum(over, robot.model.distance(robot.q, world, self_collision=False).distance)
    parts = body.parts
    there = robot.model.poses(robot.q, [body.robot[part] for part in parts])
    own = {} if points is None else points
    ends = {**own, **({} if joints is None else joints)}
    led, bones = (np.array([some.get(part, np.zeros(3)) for part in parts]) for some in (own, ends))
    return Report(
        robot=robot.model.name,
        source=source.name or source.model.name,
        times=robot.times,
        tracking=tracking(
            parts,
            there.xyz + there.rotation.act(led),
            targets,
            source.positions([body.source[part] for part in parts]) if places is None else places,
            turns=there.wxyz,
            target_turns=target_turns,
            joints=there.xyz + there.rotation.act(bones),
        ),
        skate=skate(standing, paths, robot.times, on),
        source_skate=skate(
            standing,
            [feet[part] for part in standing],
            source.times,
            on,
            touching=[contacts.points[part] for part in standing],
        ),
        ground=Ground(over, tuple(standing), heights, on),
        limits=limits(robot.model, robot.q, robot.times),
        jerk=_jerk(source, robot, body, 1),
        slow_jerk=_jerk(source, robot, body, max(1, round(robot.fps / _SEEN))),
        throughput=throughput,
        latency=latency,
        notes=tuple(notes),
        fingers=np.zeros((len(robot), 0)) if fingers is None else finite("fingers", fingers),
        touches=tuple(touches),
        meets=meets,
    )


def _planes(ground: ArrayLike, shape: tuple[int, int]) -> Array:
    """(frames, parts, 4) the ground beneath parts, as normal and offset, from heights or from what is that already."""
    given = numbers("ground", ground)
    if given.shape == (*shape, 4):
        return np.array(given)
    out = np.zeros((*shape, 4))
    out[..., 2], out[..., 3] = 1.0, given
    return out


def _paths(motion: Motion, frame: str, points: Array) -> Array:
    """(frames, points, 3) where points (points, 3) of a frame go."""
    poses = motion.model.pose(frame, motion.q)
    return np.stack([poses.act(point) for point in points], axis=1)


def _jerk(source: Motion, robot: Motion, body: BodyMap, apart: int) -> Jerk:
    """Of the joints of the robot, and of those of the source that move its parts: fingers do not count."""
    parts = [part for part in body.source if part not in FINGERS]
    links = [source.model.frame(body.source[part]).link for part in parts]
    joints = [joint.name for link in links for joint in source.model.root_path(link)]
    own = carried(robot.model, [body.robot[part] for part in body.fingers])
    return Jerk(
        jerk(
            robot.model, robot.q, robot.times, joints=[n for n in robot.model.joint_names if n not in own], apart=apart
        ),
        jerk(source.model, source.q, source.times, joints=joints, apart=apart),
        apart,
    )


def _rough(jerk: Jerk) -> dict[str, float]:
    return {"robot": rms(jerk.robot), "source": rms(jerk.source), "ratio": jerk.ratio}


def _mean(values: Array) -> float | None:
    return float(np.nanmean(values)) if not np.isnan(values).all() else None


def _most(values: Array) -> float | None:
    return float(np.nanmax(values)) if not np.isnan(values).all() else None


def _scaled(values: Array, factor: float = 1.0) -> str:
    return _plain(_mean(values), factor)


def _plain(value: float | None, factor: float = 1.0) -> str:
    return "" if value is None or np.isnan(value) else f"{factor * value:.3g}"


def _share(share: float) -> str:
    return "" if np.isnan(share) else f"{100.0 * share:.3g}"
