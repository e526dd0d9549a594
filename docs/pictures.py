"""The pictures of the pages: how the error falls, what each damping rule gives, where an arm can go.

The docs build draws them all; `python docs/pictures.py` draws them alone.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import poise as pz
from poise.bench.problems import Problems, near, reachable
from poise_experiments.registry import experiment_of

FOLDER = Path(__file__).parent / "methods" / "_pictures"
COUNT, ITERATIONS = 30, 300
"""Problems a panel, and iterations of each, at most."""
AT = np.unique([0, *np.geomspace(1, ITERATIONS, 80).round()]).astype(int)
"""The iterations that are drawn."""
TOLERANCE = 1e-10
"""Small, so that the order of convergence shows [m and rad]."""
TEXT, OTHERS, MAIN = "#808080", "#9a9a9a", "#D55E00"
"""Legible on white and on black; the method's own colour is of Okabe and Ito."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 3)))
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": TEXT,
    "axes.grid": True,
    "axes.labelcolor": TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": TEXT,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.color": TEXT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": TEXT,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "poise",  # the same ids in every build
    "xtick.color": TEXT,
    "ytick.color": TEXT,
}


@contextmanager
def picture(path: Path, panels: int, height: float, **settings: Any) -> Iterator[list[Any]]:
    """The axes of a figure that is written to `path` in the end."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(3.3 * panels, height), layout="constrained")
        yield list(figure.subplots(1, panels, **settings))
        figure.savefig(path, metadata={"Date": None})


def draw(folder: Path = FOLDER) -> None:
    """Write one picture a method, by its short name; `damping`, `seam` and `cart.svg`; `reach` and `trac-ik.png`."""
    folder.mkdir(exist_ok=True)
    draw_methods(folder)
    draw_rules(folder / "damping.svg")
    draw_reach(folder / "reach.png")
    draw_seam(folder / "seam.svg")
    draw_cart(folder / "cart.svg")
    experiment_of("trac-ik").run(quick=False).draw(folder)


# --- how the error falls ----------------------------------------------------------------------------------------------


def sets() -> list[tuple[str, pz.Model, list[Any], Problems]]:
    """Title, model, tasks and problems of each panel."""
    arm, fork = pz.load("panda"), pz.load("y")
    hand = [pz.PoseTask("panda_hand", position_tolerance=TOLERANCE, rotation_tolerance=TOLERANCE)]
    tips = [pz.PositionTask(tip, tolerance=TOLERANCE) for tip in ("e0", "e1")]
    return [
        ("Panda, a pose, near start", arm, hand, near(arm, hand, COUNT, 0)),
        ("Panda, a pose, any start", arm, hand, reachable(arm, hand, COUNT, 0)),
        ("Y, two positions, any start", fork, tips, reachable(fork, tips, COUNT, 0)),
    ]


def errors(model: pz.Model, tasks: list[Any], problems: Problems, name: str) -> np.ndarray | None:
    """(COUNT, len(AT)) least error so far after each iteration, or None if the method cannot follow such tasks."""
    try:
        solver = pz.Solver(model, tasks, method=name, max_iterations=ITERATIONS, max_restarts=0, trace=True)
    except ValueError:
        return None
    out = []
    for target, start in zip(problems.targets, problems.starts, strict=True):
        found = np.minimum.accumulate(solver(target, start).trace.error)
        out.append(found[np.minimum(AT, len(found) - 1)])
    return np.maximum(out, TOLERANCE)


def draw_methods(folder: Path) -> None:
    """For each method its median over the problems and the middle half of them, among the medians of the others."""
    panels = [
        (
            title,
            {name: found for name in pz.methods.METHODS if (found := errors(model, tasks, problems, name)) is not None},
        )
        for title, model, tasks, problems in sets()
    ]
    for name in pz.methods.METHODS:
        with picture(folder / f"{name}.svg", len(panels), 2.6, sharey=True) as axes:
            for ax, (title, curves) in zip(axes, panels, strict=True):
                for other, found in curves.items():
                    if other != name:
                        ax.plot(AT, np.median(found, axis=0), color=OTHERS, linewidth=0.8, alpha=0.55)
                if name in curves:
                    low, middle, high = np.quantile(curves[name], (0.25, 0.5, 0.75), axis=0)
                    ax.fill_between(AT, low, high, color=MAIN, alpha=0.2, linewidth=0)
                    ax.plot(AT, middle, color=MAIN, linewidth=2.0)
                else:
                    ax.text(0.05, 0.08, f"not for {name}", transform=ax.transAxes, color=MAIN)
                ax.set_title(title)
                ax.set_xscale("symlog", linthresh=1.0, linscale=0.4)
                ax.set(xlim=(0, ITERATIONS), xlabel="iteration [count]", yscale="log")
                ax.xaxis.set_major_formatter("{x:.0f}")
            axes[0].set_ylabel(f"median error [m, rad]\n({TOLERANCE:g} where it is less)")


# --- what each damping rule gives -------------------------------------------------------------------------------------


def damping(rule: Any, elbow: float, error: float) -> tuple[float, float]:
    """sigma_min of a planar arm of two links of 1 m, and lambda^2, its elbow and its error [m] being given."""
    arm = pz.load("planar2")
    q = np.array([0.0, elbow])
    target = arm.pose("tool", q).xyz + error * np.array([np.cos(0.4), np.sin(0.4), 0.0])
    method = pz.methods.DampedLeastSquares(damping=rule, max_error=None)
    sol = pz.solve(
        arm, pz.PositionTask("tool", target), q0=q, method=method, max_iterations=1, max_restarts=0, trace=True
    )
    return sol.trace.singular_values[0, 1], sol.trace.damping[0]


BY_VALUE = {
    "NakamuraHanafusa(k0=0.01, w0=0.3)": pz.damping.NakamuraHanafusa(0.01, 0.3),
    "ChiaveriniSicilianoEgeland(0.2, 0.1)": pz.damping.ChiaveriniSicilianoEgeland(0.2, 0.1),
    "MaxNorm(1.0)": pz.damping.MaxNorm(1.0),
    "DeoWalker(1.0)": pz.damping.DeoWalker(1.0),
    "Constant(0.1)": pz.damping.Constant(0.1),
}
BY_ERROR = {
    "Curvature()": pz.damping.Curvature(),
    "ChanLawrence()": pz.damping.ChanLawrence(),
    "Sugihara()": pz.damping.Sugihara(),
    "RateBound(longest=1.0)": pz.damping.RateBound(1.0),
    "Constant(0.1)": pz.damping.Constant(0.1),
}


def draw_rules(path: Path) -> None:
    """lambda^2 against the smallest singular value, and against the error."""
    elbows, lengths = np.linspace(0.0, 1.2, 121), np.geomspace(1e-4, 1.0, 49)
    with picture(path, 2, 4.0) as (left, right):
        for i, (label, rule) in enumerate(BY_VALUE.items()):
            values = np.array([damping(rule, elbow, 0.3) for elbow in elbows]).T
            left.plot(*values, color=COLOURS[i], linestyle=DASHES[i], linewidth=1.8, label=label)
        left.set(xlabel="smallest singular value [m]", title="An error of 0.3 m")
        for i, (label, rule) in enumerate(BY_ERROR.items()):
            values = [damping(rule, 1.2, length)[1] for length in lengths]
            right.plot(lengths, values, color=COLOURS[i], linestyle=DASHES[i], linewidth=1.8, label=label)
        right.set(xlabel="error [m]", xscale="log", yscale="log", title="Elbow at 69 degrees", ylim=(1e-9, 10))
        for ax in (left, right):
            ax.set_ylabel("lambda squared [m\u00b2]")
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), handlelength=3.5)


# --- where an arm can go ----------------------------------------------------------------------------------------------


def draw_reach(path: Path) -> None:
    """Slices of the map of a Panda's hand, on white as they are written."""
    pz.reach(pz.load("panda"), "panda_hand", grid=0.05, orientations=32).figure().savefig(path, metadata={"Date": None})


