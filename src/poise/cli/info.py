"""`poise info`: what a robot has."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import Positional

from poise.cli.command import Answer, Answers, Base, command

if TYPE_CHECKING:
    from poise.io.skeleton import SkeletonFile
    from poise.model.joint import Mimic
    from poise.model.model import Model


@command
class Info(Answers):
    """List the robots that are known by name, or print the joints, limits, frames, groups and postures of one.

    Of a file, a robot's or a skeleton's, the same, and what motion it holds.
    """

    robot: Positional[str] = ""
    """A known name (panda, ur5e ...) or a file; left out, all names are listed."""
    base: Base = "fixed"
    """How the robot stands in the world."""
    cpu: bool = False
    """Print instead whose instructions the kernels here are compiled for, and where they come from."""

    def run(self) -> Answer:
        """Load."""
        from poise.cli.output import print_table, say

        if self.cpu:
            facts, line = _of_cpu()
            return Answer(
                facts=facts,
                show=lambda: say(line),
                explanation=f"{line}. A library that was compiled ahead needs no Numba and no warm-up.",
            )
        if not self.robot:
            from poise.io.sizes import robot_sizes

            sizes = robot_sizes()
            return Answer(
                facts={"robots": list(sizes), "joints": sizes},
                show=lambda: print_table(["robot", "joints"], _lines(sizes), numbers=("joints",)),
                explanation=f"{len(sizes)} robots are known by name here, each with its number of joints; a file is "
                'named by its path, and pip install "poise[robots]" adds more.',
            )
        model, frames = _read(self.robot, self.base)
        return Answer(
            facts=_facts(model)
            | {"file": _file(self.robot)}
            | ({} if frames is None else {"motion": _facts_of_frames(frames)}),
            show=lambda: _print(model, frames),
            explanation=f"{model.name} is led by {model.nq} numbers q, in the order of the coordinates [rad or m], "
            f"within lower and upper; tasks name one of its frames, and {model.tip} is the tip. home is where a solve "
            "begins that is told nothing else.",
        )


def _of_cpu() -> tuple[dict[str, Any], str]:
    """What the kernels of this process are compiled for, as facts and in a sentence."""
    from poise.kernels.machine.library import chosen, machine

    found, why = chosen()
    if found is not None:
        levels = f"levels {', '.join(found.levels)}; this CPU has {', '.join(found.usable)}"
        line = f"{machine()}: compiled ahead for {found.level}, from {found.file} ({levels})"
        return {"machine": machine(), "cpu": found.level, "library": str(found.file), "levels": found.usable}, line
    cpu = None
    try:
        import numba
        from llvmlite.binding import get_host_cpu_name

        cpu = numba.config.CPU_NAME or get_host_cpu_name()
        line = f"{machine()}: compiled here by Numba for {cpu}, for {why}"
    except ModuleNotFoundError:
        line = f'{machine()}: nothing is compiled, for {why}, and there is no Numba: pip install "poise[jit]"'
    return {"machine": machine(), "cpu": cpu, "library": None, "levels": []}, line


def _read(robot: str, base: Base) -> "tuple[Model, SkeletonFile | None]":
    """The model, and the frames of a file that has some."""
    from poise.io import load
    from poise.io.suffixes import SKELETON_SUFFIXES

    path = Path(robot).expanduser()
    if path.suffix.lower() not in SKELETON_SUFFIXES or base != "fixed":
        return load(robot, base=base), None
    from poise.io.bvh import read_bvh
    from poise.io.gltf import read_gltf

    frames = (read_bvh if path.suffix.lower() == ".bvh" else read_gltf)(path)
    return frames.model(), frames


def _file(robot: str) -> str | None:
    """Where the robot was read from, for other programs; None for what is written in code."""
    from poise.io import file_of

    file = file_of(robot)
    return None if file is None else str(file.absolute())


def _facts_of_frames(frames: "SkeletonFile") -> dict[str, Any]:
    count = len(frames.times)
    duration = float(frames.times[-1] - frames.times[0]) if count else 0.0
    return {
        "frames": count,
        "fps": (count - 1) / duration if duration else 0.0,
        "duration_s": duration,
        "unit_m": frames.unit,
        "notes": list(frames.notes),
    }


def _lines_of_frames(frames: "SkeletonFile") -> list[str]:
    facts = _facts_of_frames(frames)
    rate = f", {facts['fps']:.4g} a second, {facts['duration_s']:.4g} s" if facts["fps"] else ""
    return [f"{facts['frames']} frames{rate}; a unit of length is {frames.unit:.4g} m", *frames.notes]


def _lines(sizes: dict[str, int]) -> list[tuple[str, str]]:
    """A line a robot; more than two in a row that are called by their number of joints share one."""

    def family(robot: tuple[str, int]) -> tuple[str, bool]:
        name, joints = robot
        stem = name.removesuffix(str(joints))
        return (name, False) if stem == name or stem[-1:].isdigit() else (stem, True)

    out: list[tuple[str, str]] = []
    for _, found in groupby(sizes.items(), family):
        robots = list(found)
        if len(robots) > 2:
            (first, least), (last, most) = robots[0], robots[-1]
            out.append((f"{first} to {last}", f"{least} to {most}"))
        else:
            out += [(name, str(joints)) for name, joints in robots]
    return out


def _facts(model: "Model") -> dict[str, Any]:
    joints = [
        {
            "name": joint.name,
            "kind": joint.kind.value,
            "parent": joint.parent,
            "child": joint.child,
            "lower": joint.lower,
            "upper": joint.upper,
            "velocity": joint.velocity,
            "mimic": _rule(joint.mimic) if joint.mimic else None,
        }
        for joint in model.joints
    ]
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": model.mass,
        "coordinates": model.coordinates,
        "lower": model.lower,
        "upper": model.upper,
        "home": model.home,
        "tip": model.tip,
        "joints": joints,
        "links": model.links,
        "frames": model.frames,
        "groups": dict(model.groups),
        "postures": dict(model.postures),
        "loops": [[loop.first, loop.second, loop.kind] for loop in model.loops],
    }


def _print(model: "Model", frames: "SkeletonFile | None") -> None:
    from poise.cli.output import say

    fixed = len(model.joints) - sum(joint.size > 0 for joint in model.joints)
    weight = f", {model.mass:.4g} kg" if model.mass else ""
    size = f"nq {model.nq}, nv {model.nv}, {len(model.links)} links, {fixed} fixed joints"
    say(f"{model.name}: {size}{weight}\n")
    _print_joints(model)
    if frames is not None:
        say("\nmotion", style="bold")
        for line in _lines_of_frames(frames):
            say(line)
    for title, names in _lists(model):
        say(f"\n{title}", style="bold")
        say(", ".join(names))


def _rule(mimic: "Mimic") -> dict[str, Any]:
    """How a joint follows; of functions that are applied in turn, rows `start, origin, c0 .. c4` for each."""
    if mimic.function is None:
        return {"joint": mimic.joint, "multiplier": mimic.multiplier, "offset": mimic.offset}
    return {"joint": mimic.joint, "pieces": [stage.rows.tolist() for stage in mimic.function.stages]}


def _print_joints(model: "Model") -> None:
    from poise.cli.output import print_table
    from poise.model.units import units

    unit, rows = units(model), []
    for joint in model.joints:
        if joint.mimic:
            source, function = model.follows(joint)
            rule = f"a function of {source}"
            if function.linear is not None:
                multiplier, offset = function.linear
                rule = f"{multiplier:g} {source} {offset:+g}" if offset else f"{multiplier:g} {source}"
            rows.append([joint.name, "", f"{joint.kind} = {rule}", "", "", "", "", joint.parent, joint.child])
        elif joint.nq:
            # Where a joint has as many speeds as coordinates, they are those of its coordinates in their order.
            speeds = joint.velocity if len(joint.velocity) == joint.nq else [float("inf")] * joint.nq
            places = range(model.nq)[model.index(joint.name)]
            for i, name, speed in zip(places, joint.coordinates, speeds, strict=True):
                limits = f"{model.lower[i]:.4f}", f"{model.upper[i]:.4f}", unit[name], f"{speed:.4g} {unit[name]}/s"
                rows.append([name, str(i), joint.kind, *limits, joint.parent, joint.child])
    columns = ["joint", "q", "kind", "lower", "upper", "unit", "velocity", "parent", "child"]
    print_table(columns, rows, numbers=("q", "lower", "upper", "velocity"))


def _lists(model: "Model") -> list[tuple[str, list[str]]]:
    groups = [f"{name} ({len(joints)} joints)" for name, joints in model.groups.items()]
    lists = [
        (f"frames, of which {model.tip} is the tip", list(model.frames)),
        ("groups", groups),
        ("postures", list(model.postures)),
        ("loops", [f"{loop.first} and {loop.second} ({loop.kind})" for loop in model.loops]),
    ]
    return [(title, names) for title, names in lists if names]
