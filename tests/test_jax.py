"""Solves and kinematics in JAX: its own checks of derivatives, types, jit and vmap."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.learning import arm, drawn, five, solver, starts, turned, turned_starts
from support.refusals import refused

import poise as pz

jax: Any = pytest.importorskip("jax")
import poise.jax as pj  # noqa: E402


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def check(function: Any, given: Any) -> None:
    from jax.test_util import check_grads  # type: ignore[import-not-found, unused-ignore]

    check_grads(function, (jax.numpy.asarray(given),), order=1, modes=["rev"], atol=1e-6, rtol=1e-6, eps=1e-5)


def test_check_grads_of_a_solve_and_of_kinematics() -> None:
    ik, q0 = pj.ik(solver()), starts()
    check(lambda x: ik(x, q0), arm().pose(arm().tip, q0).array)
    for function in (pj.pose(arm(), arm().tip), pj.jacobian(arm(), arm().tip), pj.manipulability(arm(), arm().tip)):
        check(function, q0)


def test_check_grads_of_several_targets() -> None:
    ik, poses = pj.ik(drawn()), arm().pose(arm().tip, starts()).array
    check(lambda x: ik(x, arm().home + 0.3), poses)
    check(lambda there: ik([poses, there], arm().home + 0.3), arm().home + 0.05)
    soft, there = pj.ik(turned()), five().pose("tool", turned_starts())
    aside = (there.rotation @ pz.SO3.from_rotvec([0.1, 0.2, 0.1])).matrix()
    check(lambda x: soft([x, aside], turned_starts()), there.xyz)
    assert soft([there.xyz[0], aside], turned_starts()).shape == (2, 5)


def test_types_jit_and_vmap() -> None:
    ik, q0 = pj.ik(solver(position_tolerance=1e-6, rotation_tolerance=1e-6)), jax.numpy.asarray(starts())
    poses = jax.numpy.asarray(arm().pose(arm().tip, starts()).matrix())
    slope = jax.grad(lambda x: ik(x, q0).sum())(poses)
    assert np.array_equal(jax.jit(jax.grad(lambda x: ik(x, q0).sum()))(poses), slope)
    assert np.array_equal(jax.vmap(jax.grad(lambda x, start: ik(x, start).sum()))(poses, q0), slope)
    single = ik(poses.astype(jax.numpy.float32), q0)
    assert (single.dtype, single.shape) == (jax.numpy.float32, (3, 7))
    assert np.allclose(single, q0, atol=1e-5)
    assert ik(poses[0]).shape == (7,)


def test_what_cannot_be_done_is_said() -> None:
    ik, q0 = pj.ik(solver()), starts()
    poses = jax.numpy.asarray(arm().pose(arm().tip, q0).array)
    with pytest.raises(NotImplementedError, match="derivatives of the first order"):
        jax.grad(lambda x: jax.grad(lambda y: ik(y, q0).sum())(x).sum())(poses)
    with pytest.raises(TypeError, match="ik takes an array of float32 or float64, got int64"):
        ik(jax.numpy.arange(7))
    with refused("wrong-shape", "ik"):
        ik(jax.numpy.zeros((3, 6)))
