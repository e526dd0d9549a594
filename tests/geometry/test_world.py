"""Worlds: named shapes that come, move and go, and what a reader sees of them meanwhile."""

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz

BALL = pz.Sphere([0.5, 0.0, 0.4], 0.1)
FLOOR = pz.HalfSpace([0, 0, 0], [0, 0, 1])
HAND = pz.SE3.from_xyz_rpy([0.3, 0.1, 0.5], [0.4, -1.0, 2.0])
CUP = pz.Capsule([0.3, 0.1, 0.5], [0.35, 0.1, 0.6], 0.03)


def test_shapes_have_names() -> None:
    world = pz.World({"floor": FLOOR, "ball": BALL})
    assert world.names == tuple(world) == ("floor", "ball")
    assert len(world) == 2
    assert "ball" in world
    assert "cube" not in world
    assert world["ball"] is BALL
    assert pz.World([FLOOR, BALL]).names == ("shape0", "shape1")


def test_it_says_what_is_in_it() -> None:
    world = pz.World({"floor": FLOOR})
    world.attach("cup", CUP, "hand")
    assert repr(world) == "World(floor: HalfSpace, cup: Capsule on hand)"
    assert repr(pz.World()) == "World(empty)"
    assert repr(pz.World([BALL] * 10)).endswith("shape7: Sphere, and 2 more)")


def test_a_move_brings_the_frame_of_the_shape_there() -> None:
    world = pz.World({"ball": BALL, "box": pz.Box(HAND, [1, 2, 3])})
    world.move("ball", pz.SE3.from_parts([1, 2, 3]), velocity=[0.1, 0, 0])
    assert world["ball"] == pz.Sphere([1, 2, 3], 0.1)
    world.move("box", [0, 0, 1, 1, 0, 0, 0])
    assert world["box"] == pz.Box(pz.SE3.from_parts([0, 0, 1]), [1, 2, 3])
    ball, box = world.snapshot().entries
    assert (ball.velocity, box.velocity) == ((0.1, 0.0, 0.0), (0.0, 0.0, 0.0))
    world.move("ball", HAND)
    assert world.snapshot().entries[0].velocity == (0.0, 0.0, 0.0)


def test_another_shape_keeps_what_else_is_known() -> None:
    world = pz.World()
    world.add("ball", BALL, velocity=[0.1, 0, 0])
    world.attach("cup", CUP, "hand", allowed=["finger"])
    world.replace("ball", pz.Sphere([0, 0, 1], 0.3))
    world.replace("cup", BALL)
    ball, cup = world.snapshot().entries
    assert (ball.shape.radius, ball.velocity) == (0.3, (0.1, 0.0, 0.0))
    assert (cup.shape, cup.link, cup.allowed) == (BALL, "hand", {"finger"})


def test_what_is_grasped_moves_with_the_link_and_stays_where_it_is_let_go() -> None:
    world = pz.World({"cup": CUP})
    world.grasp("cup", "hand", HAND, allowed=["finger"])
    (held,) = world.snapshot().entries
    assert (held.link, held.allowed) == ("hand", {"finger"})
    np.testing.assert_allclose(HAND.act(held.shape.start), CUP.start, rtol=0, atol=1e-15)
    motion = pz.SE3.from_xyz_rpy([0.1, 0, 0.2], [0, 0, 1])
    world.detach("cup", motion @ HAND)
    (free,) = world.snapshot().entries
    assert (free.link, free.allowed) == (None, frozenset())
    np.testing.assert_allclose(free.shape.end, motion.act(CUP.end), rtol=0, atol=1e-15)


