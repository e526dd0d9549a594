"""Solves and kinematics in PyTorch: its own checks of derivatives, types, shapes, compilers and vmap."""

from typing import Any

import numpy as np
import pytest
from support.learning import arm, drawn, five, solver, starts, turned, turned_starts
from support.refusals import refused

import poise as pz

torch: Any = pytest.importorskip("torch")
import poise.torch as pt  # noqa: E402


@pytest.fixture(scope="module")
def poses() -> Any:
    return torch.tensor(arm().pose(arm().tip, starts()).matrix())


@pytest.fixture(scope="module")
def numbers() -> Any:
    return torch.tensor(arm().pose(arm().tip, starts()).array)


def check(function: Any, given: Any) -> None:
    assert torch.autograd.gradcheck(function, (given.clone().requires_grad_(),), eps=1e-5, atol=1e-6, rtol=1e-6)


def test_gradcheck_of_a_solve_by_quaternions_and_matrices(poses: Any, numbers: Any) -> None:
    """Of all numbers, tangents and others: those that no pose can have change nothing."""
    ik, q0 = pt.ik(solver()), torch.tensor(starts())
    check(lambda x: ik(x, q0), numbers)
    check(lambda x: ik(torch.cat([x, poses[:, 3:]], 1), q0), poses[:, :3])


def test_gradcheck_where_a_posture_says_which_answer_it_is(poses: Any, numbers: Any) -> None:
    """From wherever the search begins: at default tolerances and steps, for q is the exact rest."""
    ik, q0 = pt.ik(drawn()), torch.tensor(arm().home + 0.3)
    posture = torch.tensor(arm().home + 0.05).requires_grad_()
    for function, given in (
        (lambda x: ik(x, q0), (numbers,)),
        (lambda x: ik(torch.cat([x, poses[:, 3:]], 1), q0), (poses[:, :3],)),
        (lambda x, there: ik([x, there], q0), (numbers, posture)),
        (lambda there: ik([numbers, there], q0), (posture,)),
    ):
        assert torch.autograd.gradcheck(function, tuple(x.clone().detach().requires_grad_() for x in given))
    assert torch.equal(ik(numbers, q0), ik([numbers, None], q0))


def test_gradcheck_of_what_is_missed_and_of_points() -> None:
    there = five().pose("tool", turned_starts())
    aside = there.rotation @ pz.SO3.from_rotvec([0.1, 0.2, 0.1])
    ik, q0 = pt.ik(turned()), torch.tensor(turned_starts())
    places = torch.tensor(there.xyz)
    for turns in (aside.matrix(), aside.wxyz):
        given = tuple(torch.tensor(x).requires_grad_() for x in (there.xyz, turns))
        assert torch.autograd.gradcheck(lambda *x: ik(x, q0), given)
    tasks = [pz.PositionTask("tool"), pz.JointCouplingTask({"j4": 1.0}, target=0.3), pz.PostureTask(np.zeros(5))]
    both = pt.ik(pz.Solver(five(), tasks))
    sums = torch.tensor([0.4, 0.5], dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, total: both([x, total, None], q0), (places.clone().requires_grad_(), sums)
    )
    assert both(places, q0).shape == (2, 5)  # the only task without a target of its own


def test_several_targets_are_broadcast_and_refused_in_words(numbers: Any) -> None:
    ik, q0, home = pt.ik(drawn()), torch.tensor(starts()), torch.tensor(arm().home)
    assert ik([numbers.reshape(3, 1, 7), home.expand(2, 7)], q0[0]).shape == (3, 2, 7)
    one = ik([numbers[0], home], q0[0])
    assert torch.allclose(ik([numbers.float(), home], q0[0])[0], one.float(), atol=1e-5)
    two = pt.ik(pz.Solver(arm(), [pz.PositionTask(arm().tip), pz.OrientationTask(arm().tip)]))
    with pytest.raises(TypeError, match="ik takes a list of 2 targets"):
        two(numbers)
    with pytest.raises(pz.ShapeError, match="ik takes a list of 2 targets, one a task, got 1"):
        two([numbers[:, :3]])
    with pytest.raises(pz.ShapeError, match=r"ik takes rotations .* got shape \(3, 5\)"):
        two([numbers[:, :3], torch.zeros(3, 5)])
    with pytest.raises(TypeError, match="all targets are None"):
        ik([None, None])
    near = pz.RegionTask(arm().tip, pz.Sphere((0.0, 0.0, 0.0), 2.0))
    within = pt.ik(pz.Solver(arm(), [pz.PoseTask(arm().tip), near]))
    assert within(numbers, q0).shape == (3, 7)
    with pytest.raises(pz.ShapeError, match="takes no target, give None"):
        within([numbers, numbers])
    with pytest.raises(ValueError, match="a task that has a target"):
        pt.ik(pz.Solver(arm(), near))


