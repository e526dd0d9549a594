"""Motions as programs of robot controllers: JointTrajectory of ROS 2, URScript, RAPID and KRL.

Rows are the motion itself, evenly in time, so a program says no more than where joints are then.  Zeros and directions
of joints are the model's: a file whose joints count from elsewhere than the controller does gives another motion.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.common.files import write_whole
from poise.model.joint import JointKind

_SIX: Final = 6
"""Joints of the arms that URScript, RAPID and KRL are for."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,23}")
"""What the three take as the name of a program: that of the file, in as many letters as KRL has."""
_TAKEN: Final = {
    ".script": "and break continue def elif else end false for global if local not or pass return sec thread true "
    "while xor",
    ".mod": "alias and backward case connect const default div do else elseif endfor endfunc endif endmodule endproc "
    "endrecord endtest endtrap endwhile error exit false for from func goto if inout local mod module nostepin not "
    "noview or pers proc raise readonly record retry return step sysmodule test then to trap true trynext undo var "
    "viewonly while with xor",
    ".src": "and b_and b_exor b_not b_or bool brake case char circ const continue decl def default deffct else end "
    "enddat endfct endfor endif endloop endspline endswitch endwhile enum exit exor ext extfct false for frame global "
    "goto halt if import int interrupt is lin loop not or ptp real repeat return signal spline struc switch then to "
    "trigger true until wait while",
}
"""What is a word of its language already: as a name of a program no controller takes it."""
_APPROACH: Final = 0.1
"""How fast URScript goes to the first row [rad/s], and the share of its speeds at which KRL does."""


class Rows(NamedTuple):
    """A motion in even rows."""

    name: str
    """Of the robot."""
    joints: list[str]
    times: Array
    """(n,) [s]"""
    q: Array
    """(n, joints) [rad or m]"""
    velocity: Array
    """(n, joints) [per s]"""
    acceleration: Array
    """(n, joints) [per s^2]"""
    shares: Array
    """(joints,) the largest speed of each as a share of its limit; 1 where it has none."""

    @property
    def degrees(self) -> Array:
        """(n, joints) of joints that turn [degrees]."""
        return np.rad2deg(self.q)

    def head(self, unit: str) -> str:
        """What a reader of the file is to know."""
        told = (
            f"{self.name}: {len(self.joints)} joints in {unit}, in the order {', '.join(self.joints)}; "
            f"{len(self.times)} rows, {self.times[-1]:.6g} s in all"
        )
        return " ".join(told.split())


class Program(NamedTuple):
    """How one kind of program is written."""

    write: Callable[[Rows, str], Iterator[str]]
    """The lines of it, from rows and its name."""
    dt: float
    """How far rows are apart unless the caller says otherwise [s]."""
    six: bool
    """Whether it is for arms of six joints that turn."""


def save(path: Any, file: str | os.PathLike[str], dt: float | None) -> None:
    """Write a JointPath, see `JointPath.save`."""
    place = Path(file)
    kind = place.suffix.lower()
    if kind in (".csv", ".parquet"):
        rows = path if dt is None else path.resample(dt)
        (rows.to_csv if kind == ".csv" else rows.to_parquet)(file)
        return
    if kind not in _PROGRAMS:
        *some, last = (".csv", ".parquet", *_PROGRAMS)
        raise InvalidValue(
            "wrong-format", f"{place} must end in {', '.join(some)} or {last}, for a path to be written there"
        )
    program = _PROGRAMS[kind]
    if program.six and not _NAME.fullmatch(place.stem):
        raise InvalidValue(
            "wrong-format",
            f"{place.name} names the program {place.stem!r}, and a controller takes up to 24 letters, digits and _, "
            "the first a letter: give the file such a name",
        )
    if program.six and place.stem.lower() in _TAKEN[kind].split():
        raise InvalidValue(
            "wrong-format",
            f"{place.name} names the program {place.stem!r}, a word of its language: give it another name",
        )
    lines = program.write(_rows(path, place, program, dt), place.stem)
    write_whole(file, "\n".join(lines) + "\n")


def joint_trajectory(rows: Rows) -> dict[str, Any]:
    """A trajectory_msgs/JointTrajectory as a dict."""
    points = []
    for time, q, velocity, acceleration in zip(*rows[2:6], strict=True):
        nanoseconds = round(float(time) * 1e9)
        points.append(
            {
                "positions": q.tolist(),
                "velocities": velocity.tolist(),
                "accelerations": acceleration.tolist(),
                "time_from_start": {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9},
            }
        )
    return {"joint_names": rows.joints, "points": points}