# --- a seam at one speed ----------------------------------------------------------------------------------------------


def draw_seam(path: Path) -> None:
    """A welded corner from above, and the speed of the torch along it."""
    arm, speed = pz.load("panda"), 0.05
    corners = np.array([[0.45, -0.1, 0.3], [0.6, -0.1, 0.3], [0.6, 0.1, 0.3]])
    seam = np.hstack([corners, np.tile([0.0, 1.0, 0.0, 0.0], (3, 1))])
    limits = [pz.AccelerationLimit(10.0), pz.JerkLimit(500.0)]
    weld = pz.solve_path(arm, pz.PoseTask("panda_hand"), seam, limits=limits, tool_speed=speed, blend=0.01)
    t = np.linspace(0.0, weld.duration, 3000)
    state = weld.at(t)
    places = arm.pose("panda_hand", state.q).xyz
    speeds = np.linalg.norm((arm.jacobian("panda_hand", state.q) @ state.velocity[..., None])[:, :3, 0], axis=1)
    with picture(path, 2, 2.6) as (left, right):
        left.plot(*corners[:, 1::-1].T, color=OTHERS, linestyle=DASHES[1], label="the poses")
        left.plot(*places[:, 1::-1].T, color=MAIN, linewidth=2.0, label="the torch")
        left.set(title="From above", xlabel="y [m]", ylabel="x [m]", aspect="equal")
        left.legend(loc="upper right")
        right.plot(t, 1e3 * speeds, color=MAIN, linewidth=2.0)
        right.set(title="Its speed", xlabel="time [s]", ylabel="speed [mm/s]", ylim=(0.0, 1.2e3 * speed))