def test_gradcheck_of_kinematics() -> None:
    q = torch.tensor(starts())
    shaped = arm().with_shapes({f"panda_link{k}": pz.Sphere((0.0, 0.0, 0.0), 0.05) for k in (2, 7)})
    world = pz.World({"ball": pz.Sphere((0.6, 0.2, 0.4), 0.1)})
    for function in (
        pt.pose(arm(), arm().tip),
        pt.jacobian(arm(), arm().tip),
        pt.manipulability(arm(), arm().tip),
        pt.distance(shaped, world, self_collision=False),
    ):
        check(function, q)


def test_gradcheck_of_a_floating_base() -> None:
    """Its quaternion is four numbers of q, and the cotangents are theirs."""
    b = pz.ModelBuilder("box")
    b.joint("turn", "revolute", parent="body", child="arm", origin=pz.SE3.from_parts([0.1, 0.2, 0.3]))
    b.mass("body", 1.0, centre=(0.1, 0.0, 0.0))
    b.mass("arm", 2.0, centre=(0.0, 0.3, 0.0))
    model = b.build(base="floating")
    q = torch.tensor(model.sample(2, seed=1))
    q[:, :3] = 0.1
    unit = lambda x: torch.cat([x[:, :3], x[:, 3:7] / x[:, 3:7].norm(dim=1, keepdim=True), x[:, 7:]], 1)  # noqa: E731
    for function in (pt.pose(model, "arm"), pt.centre_of_mass(model)):
        check(lambda x, function=function: function(unit(x)), q)


def test_types_shapes_and_starts(poses: Any) -> None:
    ik, q0 = pt.ik(solver(position_tolerance=1e-6, rotation_tolerance=1e-6)), torch.tensor(starts())
    for kind in (torch.float32, torch.float64):
        given = poses.to(kind, copy=True).requires_grad_()
        found = ik(given, q0)
        assert (found.dtype, found.shape) == (kind, (3, 7))
        assert torch.allclose(found, q0.to(kind), atol=1e-5)
        found.sum().backward()
        assert (given.grad.dtype, given.grad.shape) == (kind, (3, 4, 4))
    assert ik(poses[0]).shape == (7,)
    assert ik(poses.reshape(3, 1, 4, 4), q0[0]).shape == (3, 1, 7)
    assert ik(poses[:0], q0[:0]).shape == (0, 7)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what PyTorch's compiler does itself
def test_compilers_and_vmap_see_one_operator(poses: Any) -> None:
    ik, q0 = pt.ik(solver()), torch.tensor(starts())
    given = poses.clone().requires_grad_()
    (slope,) = torch.autograd.grad(ik(given, q0).sum(), given)
    assert torch.equal(torch.vmap(ik)(poses, q0), ik(poses, q0))
    by_row = torch.func.vmap(torch.func.grad(lambda x, start: ik(x, start).sum()))(poses, q0)
    assert torch.equal(by_row, slope)
    compiled = torch.compile(lambda x, start: ik(x, start).sum(), backend="aot_eager", fullgraph=True)
    compiled(given, q0).backward()
    assert torch.equal(given.grad, slope)
    both, home = pt.ik(drawn()), torch.tensor(arm().home)
    assert torch.equal(torch.vmap(lambda x: both([x, home], q0[0]))(poses), both([poses, home], q0[0]))


def test_what_cannot_be_done_is_said(poses: Any) -> None:
    ik, q0 = pt.ik(solver()), torch.tensor(starts())
    given = poses.clone().requires_grad_()
    (slope,) = torch.autograd.grad(ik(given, q0).sum(), given, create_graph=True)
    with pytest.raises(RuntimeError, match="derivatives of the first order"):
        slope.sum().backward()
    with pytest.raises(TypeError, match="ik takes a tensor of float32 or float64, got float64"):
        ik(np.eye(4))
    with pytest.raises(TypeError, match=r"got torch\.int64"):
        ik(torch.eye(4, dtype=torch.int64))
    with refused("wrong-shape", "ik"):
        ik(torch.zeros(3, 6))
    with pytest.raises(pz.ShapeError, match="q0 must have 7 numbers"):
        ik(poses, torch.zeros(6))


def test_a_singular_answer_raises_or_adds_nothing() -> None:
    model = pz.load("ur5e")
    q = np.array([0.3, -1.0, 1.2, 0.4, 0.0, 0.2])  # the wrist is straight
    given = torch.tensor(model.pose(model.tip, q).array).requires_grad_()
    one = pz.Solver(model, pz.PoseTask(model.tip))
    with pytest.raises(ValueError, match="1 of 1 answers have no derivative"):
        pt.ik(one)(given, torch.tensor(q)).sum().backward()
    pt.ik(one, undefined="zero")(given, torch.tensor(q)).sum().backward()
    assert not given.grad.any()