def _rows(path: Any, file: Path, program: Program, dt: float | None) -> Rows:
    """The motion of a JointPath in rows; raises ValueError for one that the program has no place for."""
    if not path.success:
        raise InvalidValue("inconsistent", f"the path is not written to {file.name}: {path.explain()}")
    model = path.model
    joints = [joint for joint in model.joints if joint.nq and not (program.six and joint.name in model.still)]
    several = [joint.name for joint in joints if joint.nq > 1]
    if several:
        raise InvalidValue(
            "not-supported",
            f"{several[0]} of {model.name} has several numbers, and {file.suffix} takes one a joint: write a .csv",
        )
    if program.six and (
        len(joints) != _SIX or any(joint.kind not in (JointKind.REVOLUTE, JointKind.CONTINUOUS) for joint in joints)
    ):
        raise InvalidValue(
            "not-supported",
            f"{file.suffix} is for an arm of six joints that turn, and {len(joints)} joints of {model.name} may move, "
            f"{', '.join(joint.name for joint in joints)}: hold what is not of the arm by still=, or write .yaml",
        )
    even = path.resample(program.dt if dt is None else dt)
    state, names = even.at(even.times), [joint.name for joint in joints]
    q, v = [model.index(name).start for name in names], [model.velocity_index(name).start for name in names]
    limits, velocity = model.velocity[v], state.velocity[:, v]
    shares = np.where(np.isfinite(limits), np.abs(velocity).max(axis=0) / limits, 1.0)
    velocity[-1] = 0.0  # there the arm rests, and a controller of ROS 2 refuses a last point that says otherwise
    return Rows(model.name, names, even.times, even.q[:, q], velocity, state.acceleration[:, v], shares)


def _yaml(rows: Rows, name: str) -> Iterator[str]:
    message = joint_trajectory(rows)
    yield f"# {rows.head('rad or m')}"
    yield f"joint_names: {_flow(message['joint_names'])}"
    yield "points:"
    for point in message["points"]:
        first = "- "
        for key in ("positions", "velocities", "accelerations"):
            yield f"{first}{key}: {_flow(point[key])}"
            first = "  "
        yield f"  time_from_start: {_flow(point['time_from_start'])}"


def _flow(value: Any) -> str:
    """A list or a mapping in one line of YAML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {x}" for key, x in value.items()) + "}"
    return (
        "[" + ", ".join(json.dumps(x, ensure_ascii=False) if isinstance(x, str) else repr(x + 0.0) for x in value) + "]"
    )


def _urscript(rows: Rows, name: str) -> Iterator[str]:
    dt = float(rows.times[1]) if len(rows.times) > 1 else 0.0
    yield f"# {rows.head('rad')}, {dt:.6g} s apart"
    yield f"def {name}():"
    yield f"  movej([{_numbers(rows.q[0], 9)}], a=1.0, v={_APPROACH})"
    for q in rows.q[1:]:
        yield f"  servoj([{_numbers(q, 9)}], t={dt:.6g}, lookahead_time=0.03, gain=300)"
    yield "  stopj(2.0)"
    yield "end"


def _rapid(rows: Rows, name: str) -> Iterator[str]:
    gaps = np.diff(rows.times)
    yield f"MODULE {name}"
    yield f"  ! {rows.head('degrees')}"
    yield "  ! no external axes; slowly to the first row, then by times, through all rows but the last in zone z0"
    yield f"  PROC {name}_run()"
    for k, q in enumerate(rows.degrees):
        how = "v50, fine" if not k else f"v1000 \\T:={gaps[k - 1]:.6g}, {'z0' if k < len(gaps) else 'fine'}"
        yield f"    MoveAbsJ [[{_numbers(q, 7)}],[9E9,9E9,9E9,9E9,9E9,9E9]], {how}, tool0;"
    yield "  ENDPROC"
    yield "ENDMODULE"


def _krl(rows: Rows, name: str) -> Iterator[str]:
    yield f"DEF {name}()"
    yield f"; {rows.head('degrees')}"
    yield "; KRL takes no times for joints: speeds are the largest shares of the limits of the motion, in percent"
    yield "BAS(#INITMOV,0)"
    percent = np.clip(np.ceil(100.0 * rows.shares), 1, 100).astype(int)
    for speeds, some, end in (
        ([round(100 * _APPROACH)] * _SIX, rows.degrees[:1], ""), (percent, rows.degrees[1:], " C_PTP")
    ):  # fmt: skip
        yield from (f"$VEL_AXIS[{a}]={speed}" for a, speed in enumerate(speeds, 1))
        for k, q in enumerate(some, 1):
            axes = ",".join(f"A{a} {x:.7f}" for a, x in enumerate(q + 0.0, 1))
            yield f"PTP {{{axes}}}{end if k < len(some) else ''}"
    yield "END"


def _numbers(q: Array, digits: int) -> str:
    return ",".join(f"{x:.{digits}f}" for x in q + 0.0)


_PROGRAMS: Final[Mapping[str, Program]] = {
    ".yaml": Program(_yaml, 0.02, six=False),
    ".script": Program(_urscript, 0.008, six=True),
    ".mod": Program(_rapid, 0.1, six=True),
    ".src": Program(_krl, 0.1, six=True),
}
"""By suffix."""
