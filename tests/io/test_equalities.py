"""Loops of MJCF files: each is as far open as MuJoCo's own constraint says, and what is not read is named."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array

mujoco = pytest.importorskip("mujoco")

DATA = Path(__file__).parents[1] / "data"

LOOPS = """<mujoco model="loops"><compiler angle="radian" autolimits="true"/>
<default><geom size="0.01" mass="1"/></default>
<worldbody>
  <site name="hook" pos="0.5 0.2 0.1" quat="1 0.2 0.1 0"/>
  <body name="a" pos="0 0 1" quat="1 0 1 0.2"><joint name="a" axis="0 1 1"/><geom/>
    <site name="on_a" pos="0.1 0 0.2" quat="1 0.3 0 0"/>
    <body name="b" pos="0.3 0 0"><joint name="b" type="ball"/><geom/></body>
  </body>
  <body name="c" pos="0.2 0.3 0" quat="1 0 0 0.7"><freejoint name="c"/><geom/>
    <site name="on_c" pos="0 0.1 0" quat="1 0 0.4 0"/>
    <body name="d" pos="0 0 0.2"><joint name="d" type="slide" axis="1 0 0" range="-1 1"/><geom/></body>
  </body>
  <body name="hand" pos="0 0 2" mocap="true"/>
</worldbody>
<equality>
  <connect name="pin" body1="b" body2="d" anchor="0.1 -0.2 0.3"/>
  <connect name="to_world" body1="d" anchor="0.1 0 0"/>
  <connect name="sites" site1="on_a" site2="on_c"/>
  <weld name="weld" body1="b" body2="c"/>
  <weld name="posed" body1="a" body2="d" relpose="0.1 0.2 0.3 1 0.5 0.2 0" anchor="0 0.05 0.1"/>
  <weld name="soft" body1="a" body2="c" relpose="0.3 0 0 1 0 1 0" torquescale="0"/>
  <weld name="fixed_sites" site1="on_c" site2="hook"/>
  <weld name="off" body1="a" body2="b" active="false"/>
  <weld name="led" body1="d" body2="hand"/>
</equality></mujoco>"""
KINDS = {
    "pin": "point", "to_world": "point", "sites": "point", "weld": "pose", "posed": "pose", "soft": "point",
    "fixed_sites": "pose",
}  # fmt: skip


def read(folder: Path, text: str) -> tuple[pz.Model, Any]:
    file = folder / "loops.xml"
    file.write_text(text)
    return pz.load(file), mujoco.MjModel.from_xml_path(str(file))


def constraint(m: Any, qpos: Array) -> dict[int, Array]:
    """What MuJoCo says that each equality lacks: 3 rows [m], of a weld 3 more, sin(angle / 2) along an axis."""
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    rows = d.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    return {int(i): d.efc_pos[rows & (d.efc_id == i)] for i in np.unique(d.efc_id[rows])}


def left(model: pz.Model, loop: pz.Loop, q: Array) -> tuple[float, float]:
    """How far apart the frames of a loop are [m], and the sine of half the angle between them."""
    seen = model.pose(loop.first, q).inverse() @ model.pose(loop.second, q)
    return float(np.linalg.norm(seen.xyz)), float(np.linalg.norm(seen.wxyz[1:]))


def test_every_loop_is_as_far_open_as_mujoco_says(tmp_path: Path) -> None:
    with pytest.warns(pz.ModelWarning, match="weld 'led' is ignored: 'hand' is a mocap body"):
        model, m = read(tmp_path, LOOPS)
    assert [loop.kind for loop in model.loops] == list(KINDS.values())
    assert model.loops[2] == pz.Loop("on_a", "on_c", "point")
    for q in model.sample(20, seed=0):
        said = constraint(m, q)
        for loop, (name, kind) in zip(model.loops, KINDS.items(), strict=True):
            rows = said[m.eq(name).id]
            apart, turned = left(model, loop, q)
            assert np.linalg.norm(rows[:3]) == pytest.approx(apart, abs=1e-12)
            if kind == "pose":
                assert np.linalg.norm(rows[3:]) == pytest.approx(turned, abs=1e-12)


def test_what_we_close_is_closed_to_mujoco(tmp_path: Path) -> None:
    file = DATA / "gripper.xml"
    model, m = pz.load(file), mujoco.MjModel.from_xml_path(str(file))
    assert [loop.first for loop in model.loops] == ["right/1", "left/1"]
    names = [m.joint(i).name for i in range(m.njnt)]
    tracker, q = pz.Tracker(model, pz.PositionTask("right_pad"), dt=0.05), model.home
    rng = np.random.default_rng(0)
    for k in range(60):
        if k % 10 == 0:
            target = rng.uniform(-0.3, 0.5, 3)
        q = np.array(tracker.step(q, target))
        values = model.named(q)
        said = constraint(m, np.array([values[name] for name in names]))
        assert len(said) == 3  # the coupling of the drivers too
        assert max(np.abs(rows).max() for rows in said.values()) < 1e-7
    found = pz.solve(model, pz.JointCouplingTask({"left_driver": 1.0}, target=0.5), q0=q)
    assert found.success
    values = model.named(found.q)
    assert values["right_driver"] == pytest.approx(0.5, abs=1e-6)
    said = constraint(m, np.array([values[name] for name in names]))
    assert max(np.abs(rows).max() for rows in said.values()) < 1e-6


def test_the_frames_of_a_loop_are_named_after_it(tmp_path: Path) -> None:
    text = LOOPS.replace('<connect name="pin"', "<connect")
    with pytest.warns(pz.ModelWarning):
        model, _ = read(tmp_path, text)
    assert model.loops[0] == pz.Loop("connect0/1", "connect0/2")
    assert {"connect0/1", "posed/1", "posed/2"} <= set(model.frames)
    assert model.frame("to_world/2").link == "world"


def test_a_loop_between_bodies_that_never_part_is_named_and_left_out(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body name="a"><joint/><geom size="1"/><body name="b" pos="0 0 1"/></body></worldbody>
    <equality><weld name="glue" body1="a" body2="b"/></equality></mujoco>"""
    with pytest.warns(pz.ModelWarning, match="weld 'glue' is ignored: no joint moves"):
        model, _ = read(tmp_path, text)
    assert model.loops == ()


def test_equalities_of_tendons_are_named(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body><joint name="a"/><geom size="1"/><body><joint name="b"/><geom size="1"/></body>
    </body></worldbody><tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>
    <equality><tendon tendon1="t"/></equality></mujoco>"""
    with pytest.warns(pz.ModelWarning, match=r"equality constraints are ignored \(1 tendon\)"):
        read(tmp_path, text)
