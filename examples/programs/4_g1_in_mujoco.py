"""A G1 in MuJoCo: it stands on its feet in the simulation and reaches, its servos led by a Tracker.

python 4_g1_in_mujoco.py --file g1.urdf --seconds 3; a known name's file is what `poise info g1 --json` says.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo's names are in its binary, where a type checker does not see them.

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import poise as pz

DT = 0.005
BEND = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
FEET, HANDS = ([f"{side}_{link}_link" for side in ("left", "right")] for link in ("ankle_roll", "wrist_yaw"))


def file_of(name: str) -> Path:
    """The file of a robot that is known by its name."""
    said = subprocess.run([sys.executable, "-m", "poise", "info", name, "--json"], capture_output=True, check=True)
    return Path(json.loads(said.stdout)["file"])


def simulation(file: Path) -> Any:
    """The robot of a URDF on a floor: a servo at each joint, and soles of four balls a foot in place of its meshes."""
    bare = re.sub(r"<(visual|collision)>.*?</\1>", "", file.read_text(), flags=re.DOTALL)
    spec = mujoco.MjSpec.from_string(bare)
    spec.option.timestep, spec.option.integrator = 0.001, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    for joint in spec.joints:
        joint.armature = 0.05
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gainprm[0], motor.biastype = 450.0, mujoco.mjtBias.mjBIAS_AFFINE
        motor.biasprm[:3] = [0.0, -450.0, -11.0]
    spec.worldbody.first_body().add_freejoint(name="root")
    for foot in FEET:
        for x, y in ((-0.05, -0.03), (-0.05, 0.03), (0.12, -0.03), (0.12, 0.03)):
            spec.body(foot).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.005, 0, 0], pos=[x, y, -0.03], mass=0.0)
    return spec.compile()


def main() -> None:
    """Reach, and say whether it still stands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    file = options.file or file_of("g1")
    body, model = pz.load(file, base="floating"), simulation(file)
    data = mujoco.MjData(model)
    q = body.q({f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in BEND.items()})
    q[2] += 0.035 - body.pose(FEET[0], q).xyz[2]
    # By name: where MuJoCo has what stands in q.  The floating base is x y z, w x y z in both.
    there = np.concatenate(
        [model.joint(name).qposadr[0] + np.arange(7 if name == "root" else 1) for name in body.joint_names]
    )
    motors = [model.actuator(name).id for name in body.joint_names if name != "root"]
    data.qpos[there] = q

    begin = [body.pose(hand, q).xyz for hand in HANDS]
    stand = [pz.PoseTask(foot, body.pose(foot, q)) for foot in FEET]
    balance = pz.CentreOfMassTask(body.centre_of_mass(q), weight=(1, 1, 0))
    reach = [pz.PositionTask(hand, priority=1) for hand in HANDS]
    rest = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture(q=q))
    loop = pz.Tracker(body, [*stand, balance, *reach], rest, dt=DT, limits=[pz.AccelerationLimit(40.0)])
    way = np.zeros(3)
    for tick in range(round(options.seconds / DT)):
        way = np.array([min(0.1 * tick * DT, 0.15), 0.0, 0.03 * np.sin(3.0 * tick * DT)])
        goals = [None, None, None, *(place + way for place in begin)]  # None: as it is
        q = loop.step(None, goals, measured=data.qpos[there])  # from the last command, never from the measured q
        data.ctrl[motors] = q[7:]
        mujoco.mj_step(model, data, nstep=round(DT / model.opt.timestep))

    measured = data.qpos[there]
    missed = max(
        float(np.linalg.norm(body.pose(hand, measured).xyz - place - way))
        for hand, place in zip(HANDS, begin, strict=True)
    )
    print(f"after {options.seconds:g} s the pelvis is {measured[2]:.3f} m high, the hands {1e3 * missed:.0f} mm off")
    assert np.allclose(data.body(HANDS[0]).xpos, body.pose(HANDS[0], measured).xyz, atol=1e-3)
    assert measured[2] > 0.7
    assert missed < 0.1


if __name__ == "__main__":
    main()
