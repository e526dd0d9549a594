"""The soles of robots, and how low they reach."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.common.errors import FrameNotFound, ModelError
from poise.geometry.meshes import LinkShape, MeshShape
from poise.geometry.shapes import Box, Capsule, ConvexHull, HalfSpace, Sphere
from poise.geometry.visuals import Visual
from poise.geometry.world import World
from poise.model.builder import ModelBuilder
from poise.model.model import Model
from poise.spatial import SE3
from poise_motion.anatomy.foot_geometry import lowest, measured_as, sole


def leg(*shapes: LinkShape, change: Callable[[ModelBuilder], None] | None = None) -> Model:
    """A foot on a floating body, 1 m below it, and a plate with these shapes fixed to it, 5 cm lower."""
    builder = ModelBuilder("leg")
    builder.joint("ankle", "spherical", parent="body", child="foot", origin=SE3.from_parts([0.0, 0.0, -1.0]))
    builder.joint("screw", "fixed", parent="foot", child="plate", origin=SE3.from_parts([0.1, 0.0, -0.05]))
    builder.joint("toe", "revolute", parent="plate", child="toe", origin=SE3.from_parts([0.1, 0.0, -0.01]))
    if shapes:
        builder.shape("plate", *shapes)
    if change is not None:
        change(builder)
    return builder.build(base="floating")


def same_points(found: Array, wanted: object) -> bool:
    """Whether they are the same points, in any order."""
    those = np.asarray(wanted, dtype=np.float64)
    apart = np.linalg.norm(found[:, None] - those, axis=-1)
    return found.shape == those.shape and bool((apart.min(axis=0) < 1e-9).all())


def test_the_corners_of_a_box() -> None:
    """Seen from any frame of the foot."""
    model = leg(Box(SE3.from_parts([0.0, 0.0, 0.01]), (0.2, 0.1, 0.04)))
    corners = np.array([[x, y, -0.01] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    assert same_points(sole(model, "plate"), corners)
    assert same_points(sole(model, "foot"), corners + np.array([0.1, 0.0, -0.05]))


def test_balls_are_lowest_beneath_their_centres() -> None:
    spots = [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.03, 0.03)]
    model = leg(*(Sphere(spot, 0.005) for spot in spots), Sphere((0.0, 0.0, 0.0), 0.005))
    assert same_points(sole(model, "plate"), np.array(spots) - [0.0, 0.0, 0.005])
    rods = leg(Capsule((-0.1, 0.0, 0.0), (0.1, 0.0, 0.0), 0.02))
    assert same_points(sole(rods, "plate"), [[-0.1, 0.0, -0.02], [0.1, 0.0, -0.02]])
    assert same_points(sole(leg(Sphere((0.0, 0.0, 0.0), 0.03)), "plate"), [[0.0, 0.0, -0.03]])


def test_a_round_sole_has_eight_points() -> None:
    angles = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
    rim = np.column_stack([0.1 * np.cos(angles), 0.05 * np.sin(angles), np.full(40, -0.02)])
    found = sole(leg(ConvexHull(np.concatenate([rim, [[0.0, 0.0, 0.1]]]))), "plate")
    assert found.shape == (8, 3)
    assert np.ptp(found, axis=0) == pytest.approx([0.2, 0.1, 0.0], abs=0.01)


def test_what_is_drawn_stands_in_for_what_may_collide() -> None:
    plate = Box(SE3.identity(), (0.2, 0.1, 0.04))
    drawn = leg(change=lambda builder: builder.visual("plate", Visual(plate)))
    assert same_points(sole(drawn, "plate"), sole(leg(plate), "plate"))


@pytest.mark.parametrize("drawn", [False, True])
def test_a_foot_without_shapes_is_as_low_as_its_lowest_frame(drawn: bool) -> None:
    """A picture that is not there is none."""
    lost = Visual(MeshShape("/not/there.stl"))
    model = leg(change=lambda builder: builder.visual("plate", lost) if drawn else None)
    assert np.allclose(sole(model, "foot"), [[0.0, 0.0, -0.06]])
    assert np.allclose(sole(model, "toe"), [[0.0, 0.0, 0.0]])


def test_up_is_what_is_said() -> None:
    model = leg(Box(SE3.identity(), (0.2, 0.1, 0.04)))
    found = sole(model, "plate", up=(0.0, -2.0, 0.0))
    assert same_points(found, [[x, 0.05, z] for x in (-0.1, 0.1) for z in (-0.02, 0.02)])


def test_what_is_no_foot_is_refused() -> None:
    model = leg(Box(SE3.identity(), (0.2, 0.1, 0.04)))
    with pytest.raises(FrameNotFound):
        sole(model, "food")
    with refused("zero-vector", "up is"):
        sole(model, "foot", up=(0, 0, 0))
    with refused("nothing-moves", "world"):
        sole(model, "world")
    with pytest.raises(ModelError, match="is not there"):
        sole(leg(MeshShape("/not/there.stl")), "foot")


def test_the_lowest_is_as_far_from_the_floor_as_distances_say() -> None:
    """Against the distances of the package to a plane, for shapes of every kind."""
    shapes = (
        Box(SE3.from_xyz_rpy([0.1, 0.0, 0.0], [0.1, 0.2, 0.3]), (0.2, 0.1, 0.04)),
        Capsule((0.0, 0.0, 0.0), (0.2, 0.1, -0.1), 0.02),
        Sphere((-0.1, 0.0, -0.05), 0.03),
        ConvexHull([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.2, 0.0], [0.1, 0.1, -0.1]], 0.01),
    )
    model = leg(*shapes)
    q = model.sample(50, seed=3)
    q[:, 2] += 3.0
    found = lowest(model, q)
    assert found.shape == (50, 1)
    floor = World()
    floor.add("floor", HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    truth = [float(model.distance(one, floor)) for one in q]
    assert np.allclose(found[:, 0], truth, atol=1e-9)


def test_the_lowest_of_links() -> None:
    model = leg(Sphere((0.0, 0.0, 0.0), 0.03))
    assert np.isinf(lowest(model, model.neutral, links=["body"])).all()
    both = lowest(model, model.neutral, links=["plate", "body"])
    assert both[0] == pytest.approx(-1.08)
    with pytest.raises(FrameNotFound):
        lowest(model, model.neutral, links=["food"])
    assert lowest(leg(), model.neutral).shape == (0,)


def test_what_is_measured_of_a_robot_is_known_of_it_with_other_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = leg(Sphere((0.0, 0.0, 0.0), 0.03))
    other = measured_as(model.with_limits({"toe": (-0.1, 0.1)}), model)
    first = lowest(model, model.neutral)
    monkeypatch.setattr("poise_motion.anatomy.foot_geometry.Balls.of", None)
    assert np.array_equal(lowest(other, other.neutral), first)


def test_robots() -> None:
    """G1 stands on four balls; Talos on a mesh, 10.7 cm below its ankle, whichever frame of the foot is named."""
    for side in ("left", "right"):
        found = sole(pz.load("g1"), f"{side}_ankle_roll_link")
        assert found.shape == (4, 3)
        assert np.allclose(found[:, 2], -0.035)
    pytest.importorskip("trimesh")
    talos = pz.load("talos", base="floating")
    ankle, plate = (sole(talos, frame) for frame in ("leg_left_6_link", "left_sole_link"))
    assert np.allclose(ankle - plate, [0.0, 0.0, -0.107])
    assert np.ptp(ankle[:, 2]) < 1e-12
    assert ankle[0, 2] == pytest.approx(-0.107, abs=0.002)
    feet = lowest(talos, talos.neutral, links=["leg_left_6_link"])
    assert feet[0] == pytest.approx(talos.pose("leg_left_6_link", talos.neutral).xyz[2] + ankle[:, 2].min(), abs=1e-4)