# --- a car among obstacles ------------------------------------------------------------------------------------------


def draw_cart(path: Path) -> None:
    """A car with an arm on its way round a partition, from above, and how fast its wheels turn."""
    page = (Path(__file__).parent / "carts.md").read_text()
    said: dict[str, Any] = {"print": lambda *_: None}
    exec("".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]), said)  # the recipe of the page itself
    way, car, t = said["path"], said["car"], np.linspace(0.0, said["path"].duration, 2000)
    state = way.at(t)
    box = np.array([[-0.1, -0.225], [0.55, -0.225], [0.55, 0.225], [-0.1, 0.225], [-0.1, -0.225]])
    with picture(path, 2, 2.6) as (left, right):
        for name in said["world"]:
            shape = said["world"][name]
            x, y, wide, deep = *shape.pose.xyz[:2], *shape.size[:2]
            left.fill([x - wide / 2, x + wide / 2, x + wide / 2, x - wide / 2],
                      [y - deep / 2, y - deep / 2, y + deep / 2, y + deep / 2], color=OTHERS, alpha=0.5)  # fmt: skip
        for q in state.q[:: len(t) // 8]:
            turn = np.array([[np.cos(q[2]), -np.sin(q[2])], [np.sin(q[2]), np.cos(q[2])]])
            left.plot(*(q[:2, None] + turn @ box.T), color=OTHERS, linewidth=0.8)
        left.plot(*state.q[:, :2].T, color=MAIN, linewidth=2.0, label="the rear axle")
        left.plot(*way.model.pose("hand", state.q).xyz[:, :2].T, color=MAIN, linestyle=DASHES[1], label="the hand")
        left.plot(4.0, 0.0, "x", color=MAIN)
        left.set(title="From above", xlabel="x [m]", ylabel="y [m]", aspect="equal")
        left.legend(loc="upper left", fontsize=7, bbox_to_anchor=(1.0, 1.0))
        right.plot(t, car.rates(car.twist(way.model, state.q, state.velocity)), color=MAIN, linewidth=0.8)
        right.set(title="Its wheels", xlabel="time [s]", ylabel="rate [rad/s]")


if __name__ == "__main__":
    draw()
