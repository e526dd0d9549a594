"""`poise info`: what a robot has."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tyro.conf import Positional

from poise.cli.solve import Base

if TYPE_CHECKING:
    from rich.table import Table

    from poise.model.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """Print the joints, limits, frames, groups and postures of a robot; without a robot, the names that are known."""

    robot: Positional[str] = ""
    """A known name (panda, ur5e ...) or a file."""
    base: Base = "fixed"
    """How the robot stands in the world."""
    json: bool = False
    """Print one line of JSON."""

    def run(self) -> int:
        """Load and print."""
        from poise.cli.output import console, print_json

        if not self.robot:
            from poise.io import robot_names

            if self.json:
                print_json({"robots": robot_names()})
            else:
                console().print("\n".join(robot_names()))
            return 0
        from poise.io import load

        model = load(self.robot, base=self.base)
        if self.json:
            print_json(_facts(model))
            return 0
        out = console()
        fixed = len(model.joints) - sum(joint.size > 0 for joint in model.joints)
        weight = f", {model.mass:.4g} kg" if model.mass else ""
        size = f"nq {model.nq}, nv {model.nv}, {len(model.links)} links, {fixed} fixed joints"
        out.print(f"{model.name}: {size}{weight}")
        out.print()
        out.print(_joints(model))
        for title, names in _lists(model):
            out.print()
            out.print(title, style="bold")
            out.print(", ".join(names))
        return 0


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
            "mimic": asdict(joint.mimic) if joint.mimic else None,
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


def _joints(model: "Model") -> "Table":
    from poise.cli.output import table
    from poise.model.units import units

    out = table("q", "joint", "kind", "lower", "upper", "unit", "parent", "child", numbers=("q", "lower", "upper"))
    unit = units(model)
    for joint in model.joints:
        if joint.mimic:
            source, multiplier, offset = model.follows(joint)
            rule = f"{multiplier:g} {source} {offset:+g}" if offset else f"{multiplier:g} {source}"
            out.add_row("", joint.name, f"{joint.kind} = {rule}", "", "", "", joint.parent, joint.child)
        elif joint.nq:
            for i, name in zip(range(model.nq)[model.index(joint.name)], joint.coordinates, strict=True):
                limits = (f"{model.lower[i]:.4f}", f"{model.upper[i]:.4f}")
                out.add_row(str(i), name, joint.kind, *limits, unit[name], joint.parent, joint.child)
    return out


def _lists(model: "Model") -> list[tuple[str, list[str]]]:
    groups = [f"{name} ({len(joints)} joints)" for name, joints in model.groups.items()]
    lists = [
        (f"frames, of which {model.tip} is the tip", list(model.frames)),
        ("groups", groups),
        ("postures", list(model.postures)),
        ("loops", [f"{loop.first} and {loop.second} ({loop.kind})" for loop in model.loops]),
    ]
    return [(title, names) for title, names in lists if names]
