"""Poses are the joints' motions composed, and Jacobians are their derivatives, on random trees."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused
from support.trees import composed, configurations, reach, trees

import poise as pz
from poise.common.array import Array
from poise.common.errors import FrameNotFound, ShapeError
from poise.io import load
from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.spatial import SE3

often = settings(max_examples=40)

STEP = 1e-3
OFFSETS = np.array([1.0, -1.0, 2.0, -2.0])
WEIGHTS = np.array([8.0, -8.0, -1.0, 1.0]) / (12.0 * STEP)
"""Five-point central differences: an error of STEP^4 times the fifth derivative."""


def fixed() -> Model:
    """Links, a site and a branch, and nothing that moves."""
    builder = ModelBuilder("statue")
    builder.joint("neck", "fixed", parent="body", child="head", origin=SE3.from_xyz_rpy([0, 0, 1.5], [0, 0, 0.3]))
    builder.joint("arm", "fixed", parent="body", child="hand", origin=SE3.from_parts([0.5, 0, 1]))
    builder.frame("eye", link="head", origin=SE3.from_xyz_rpy([0.1, 0, 0.1], [0.2, 0, 0]))
    return builder.build()


def steps(model: Model, q: Array) -> Array:
    """(4, nv, nq) configurations off `q` by each of OFFSETS along each velocity."""
    return model.integrate(q, STEP * OFFSETS[:, None, None] * np.eye(model.nv))


def derivative(values: Array) -> Array:
    """(n, nv) derivative at 0 of (4, nv, n) values off it."""
    return np.einsum("k,kvn->nv", WEIGHTS, values)


# Poses -----------------------------------------------------------------------------------------------------------


@often
@given(st.data())
def test_every_frame_stands_where_its_joints_put_it(data: st.DataObject) -> None:
    model = data.draw(trees(functions=True))
    q = data.draw(configurations(model))
    size = reach(model, q)
    for frame in model.frames:
        ours, oracle = model.pose(frame, q).matrix(), composed(model, frame, q).matrix()
        np.testing.assert_allclose(ours[:3, 3], oracle[:3, 3], rtol=0, atol=1e-12 * size, err_msg=frame)
        np.testing.assert_allclose(ours[:3, :3], oracle[:3, :3], rtol=0, atol=1e-12, err_msg=frame)


@often
@given(st.data())
def test_all_poses_in_one_pass_are_those_of_each_frame(data: st.DataObject) -> None:
    model = data.draw(trees(functions=True))
    q = np.array([data.draw(configurations(model)) for _ in range(3)])
    size = reach(model, q[0])
    seen, some = model.poses(q), tuple(reversed(model.frames))[:2]
    assert seen.array.shape == (3, len(model.frames), 7)
    for k, frame in enumerate(model.frames):
        ours = SE3(seen.array[:, k]).matrix()
        np.testing.assert_allclose(ours, model.pose(frame, q).matrix(), rtol=0, atol=1e-12 * size, err_msg=frame)
    np.testing.assert_array_equal(model.poses(q[0], some).array[0], model.poses(q[0], some[:1]).array[0])
    assert model.poses(q[0], ()).array.shape == (0, 7)


def test_frames_of_poses_are_names_in_a_sequence() -> None:
    with pytest.raises(TypeError, match=r"put 'head' in a list"):
        fixed().poses([], "head")
    with pytest.raises(FrameNotFound, match="hed"):
        fixed().poses([], ["hed"])


@often
@given(st.data())
def test_poses_do_not_depend_on_the_order_of_questions(data: st.DataObject) -> None:
    model = data.draw(trees())
    first, second = (model.sample(seed=seed) for seed in (1, 2))
    frames = list(model.frames)
    before = {frame: model.pose(frame, first).array for frame in frames}
    for frame in reversed(frames):
        model.pose(frame, second)
        model.jacobian(frame, second)
    for frame in frames:
        np.testing.assert_array_equal(model.pose(frame, first).array, before[frame])


@often
@given(st.data())
def test_batches_equal_singles(data: st.DataObject) -> None:
    model = data.draw(trees(most=5, functions=True))
    frame = data.draw(st.sampled_from(model.frames))
    batch = model.sample((2, 3), seed=data.draw(st.integers(0, 99)))
    poses = model.pose(frame, batch).array
    assert poses.shape == (2, 3, 7)
    for at in np.ndindex(2, 3):
        np.testing.assert_array_equal(poses[at], model.pose(frame, batch[at]).array)
    for reference in ("world_aligned", "local", "world"):
        jacobians = model.jacobian(frame, batch, reference=reference)
        assert jacobians.shape == (2, 3, 6, model.nv)
        for at in np.ndindex(2, 3):
            single = model.jacobian(frame, batch[at], reference=reference)
            np.testing.assert_allclose(jacobians[at], single, rtol=1e-14, atol=1e-14)


def test_empty_batches_give_empty_answers() -> None:
    builder = ModelBuilder("hinge")
    builder.joint("hinge", "revolute", parent="frame", child="door")
    door = builder.build()
    assert door.pose("door", np.zeros((0, 1))).array.shape == (0, 7)
    assert door.jacobian("door", np.zeros((2, 0, 1))).shape == (2, 0, 6, 1)


def test_the_questions_array_is_not_touched_and_may_have_any_layout() -> None:
    builder = ModelBuilder("crane")
    builder.joint("turn", "continuous", parent="ground", child="mast")
    builder.joint("run", "prismatic", parent="mast", child="cart", axis=(1, 0, 0), origin=SE3.from_parts([0, 0, 3]))
    crane = builder.build()
    plain = np.array([[0.3, 1.0], [0.5, 2.0], [0.7, 3.0]])
    for q in (np.asfortranarray(plain), np.repeat(plain, 2, axis=1)[:, ::2], plain.astype(np.float32).astype(float)):
        q.flags.writeable = False
        expected = crane.pose("cart", np.array(q)).array
        np.testing.assert_array_equal(crane.pose("cart", q).array, expected)
    np.testing.assert_array_equal(crane.pose("cart", plain.tolist()).array, crane.pose("cart", plain).array)
    whole = np.array([[1, 2], [3, 4]])
    np.testing.assert_array_equal(crane.pose("cart", whole).array, crane.pose("cart", whole.astype(float)).array)


@pytest.mark.parametrize("kind", ["revolute", "helical", "prismatic"])
@pytest.mark.parametrize("tilt", [0.0, *(10.0**k for k in range(-17, 0))])
@pytest.mark.parametrize("flipped", [0.0, np.pi], ids=["along", "against"])
def test_axes_that_are_almost_parallel(kind: str, tilt: float, flipped: float) -> None:
    """Their common normal is far away, or nowhere."""
    builder = ModelBuilder("stack")
    for i in range(4):
        origin = SE3.from_xyz_rpy([0.5, -0.2, 0.3], [flipped, 0, 0]) @ SE3.from_rotvec([0, 0, 0], [tilt, -2 * tilt, 0])
        builder.joint(f"j{i}", kind, parent=f"l{i}", child=f"l{i + 1}", origin=origin, pitch=0.1)
    stack = builder.build()
    for q in stack.sample(2, seed=0):
        for link in stack.links:
            expected = composed(stack, link, q).matrix()
            np.testing.assert_allclose(stack.pose(link, q).matrix(), expected, rtol=0, atol=2e-13)
        check_jacobians(stack, "l4", q)


# Jacobians -------------------------------------------------------------------------------------------------------


def check_jacobians(model: Model, frame: str, q: Array) -> None:
    """All three references against differences of the pose."""
    size = reach(model, q)
    here, around = model.pose(frame, q), model.pose(frame, steps(model, q))
    expected = {
        "world_aligned": np.concatenate([around.xyz - here.xyz, (around.rotation @ here.rotation.inverse()).log()], -1),
        "local": (here.inverse() @ around).log(),
        "world": (around @ here.inverse()).log(),
    }
    # The fifth derivative grows with the fifth power of a chain of multipliers.
    for reference, values in expected.items():
        jacobian = model.jacobian(frame, q, reference=reference)
        assert jacobian.shape == (6, model.nv)
        scale = size * max(1.0, float(np.abs(jacobian).max(initial=0.0)) ** 5)
        np.testing.assert_allclose(
            jacobian, derivative(values), rtol=0, atol=1e-9 * scale, err_msg=f"{frame} {reference}"
        )


@often
@given(st.data())
def test_jacobians_are_derivatives_of_poses(data: st.DataObject) -> None:
    model = data.draw(trees(limits=False, functions=True))
    frame = data.draw(st.sampled_from(model.frames))
    check_jacobians(model, frame, data.draw(configurations(model)))


@pytest.mark.parametrize("kind", [kind for kind in JointKind if kind is not JointKind.FIXED])
@settings(max_examples=10)
@given(st.data())
def test_jacobians_of_each_kind_of_joint(kind: JointKind, data: st.DataObject) -> None:
    model = data.draw(trees(kinds=[kind], most=3, limits=False))
    q = data.draw(configurations(model))
    for frame in model.frames:
        check_jacobians(model, frame, q)


@often
@given(st.data())
def test_references_are_the_same_twist_seen_from_elsewhere(data: st.DataObject) -> None:
    model = data.draw(trees())
    frame = data.draw(st.sampled_from(model.frames))
    q = data.draw(configurations(model))
    pose = model.pose(frame, q)
    local, world = (model.jacobian(frame, q, reference=name) for name in ("local", "world"))
    np.testing.assert_allclose(pose.adjoint() @ local, world, rtol=0, atol=1e-12 * reach(model, q) ** 2)


@often
@given(st.data())
def test_a_joint_moves_only_what_hangs_on_it(data: st.DataObject) -> None:
    model = data.draw(trees(functions=True))
    frame = data.draw(st.sampled_from(model.frames))
    jacobian = model.jacobian(frame, data.draw(configurations(model)))
    moving = {model.follows(joint)[0] for joint in model.root_path(model.frame(frame).link)}
    for joint in model.joint_names:
        if joint not in moving:
            np.testing.assert_array_equal(jacobian[:, model.velocity_index(joint)], 0.0)


def test_an_unknown_reference_is_refused() -> None:
    with refused("unknown-word"):
        fixed().jacobian("head", [], reference="body")  # type: ignore[arg-type]


# Masses ----------------------------------------------------------------------------------------------------------


def weighed(model: Model, q: Array) -> Array:
    """(3,) centre of mass at `q` (nq,), link by link."""
    moments = [mass * composed(model, link, q).act(centre) for link, (mass, centre) in model.masses.items()]
    return np.sum(moments, axis=0) / sum(mass for mass, _ in model.masses.values())


@often
@given(st.data())
def test_the_centre_of_mass_is_the_mean_of_the_links(data: st.DataObject) -> None:
    model = data.draw(trees(functions=True))
    q = data.draw(configurations(model))
    np.testing.assert_allclose(model.centre_of_mass(q), weighed(model, q), rtol=0, atol=1e-12 * reach(model, q))


@often
@given(st.data())
def test_its_jacobian_is_its_derivative(data: st.DataObject) -> None:
    model = data.draw(trees(limits=False, functions=True))
    q = data.draw(configurations(model))
    jacobian = model.centre_of_mass_jacobian(q)
    assert jacobian.shape == (3, model.nv)
    expected = derivative(model.centre_of_mass(steps(model, q)) - model.centre_of_mass(q))
    scale = reach(model, q) * max(1.0, float(np.abs(jacobian).max(initial=0.0)) ** 5)
    np.testing.assert_allclose(jacobian, expected, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("kind", [kind for kind in JointKind if kind is not JointKind.FIXED])
@settings(max_examples=10)
@given(st.data())
def test_the_centre_of_mass_moves_with_the_links(kind: JointKind, data: st.DataObject) -> None:
    model = data.draw(trees(kinds=[kind], most=3))
    q = data.draw(configurations(model))
    expected = np.zeros((3, model.nv))
    for link, (mass, centre) in model.masses.items():
        jacobian = model.jacobian(link, q)
        arm = model.pose(link, q).rotation.act(centre)
        expected += mass * (jacobian[:3] - np.cross(arm, jacobian[3:].T).T)
    ours = model.centre_of_mass_jacobian(q)
    np.testing.assert_allclose(ours, expected / model.mass, rtol=0, atol=1e-12 * reach(model, q))


@often
@given(st.data())
def test_centres_of_mass_come_in_batches(data: st.DataObject) -> None:
    model = data.draw(trees(most=5))
    batch = model.sample((2, 3), seed=data.draw(st.integers(0, 99)))
    centres, jacobians = model.centre_of_mass(batch), model.centre_of_mass_jacobian(batch)
    assert (centres.shape, jacobians.shape) == ((2, 3, 3), (2, 3, 3, model.nv))
    for at in np.ndindex(2, 3):
        np.testing.assert_array_equal(centres[at], model.centre_of_mass(batch[at]))
        np.testing.assert_array_equal(jacobians[at], model.centre_of_mass_jacobian(batch[at]))
    assert model.centre_of_mass(batch[:, :0]).shape == (2, 0, 3)
    assert model.centre_of_mass_jacobian(batch[:, :0]).shape == (2, 0, 3, model.nv)


@often
@given(st.data())
def test_units_bear_the_links_that_are_fixed_to_them(data: st.DataObject) -> None:
    model = data.draw(trees())
    masses, centres = model.tree.masses, model.tree.centres
    assert masses.shape == (len(model.tree.units) + 1,)
    assert masses.sum() == pytest.approx(model.mass, rel=1e-12)
    for unit in range(-1, len(model.tree.units)):
        own = {
            link: model.masses[link]
            for link, (on, _) in model.tree.links.items()
            if on == unit and link in model.masses
        }
        assert masses[unit] == pytest.approx(sum(mass for mass, _ in own.values()), rel=1e-12)
        moment = sum(
            (mass * model.tree.links[link][1].act(centre) for link, (mass, centre) in own.items()), np.zeros(3)
        )
        np.testing.assert_allclose(masses[unit] * centres[unit], moment, rtol=1e-9, atol=1e-12)


def test_what_stands_still_has_a_centre_of_mass_and_does_not_move() -> None:
    builder = ModelBuilder("gate")
    builder.joint("sunk", "fixed", parent="ground", child="post", origin=SE3.from_parts([1, 2, 3]))
    builder.joint("hinge", "revolute", parent="post", child="wing")
    builder.mass("post", 3.0, centre=(0, 0, 1))
    post = builder.build()
    np.testing.assert_array_equal(post.centre_of_mass([[0.0], [1.0]]), [[1, 2, 4], [1, 2, 4]])
    np.testing.assert_array_equal(post.centre_of_mass_jacobian([0.5]), np.zeros((3, 1)))
    builder.mass("wing", 1.0, centre=(0.8, 0, 1))
    np.testing.assert_allclose(builder.build().centre_of_mass([np.pi / 2]), [1, 2.2, 4], rtol=0, atol=1e-15)


@often
@given(st.data())
def test_gravity_torques_are_the_slope_of_the_energy(data: st.DataObject) -> None:
    """What holds is the derivative of the potential energy, and what a force gives by the way of the point it is at."""
    model = data.draw(trees(limits=False, most=5, functions=True))
    q, gravity = data.draw(configurations(model)), np.array([0.3, -1.0, -9.0])
    link, wrench = model.links[-1], np.array([1.0, -2.0, 3.0, 0.5, 0.25, -0.75])
    there = steps(model, q)
    moved = derivative(model.centre_of_mass(there) - model.centre_of_mass(q))
    expected = -model.mass * gravity @ moved
    ours = model.gravity_torques(q, gravity=gravity)
    assert ours.shape == (model.nv,)
    scale = model.mass * reach(model, q) * max(1.0, float(np.abs(ours).max(initial=0.0)) ** 5)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8 * scale)
    held = model.gravity_torques(q, gravity=gravity, wrenches={link: wrench})
    np.testing.assert_allclose(held, ours - model.jacobian(link, q).T @ wrench, rtol=0, atol=1e-12 * scale)


def test_a_payload_weighs_as_a_force_at_its_place_does() -> None:
    arm = load("panda").with_payload(1.0, link="panda_link4")
    q = arm.sample((3, 2), seed=0)
    loaded = arm.with_payload(2.0, link="panda_hand").gravity_torques(q)
    pulled = arm.gravity_torques(q, wrenches={"panda_hand": (0.0, 0.0, -2.0 * 9.81, 0.0, 0.0, 0.0)})
    assert loaded.shape == (3, 2, 7)
    np.testing.assert_allclose(loaded, pulled, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(arm.gravity_torques(q[1, 1]), arm.gravity_torques(q)[1, 1])


def test_wrenches_and_gravity_that_make_no_sense_are_refused() -> None:
    arm = load("panda").with_payload(1.0, link="panda_hand")
    with pytest.raises(ValueError, match=r"gravity must have shape \(3,\), got \(\)"):
        arm.gravity_torques(arm.home, gravity=-9.81)
    with refused("not-finite", "wrenches['panda_hand'][2]"):
        arm.gravity_torques(arm.home, wrenches={"panda_hand": [0, 0, np.nan, 0, 0, 0]})
    with pytest.raises(FrameNotFound, match="hand"):
        arm.gravity_torques(arm.home, wrenches={"hand": np.zeros(6)})


@pytest.mark.parametrize("given", [{}, {"body": 0.0, "head": 0.0}])
def test_without_a_mass_there_is_no_centre_of_mass(given: dict[str, float]) -> None:
    builder = ModelBuilder("ghost")
    builder.joint("neck", "revolute", parent="body", child="head")
    for link, mass in given.items():
        builder.mass(link, mass)
    ghost = builder.build()
    assert ghost.mass == 0.0
    for ask in (ghost.centre_of_mass, ghost.centre_of_mass_jacobian, ghost.gravity_torques):
        with pytest.raises(ValueError, match=r"no link of ghost has a mass; give some with ModelBuilder\.mass"):
            ask(ghost.home)


# Nothing that moves ----------------------------------------------------------------------------------------------


def test_a_model_without_coordinates_has_poses_and_empty_jacobians() -> None:
    statue = fixed()
    assert (statue.nq, statue.nv) == (0, 0)
    for frame in statue.frames:
        expected = composed(statue, frame, np.zeros(0)).array
        np.testing.assert_allclose(statue.pose(frame, []).array, expected, rtol=0, atol=1e-15)
        assert statue.jacobian(frame, np.zeros(0)).shape == (6, 0)


def test_a_model_without_coordinates_keeps_the_batch() -> None:
    statue = fixed()
    eye = statue.pose("eye", np.zeros(0)).array
    np.testing.assert_array_equal(statue.pose("eye", np.zeros((4, 2, 0))).array, np.broadcast_to(eye, (4, 2, 7)))
    for reference in ("world_aligned", "local", "world"):
        assert statue.jacobian("eye", np.zeros((4, 2, 0)), reference=reference).shape == (4, 2, 6, 0)


@pytest.mark.parametrize("frame", [WORLD, "ground", "post"])
def test_frames_that_nothing_moves_stand_still_beside_joints(frame: str) -> None:
    builder = ModelBuilder("gate")
    builder.joint("sunk", "fixed", parent="ground", child="post", origin=SE3.from_parts([1, 2, 3]))
    builder.joint("hinge", "revolute", parent="post", child="wing")
    gate = builder.build()
    q = gate.sample(3, seed=0)
    poses = gate.pose(frame, q)
    np.testing.assert_array_equal(poses.xyz, np.broadcast_to([1, 2, 3] if frame == "post" else [0, 0, 0], (3, 3)))
    np.testing.assert_array_equal(gate.jacobian(frame, q), np.zeros((3, 6, 1)))


# Many threads ----------------------------------------------------------------------------------------------------


def test_threads_that_ask_for_a_frame_first_at_once_get_the_same() -> None:
    expected = load("panda")
    for _ in range(20):
        arm, together = load("panda"), threading.Barrier(8)

        def ask(_: int, arm: Model = arm, together: threading.Barrier = together) -> list[Array]:
            together.wait()
            return [arm.pose(frame, arm.home).array for frame in arm.frames]

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(8)))
        for poses in answers:
            np.testing.assert_array_equal(poses, [expected.pose(frame, arm.home).array for frame in arm.frames])
        assert arm.queries.keys() == set(arm.frames)


# Questions that make no sense ------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_question_is_said() -> None:
    builder = ModelBuilder("arm")
    builder.joint("shoulder", "revolute", parent="base", child="upper")
    builder.joint("wrist", "spherical", parent="upper", child="hand")
    arm = builder.build()
    with pytest.raises(FrameNotFound, match=r"arm has no frame 'hnd'.*'hand'"):
        arm.pose("hnd", arm.home)
    with pytest.raises(FrameNotFound, match=r"arm has no frame 'hnd'.*'hand'"):
        arm.jacobian("hnd", arm.home)
    with pytest.raises(ShapeError, match=r"q must have 5 numbers \(nq of arm\), got shape \(4,\)"):
        arm.pose("hand", arm.home[:4])
    with refused("wrong-shape"):
        arm.jacobian("hand", 1.0)
    bad = np.tile(arm.home, (2, 1))
    bad[1, 3] = np.nan
    with refused("not-finite", "q[1, 3]"):
        arm.pose("hand", bad)


# Manipulability --------------------------------------------------------------------------------------------------


def test_manipulability_is_the_product_of_the_singular_values() -> None:
    arm = pz.load("panda")
    q = arm.sample(12, seed=3).reshape(3, 4, 7)
    jacobians = arm.jacobian("panda_hand", q)
    for rows, kept in (("pose", slice(6)), ("position", slice(3)), ("rotation", slice(3, 6))):
        wanted = np.linalg.svd(jacobians[..., kept, :], compute_uv=False).prod(axis=-1)
        np.testing.assert_allclose(arm.manipulability("panda_hand", q, rows=rows), wanted, rtol=1e-9)
    one = arm.manipulability("panda_hand", arm.home)
    assert type(one) is float
    jacobian = arm.jacobian("panda_hand", arm.home)
    assert one == pytest.approx(np.sqrt(np.linalg.det(jacobian @ jacobian.T)))


def test_manipulability_of_a_plane_is_that_of_the_plane() -> None:
    """Two links of length 1: l1 l2 |sin q2| for the position (Yoshikawa 1985)."""
    arm = pz.from_dh([pz.DH(1.0, 0.0, 0.0), pz.DH(1.0, 0.0, 0.0)])
    q = np.array([[0.3, 0.7], [1.0, -2.0], [0.5, 0.0]])
    found = arm.manipulability("tool", q, rows="position")
    np.testing.assert_allclose(found, np.abs(np.sin(q[:, 1])), atol=1e-7)
    np.testing.assert_allclose(arm.manipulability("tool", q, rows="rotation"), np.sqrt(2.0))


def test_manipulability_refuses_what_it_cannot_tell() -> None:
    arm = pz.load("panda")
    with refused("nothing-moves", "'panda_link0'"):
        arm.manipulability("panda_link0", arm.home)
    with refused("unknown-word", "rows"):
        arm.manipulability("panda_hand", arm.home, rows="linear")  # type: ignore[arg-type]
    with pytest.raises(FrameNotFound):
        arm.manipulability("hand", arm.home)
    with pytest.raises(pz.ShapeError):
        arm.manipulability("panda_hand", np.zeros(6))
