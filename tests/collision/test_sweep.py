"""How far shapes can go: no point of any goes farther than a sweep says, and a sweep is no more than a travel."""

from pathlib import Path

import numpy as np
import pytest
from measuring import compiled

import poise as pz
from poise.common.array import Array
from poise.kernels.collision.near import max_displacement, place_movers, sweep
from poise.kernels.machine import layout, packing
from poise.kernels.machine.views import narrow, problem_at

JOINTS = """
<mujoco><worldbody><body pos="0 0 0.3"><joint name="ball" type="ball"/>
<geom type="capsule" fromto="0.1 0 0 0.4 0.1 0" size="0.05"/>
<body pos="0.4 0.1 0"><joint name="slide" type="slide" axis="0 1 1" range="-0.2 0.3" limited="true"/>
<geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.03"/>
<body pos="0 0 0.2"><joint name="hinge" type="hinge" axis="1 0 1" range="-2 2" limited="true"/>
<geom type="capsule" fromto="0.1 0 0 0.1 0.2 0.1" size="0.02"/></body></body></body></worldbody></mujoco>
"""
COUPLED = JOINTS.replace(
    "</mujoco>",
    """<equality><joint joint1="slide" joint2="hinge" polycoef="0.02 0.06 0.02 -0.005 0"/></equality></mujoco>""",
)
"""The slide follows the hinge, which it carries."""


@compiled
def _ways(words, work, ways, rates, out):
    s = problem_at(words)
    x = narrow(s, work, words)
    place_movers(s, x)
    for i in range(s.scene[0].movers):
        out[3 * i], out[3 * i + 1] = sweep(s, x, i, 0, ways, rates)
        out[3 * i + 2] = max_displacement(s, i, 0, ways)


@pytest.mark.parametrize("robot", ["panda_collision", "ball", "coupled"])
def test_no_point_goes_farther_than_a_sweep(robot: str, tmp_path: Path) -> None:
    file = tmp_path / "joints.xml"
    file.write_text(COUPLED if robot == "coupled" else JOINTS)
    model = pz.load(robot if robot == "panda_collision" else str(file))
    scene = pz.CollisionLimit(self_collision=True).scene(model)
    movers = int(packing.unpack(scene.words, "scene")["movers"][0])
    bounds = packing.unpack(scene.words, "shapes")["bound"][:movers]
    rng = np.random.default_rng(0)
    least = np.inf

    def look(q: Array, ways: Array, rates: Array) -> tuple[Array, Array]:
        scene.q[:] = q
        out = np.zeros(3 * movers)
        _ways(scene.words, scene.narrow, ways, rates, out)
        frames = scene.rows("proximity.shape_frames").reshape(-1, layout.FRAME)[:movers]
        along = bounds[:, None] * frames[:, 3:6]
        return np.stack([frames[:, :3], frames[:, :3] + along, frames[:, :3] - along]), out.reshape(-1, 3).T

    for q in model.sample(40, seed=0):
        ways = rng.exponential(0.2, model.nv) * (rng.random(model.nv) < 0.7)
        before, (most, share, farthest) = look(q, ways, 0.3 * ways)
        assert (most <= farthest * (1.0 + 1e-12)).all()
        np.testing.assert_allclose(share, 0.3 * most, rtol=1e-12)
        for _ in range(20):
            part = rng.choice([-1.0, 1.0], model.nv) * np.minimum(1.0, rng.exponential(1.0, model.nv))
            after, _ = look(model.integrate(q, part * ways), ways, ways)
            went = np.linalg.norm(after - before, axis=2).max(axis=0)
            assert (went <= most + 1e-12).all()
            least = min(least, float(np.min(most[most > 0.0] / np.maximum(went[most > 0.0], 1e-9))))
    assert least < 1.5  # and it is not much more than what they go
