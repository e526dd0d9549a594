"""A body fitted to orientations of sensors: `fit_orientations`, beside OpenSim's IMUInverseKinematicsTool on the same.

    python benchmarks/imus.py SETUP.xml [--opensim PYTHON] [--rounds 5]

The setup is one of OpenSim's, such as that of its OpenSense example, whose model has its sensors placed by the
IMUPlacer.  OpenSim runs as `--opensim`, a Python that has its package, in a process of its own; see `markers.py`.
Times are processor time, the least of some rounds.
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
from poise_motion.markers.ik_setup import IkSetup

TOOL = """
import sys, time
import opensim
opensim.Logger.setLevelString("off")
tool = opensim.IMUInverseKinematicsTool(sys.argv[1])
tool.set_results_directory(sys.argv[2])
begun = time.process_time()
tool.run(False)
print(time.process_time() - begun)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setup", type=Path)
    parser.add_argument("--opensim", type=Path, default=Path(".venv-opensim/bin/python"))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    setup = IkSetup.load(asked.setup)
    file, body = setup.orientations_file, setup.model_file
    if file is None or body is None:
        parser.error(f"{asked.setup} names no orientations_file or no model_file: add it there")
    model = pz.load(body)
    whole = pz.imus.load_orientations(file)
    trial = whole if setup.times is None else whole.between(*setup.times)

    least = partial(best, rounds=asked.rounds)
    fit = pz.imus.fit_orientations(model, trial, setup=asked.setup)
    turned = trial.turned(setup.turn)
    live = pz.MarkerFitter(model, sensors=trial.names)
    paces = {
        "a recording": least(lambda: pz.imus.fit_orientations(model, trial, setup=asked.setup)) / len(trial),
        "MarkerFitter.step, all weights alike": least(lambda: [live.step(orientations=row) for row in turned.wxyz])
        / len(trial),
    }
    if asked.opensim.exists():
        with TemporaryDirectory() as folder:
            command = [asked.opensim.absolute(), "-c", TOOL, asked.setup.resolve(), folder]
            said = subprocess.run(
                command, env={**os.environ, "PYTHONPATH": ""}, check=True, capture_output=True, text=True, cwd=folder
            )
        paces["OpenSim's tool"] = float(said.stdout.split()[-1]) / len(trial)
    else:
        print(f"{asked.opensim} is not there, so OpenSim is left out")
    print(
        f"{len(trial)} frames, {len(fit.sensors)} sensors, {model.nq} coordinates; root mean square of the angles "
        f"{np.degrees(np.sqrt(np.nanmean(fit.angles**2))):.3g} degrees\n"
    )
    rows = [[name, f"{1e6 * pace:.1f}", f"{1 / pace:.0f}"] for name, pace in paces.items()]
    print_table(["processor time"], ["us a frame", "frames a second"], rows)


if __name__ == "__main__":
    main()
