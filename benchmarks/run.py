"""poise beside other libraries: the same problems, one process, one judge; see README.md in this folder."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import batches
import robots
from branches import Row as BranchRow
from branches import branches
from branches import show as show_branches
from crowd import Crowd, crowd
from crowd import show as show_crowd
from holds import Kept, holds
from holds import show as show_holds
from motions import Read, motions
from motions import show as show_motions
from near import Near, Reach, near, reach
from near import show as show_near
from paths import Followed, paths
from paths import show as show_paths
from peers import CROWDS, FOLLOWERS, GUARDS, PEERS, Peer, load
from postures import Drawn, postures
from postures import show as show_postures
from priorities import priorities
from priorities import show as show_priorities
from problems import Problems, moving, nearby, scattered
from race import race
from reachability import Mapped, reachability
from reachability import show as show_reachability
from report import Table, as_json, from_json, machine, show, table
from rest import rest
from rest import show as show_rest
from soft import Soft, soft
from soft import show as show_soft
from throughput import Throughput, throughput
from throughput import show as show_throughput
from updates import Update, updates
from updates import show as show_updates

SCENARIOS = (
    "arms", "tracking", "humanoid", "throughput", "priorities", "updates", "near", "reach", "postures", "soft",
    "crowd", "branches", "rest", "reachability", "paths", "collisions", "holds", "motions", "stream", "viewer",
    "startup", "hands", "retarget",
)  # fmt: skip
SERIAL = ("poise", "poise.solve", "cartan", "optik", "pytracik", "roboticstoolbox", "pin", "mink")
TREES = ("poise", "pin", "mink", "placo")
PLACO = Path(__file__).parent / ".venv-placo" / "bin" / "python"
BATCH = Path(__file__).parent / ".venv-batch" / "bin" / "python"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    """Run the scenarios named on the command line."""
    options = arguments()
    # Numerical libraries read these when they are loaded, so the process starts over.
    if ONE_THREAD.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    print(", ".join(machine().values()), flush=True)
    tables: list[Table] = []
    waits: dict[str, float] = {}
    if "arms" in options.scenarios:
        for robot in robots.arms():
            title = f"{robot.name}: random targets, random starts, to 1e-6 m and 1e-6 rad"
            tables += contest(title, scattered(robot, options.count), chosen(SERIAL, options.peers), options.rounds)
    if "tracking" in options.scenarios:
        for robot in robots.arms():
            title = f"{robot.name}: a target that moves 3 mm a step, from the last answer, to 1e-6 m and 1e-6 rad"
            tables += contest(title, moving(robot, options.count), chosen(SERIAL, options.peers), options.rounds)
    if "humanoid" in options.scenarios:
        title = "G1: both hands and both feet, from a nearby pose, to 1e-4 m and 1e-4 rad"
        problems, names = nearby(robots.humanoid(), options.count), chosen(TREES, options.peers)
        apart = placo_apart(names)
        tables += contest(title, problems, names, options.rounds)
        if apart and (beside := beside_placo("humanoid", options)):
            tables += from_json(beside)
    many: list[Throughput] = []
    crowds: list[batches.Batched] = []
    if "throughput" in options.scenarios:
        many.append(throughput(options.count, options.rounds))
        show_throughput(many[0])
        python = options.batch if options.batch.exists() else Path(sys.executable)
        if wanted := chosen(tuple(CROWDS), options.peers):
            crowds = batches.apart(python, options.count, options.rounds, wanted)
    steps: list[list[dict[str, Any]]] = []
    if "priorities" in options.scenarios:
        names = chosen(tuple(FOLLOWERS), options.peers)
        apart = placo_apart(names)
        if rows := priorities(options.count, options.rounds, names):
            show_priorities(rows)
            steps.append([asdict(row) for row in rows])
        if apart and (beside := beside_placo("priorities", options)):
            steps += beside["priorities"]
    if "rest" in options.scenarios:
        show_rest(rest(options.count))
    measured: list[Update] = []
    if "updates" in options.scenarios:
        measured = updates()
        show_updates(measured)
    promised: list[Near | Reach] = []
    for name, scenario in (("near", near), ("reach", reach)):
        if name in options.scenarios:
            rows_of: Any = scenario(options.count)
            show_near(rows_of)
            promised += rows_of
    found: list[Drawn] = []
    if "postures" in options.scenarios:
        found = postures(options.count)
        show_postures(found)
    led: list[Crowd] = []
    if "crowd" in options.scenarios:
        led = crowd(options.rounds, options.count)
        show_crowd(led)
    eased: list[Soft] = []
    if "soft" in options.scenarios:
        eased = soft(options.count)
        show_soft(eased)
    mapped: list[Mapped] = []
    if "reachability" in options.scenarios:
        mapped = reachability(options.count)
        show_reachability(mapped)
    whole: list[Followed] = []
    if "paths" in options.scenarios:
        whole = paths(options.rounds)
        show_paths(whole)
    kept_apart: dict[str, Any] = {}
    if "collisions" in options.scenarios:
        from collisions import as_dict, collisions, runs

        measured_apart = collisions(options.count, chosen(tuple(GUARDS), options.peers))
        kept_apart = as_dict(*measured_apart, runs(options.runs))
    held: list[Kept] = []
    if "holds" in options.scenarios:
        held = holds(options.count, options.runs)
        show_holds(held)
    opened: list[Read] = []
    if "motions" in options.scenarios:
        opened = motions()
        show_motions(opened)
    every: list[BranchRow] = []
    if "branches" in options.scenarios:
        every = branches(options.count)
        show_branches(every)
    if "startup" in options.scenarios:
        from startup import startup

        waits = startup()
        print("\n| poise, Panda | ms |\n|---|--:|")
        for what, seconds in waits.items():
            print(f"| {what} | {1e3 * seconds:,.4g} |")
    flow: dict[str, Any] = {}
    if "stream" in options.scenarios:
        from stream import show as show_stream
        from stream import stream, survive

        runs, survived = stream(options.count), survive()
        show_stream(runs, survived)
        flow = {"runs": [asdict(run) for run in runs], "survived": asdict(survived)}
    looks: list[dict[str, Any]] = []
    if "viewer" in options.scenarios:
        from viewer import show as show_viewer
        from viewer import viewer

        seen = viewer()
        show_viewer(seen)
        looks = [asdict(row) for row in seen]
    grasped: list[dict[str, Any]] = []
    if "hands" in options.scenarios:
        from hands import apart as hands

        python = options.batch if options.batch.exists() else Path(sys.executable)
        grasped = [asdict(row) for row in hands(python)]
    carried: list[dict[str, Any]] = []
    if "retarget" in options.scenarios:
        from retarget import retarget
        from retarget import show as show_retarget

        bodies = retarget()
        show_retarget(bodies)
        carried = [asdict(row) for row in bodies]
    if options.json:
        more = {"priorities": steps, "updates": [asdict(row) for row in measured]}
        more["promises"] = [asdict(row) for row in promised]
        more["throughput"] = [asdict(row) for row in many]
        more["batches"] = [asdict(row) for row in crowds]
        more["postures"] = [asdict(row) for row in found]
        more["crowd"] = [asdict(row) for row in led]
        more["soft"] = [asdict(row) for row in eased]
        more["reachability"] = [asdict(row) for row in mapped]
        more["paths"] = [asdict(row) for row in whole]
        more["collisions"] = kept_apart
        more["holds"] = [asdict(row) for row in held]
        more["motions"] = [asdict(row) for row in opened]
        more["branches"] = [asdict(row) for row in every]
        more["stream"] = flow
        more["viewer"] = looks
        more["hands"] = grasped
        more["retarget"] = carried
        options.json.write_text(json.dumps(as_json(tables, waits) | more, indent=2) + "\n")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="scenario", help=f"of {', '.join(SCENARIOS)}; left out, all")
    parser.add_argument("--count", type=int, default=1000, help="problems a robot (1000)")
    parser.add_argument("--runs", type=int, default=200, help="runs aimed through obstacles (200)")
    parser.add_argument("--rounds", type=int, default=3, help="times that each problem is solved (3)")
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=PEERS | FOLLOWERS | CROWDS | GUARDS,
        help="libraries; left out, all that fit the scenario",
    )
    parser.add_argument("--placo", type=Path, default=PLACO, help="the interpreter of placo's own environment")
    parser.add_argument("--batch", type=Path, default=BATCH, help="the interpreter of those that solve many at once")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    options = parser.parse_args()
    options.scenarios = options.scenarios or SCENARIOS
    if unknown := set(options.scenarios) - set(SCENARIOS):
        parser.error(f"no scenario {', '.join(sorted(unknown))}; they are {', '.join(SCENARIOS)}")
    return options


def chosen(fitting: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The libraries that fit a scenario and that the command line did not leave out."""
    return [name for name in fitting if wanted is None or name in wanted]


