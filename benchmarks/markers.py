"""A body fitted to measured markers: `fit_markers`, beside OpenSim's InverseKinematicsTool on the same files.

    python benchmarks/markers.py SETUP.xml [MODEL.osim] [MARKERS.trc] [--opensim PYTHON] [--rounds 5]

    python3 -m venv .venv-opensim && .venv-opensim/bin/pip install opensim==4.6

The setup is one of OpenSim's, such as that of its Gait2354 example; model and markers are those that it names, unless
others are given.  OpenSim runs as `--opensim`, a Python that has its package, in a process of its own: its tool once,
for the time, and its solver once more, whose answers have all digits.  Costs are what both make least, computed of both
answers by forward kinematics in poise, which the tests hold to OpenSim's.  Times are processor time, the least of some
rounds.
"""

import argparse
import os
import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from race import best
from report import print_table

import poise as pz
from poise.extending import Array
from poise_motion.markers.ik_setup import IkSetup

EIGHT = 8
TOOL = """
import sys, time
import numpy as np, opensim
opensim.Logger.setLevelString("off")
setup, model_file, markers, out = sys.argv[1:]
tool = opensim.InverseKinematicsTool(setup)
model = opensim.Model(model_file)
tool.setModel(model)
tool.setMarkerDataFileName(markers)
tool.setOutputMotionFileName(out + ".mot")
tool.setResultsDir(out + "_results")
begun = time.process_time()
tool.run()
spent = time.process_time() - begun
model = opensim.Model(model_file)
state = model.initSystem()
tool.setModel(model)
references, coordinates = opensim.MarkersReference(), opensim.SimTKArrayCoordinateReference()
tool.populateReferences(references, coordinates)
solver = opensim.InverseKinematicsSolver(model, references, coordinates, float(tool.get_constraint_weight()))
solver.setAccuracy(tool.get_accuracy())
first, last = tool.getStartTime() - 1e-9, tool.getEndTime() + 1e-9
times = [t for t in references.getMarkerTable().getIndependentColumn() if first <= t <= last]
state.setTime(times[0])
solver.assemble(state)
every = [model.getCoordinateSet().get(i) for i in range(model.getCoordinateSet().getSize())]
q = []
for t in times:
    state.setTime(t)
    solver.track(state)
    q.append([each.getValue(state) for each in every])
np.savez(out, q=q, names=[each.getName() for each in every], times=times, seconds=spent)
"""


def costs(model: pz.Model, markers: pz.Markers, setup: IkSetup, q: Array) -> Array:
    """(frames,) what both make least, at configurations q (frames, nq)."""
    names = [name for name in markers.names if setup.weights.get(name, 0.0) > 0.0 and name in model.frames]
    weights = np.array([setup.weights[name] for name in names])
    away = ((model.poses(q, names).xyz - markers.of(names).positions) ** 2).sum(axis=2)
    seen = ~np.isnan(away)
    out: Array = 0.5 * (np.where(seen, away, 0.0) @ weights) / (seen @ weights)
    values = setup.values_at(markers.times, model)
    for name, weight in setup.coordinates.items():
        at = model.index(name).start
        out = out + 0.5 * weight * (q[:, at] - values.get(name, model.home[at])) ** 2
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setup", type=Path)
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("markers", type=Path, nargs="?")
    parser.add_argument("--opensim", type=Path, default=Path(".venv-opensim/bin/python"))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    setup = IkSetup.load(asked.setup)
    source, body = asked.markers or setup.marker_file, asked.model or setup.model_file
    model, whole = pz.load(body), pz.load_markers(source)
    markers = whole if setup.times is None else whole.between(*setup.times)
    fit = pz.fit_markers(model, markers, setup=asked.setup)

    least = partial(best, rounds=asked.rounds)
    from_file = least(lambda: pz.fit_markers(model, pz.load_markers(source), setup=asked.setup)) / len(whole)
    alone = least(lambda: pz.fit_markers(model, whole, setup=asked.setup)) / len(whole)
    eight = least(lambda: pz.fit_markers(model, [whole] * EIGHT, setup=asked.setup)) / (EIGHT * len(whole))
    live = pz.MarkerFitter(model, markers.names, weights=setup.weights_of(markers.names), coordinates=setup.coordinates)
    step = least(lambda: [live.step(points) for points in markers.positions]) / len(markers)
    rows = [
        ["a recording, with reading its file", f"{1e6 * from_file:.1f}", f"{1 / from_file:.0f}"],
        ["a recording", f"{1e6 * alone:.1f}", f"{1 / alone:.0f}"],
        [f"{EIGHT} recordings in a call", f"{1e6 * eight:.1f}", f"{1 / eight:.0f}"],
        ["MarkerFitter.step", f"{1e6 * step:.1f}", f"{1 / step:.0f}"],
    ]
    if asked.opensim.exists():
        with TemporaryDirectory() as folder:
            out = Path(folder) / "opensim"
            files = [str(path.resolve()) for path in (asked.setup, Path(body), Path(source))]
            quiet = {"env": {**os.environ, "PYTHONPATH": ""}, "check": True, "capture_output": True, "cwd": folder}
            subprocess.run([asked.opensim.absolute(), "-c", TOOL, *files, str(out)], **quiet)  # type: ignore[call-overload]
            said = dict(np.load(f"{out}.npz"))
        theirs = float(said["seconds"]) / len(said["times"])
        rows.append(["OpenSim's tool", f"{1e6 * theirs:.1f}", f"{1 / theirs:.0f}"])
    print(f"{len(whole)} frames, {len(fit.names)} markers, {model.nq} coordinates\n")
    print_table(["processor time"], ["us a frame", "frames a second"], rows)
    if not asked.opensim.exists():
        print(f"{asked.opensim} is not there, so OpenSim is left out")
        return
    names = said["names"].tolist()
    q = said["q"][:, [names.index(name) for name in model.coordinates]]
    mine, other = costs(model, markers, setup, fit.motion.q), costs(model, markers, setup, q)
    turning = [i for i, name in enumerate(model.coordinates) if model.joint(name).kind == "revolute"]
    apart = np.degrees(np.abs(fit.motion.q - q)[:, turning]).max(axis=0)
    farthest = model.coordinates[turning[int(apart.argmax())]]
    print(
        f"cost: ours by theirs, less 1: {(mine / other - 1).min():.2g} to {(mine / other - 1).max():.2g}; higher in "
        f"{int((mine > other * (1 + 1e-6)).sum())} of {len(q)} frames\n"
        f"turns alike to {np.median(apart):.3f} degrees in the median joint, {apart.max():.3f} in {farthest}"
    )


if __name__ == "__main__":
    main()