def test_the_version_grows_with_each_change_the_structure_only_where_another_kind_of_reader_is_needed() -> None:
    world = pz.World({"floor": FLOOR, "ball": BALL})
    seen = [(world.version, world.structure)]

    def changed() -> tuple[bool, bool]:
        seen.append((world.version, world.structure))
        return seen[-1][0] > seen[-2][0], seen[-1][1] > seen[-2][1]

    world.move("ball", HAND, velocity=[1, 0, 0])
    assert changed() == (True, False)
    world.replace("ball", pz.Sphere([0, 0, 0], 0.7))
    assert changed() == (True, False)
    world.replace("ball", CUP)
    assert changed() == (True, True)
    world.replace("ball", pz.ConvexHull(np.eye(3)))
    assert changed() == (True, True)
    world.replace("ball", pz.ConvexHull(2.0 * np.eye(3)))
    assert changed() == (True, False)
    world.replace("ball", pz.ConvexHull(np.eye(3)[:2]))
    assert changed() == (True, True)
    world.add("cup", CUP)
    assert changed() == (True, True)
    world.grasp("cup", "hand", HAND)
    assert changed() == (True, True)
    world.move("cup", HAND)
    assert changed() == (True, False)
    world.detach("cup", HAND)
    assert changed() == (True, True)
    world.remove("cup")
    assert changed() == (True, True)
    with pytest.raises(KeyError):
        world.remove("cup")
    assert changed() == (False, False)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_a_copy_goes_its_own_way(copied: Any) -> None:
    world = pz.World({"floor": FLOOR, "ball": BALL})
    other = copied(world)
    assert other.snapshot() == world.snapshot()
    other.remove("ball")
    assert (world.names, other.names) == (("floor", "ball"), ("floor",))
    world.add("cup", CUP)
    assert "cup" not in other


def test_readers_see_wholes_while_others_write() -> None:
    world = pz.World({"left": BALL, "right": BALL})
    failures: list[str] = []
    done = threading.Event()

    def read() -> None:
        last = -1
        while not done.is_set():
            version, _, entries = world.snapshot()
            if version < last or [e.name for e in entries][:2] != ["left", "right"]:
                failures.append(f"{version} after {last}: {entries}")
            last = version

    def write(name: str) -> None:
        for i in range(300):
            world.move(name, pz.SE3.from_parts([float(i), 0, 0]))
            world.add(f"{name}{i}", BALL)
            world.remove(f"{name}{i}")

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(name,)) for name in ("left", "right")]
    for thread in [*readers, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert not failures
    assert world.version == 2 + 2 * 3 * 300  # no change was lost
    assert world["left"].centre == world["right"].centre == (299.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda w: w["bal"], "unknown-name", "the world has no shape 'bal'; did you mean 'ball'?"),
        (lambda w: w.move("bal", HAND), "unknown-name", "did you mean 'ball'"),
        (lambda w: w.replace("bal", BALL), "unknown-name", "did you mean 'ball'"),
        (lambda w: w.grasp("bal", "hand", HAND), "unknown-name", "did you mean 'ball'"),
        (lambda w: w.add("ball", BALL), "duplicate", "the world has a shape 'ball' already; replace or move it"),
        (lambda w: w.attach("ball", BALL, "hand"), "duplicate", "has a shape 'ball' already"),
        (lambda w: w.grasp("cup", "hand", HAND), "conflict", "'cup' is on the link 'hand' already; detach it first"),
        (lambda w: w.detach("ball", HAND), "needs", "no link carries 'ball'"),
        (lambda w: w.move("cup", HAND, velocity=[1, 0, 0]), "conflict", "'cup' moves with the link 'hand'"),
        (lambda w: w.add("", BALL), "wrong-type", "name"),
        (lambda w: w.add(BALL, "x"), "wrong-type", "name"),
        (lambda w: w.add("x", [0, 0, 0]), "not-a-shape", "shape"),
        (lambda w: w.add("x", BALL, velocity=1.0), "wrong-shape", "velocity"),
        (lambda w: w.add("x", BALL, velocity=[0, np.nan, 0]), "not-finite", "velocity[1]"),
        (lambda w: w.move("ball", [1, 2, 3]), "wrong-shape", "pose"),
        (lambda w: w.move("ball", np.tile(HAND.array, (2, 1))), "wrong-shape", "pose"),
        (lambda w: w.attach("x", BALL, 3), "wrong-type", "link"),
        (lambda w: w.attach("x", BALL, "hand", allowed="finger"), "not-a-sequence", "allowed"),
        (lambda w: pz.World(BALL), "not-a-sequence", "put the Sphere in a list"),
        (lambda w: pz.World({"ball": 3}), "not-a-shape", "shape"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(change: Any, code: str, words: str) -> None:
    world = pz.World({"ball": BALL})
    world.attach("cup", CUP, "hand")
    before = world.snapshot()
    with refused(code, words):
        change(world)
    assert world.snapshot() is not None
    assert world.snapshot() == before