def contest(title: str, problems: Problems, names: Sequence[str], rounds: int) -> list[Table]:
    """Race the libraries that are installed and show the table."""
    peers: dict[str, Peer] = {}
    for name in names:
        try:
            peers[name] = load(name)(problems.robot, problems.tolerance)
        except ImportError as error:
            print(f"{name} is missing: pip install {PEERS[name][0]} ({error})")
    if not peers:
        return []
    result = table(title, race(problems, peers, rounds))
    show(result)
    return [result]


def placo_apart(names: list[str]) -> bool:
    """Whether placo is among the names but not in this environment; they are then left without it."""
    apart = "placo" in names and find_spec("placo") is None
    if apart:
        names.remove("placo")
    return apart


def beside_placo(scenario: str, options: argparse.Namespace) -> dict[str, Any]:
    """A scenario again with placo, in the environment that its pins need; the problems are the same."""
    if not options.placo.exists():
        print(f"placo is missing: {options.placo} does not exist; benchmarks/setup.sh makes it")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        measured = Path(folder) / "placo.json"
        command = [str(options.placo), __file__, scenario, "--peers", "poise", "placo", "--json", str(measured)]
        subprocess.run([*command, "--count", str(options.count), "--rounds", str(options.rounds)], check=True)
        return json.loads(measured.read_text())


if __name__ == "__main__":
    main()
