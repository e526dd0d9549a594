"""Edits of obstacles and targets that are taken back, of a session and of the operator's program."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise as pz
from poise.robots.das import FIELDS
from poise.robots.planar import planar
from poise.viewer.operator.program import Program
from poise.viewer.session.fields import fields
from poise.viewer.session.guided import Guided
from poise.viewer.session.session import Session

ARM = planar(3)


def session() -> Session:
    return Session(ARM, pz.PositionTask("tool"), q=[0.3, 0.4, 0.5])


def program() -> Program:
    return Program(ARM, start=[0.3, 0.4, 0.5])


def there(guided: Guided) -> tuple[Any, ...]:
    """All that edits change: the targets, and the obstacles by name."""
    moment = guided.moment if isinstance(guided, Program) else guided.tick()  # type: ignore[attr-defined]
    entries = {entry.name: entry.shape for entry in guided.world.snapshot().entries}
    return guided.tasks, np.round(moment.goals, 12).tolist(), entries


def pose(x: float, y: float) -> list[float]:
    return [x, y, 0.0, 1.0, 0.0, 0.0, 0.0]


EDITS: dict[str, Any] = {
    "drag": lambda g, x: (g.drag(0, pose(x, 1.0)), g.drag(0, pose(x, 1.5)), g.let_go()),
    "add": lambda g, x: g.add_obstacle("a" if "a" not in g.world else "b", pz.Sphere((x, 5.0, 0.0), 0.1)),
    "resize": lambda g, x: g.set_obstacle("a", pz.Sphere((x, 5.0, 0.0), 0.1 + abs(x))),
    "reshape": lambda g, x: g.set_obstacle("b", pz.Box(pz.SE3.from_parts((x, 5.0, 0.0)), (0.1, 0.2, 0.3))),
    "remove": lambda g, x: g.remove_obstacle("a"),
    "task": lambda g, x: isinstance(g, Session) and g.add_task(pz.PositionTask("link2")),
    "weight": lambda g, x: isinstance(g, Session) and g.replace_task(0, pz.PositionTask("tool", weight=1.0 + abs(x))),
    "less": lambda g, x: isinstance(g, Session) and len(g.tasks) > 1 and g.remove_task(1),
}


@pytest.mark.parametrize("make", [session, program])
@settings(max_examples=12)
@given(names=st.lists(st.sampled_from(sorted(EDITS)), max_size=8), x=st.floats(-1.0, 1.0))
def test_all_edits_are_taken_back_one_by_one(make: Any, names: list[str], x: float) -> None:
    """Those that are refused are no edits; a pull at a handle is one, however often it is told of."""
    guided, past = make(), []
    for k, name in enumerate(names):
        before, steps = there(guided), guided.undoable
        EDITS[name](guided, x + 0.01 * k)
        assert guided.undoable - steps in (0, 1)
        if guided.undoable > steps:
            past.append(before)
        else:
            assert there(guided) == before
    for before in reversed(past):
        assert guided.undo(), guided.refusal
        assert there(guided) == before
    assert not guided.undo()
    assert "left to undo" in guided.refusal


def test_two_pulls_at_one_handle_are_two_edits_and_a_snap_belongs_to_its_pull() -> None:
    one = session()
    first = one.moment.goals
    one.drag(0, pose(1.0, 1.0))
    one.release()
    one.drag(0, pose(9.0, 9.0))
    one.release()  # out of reach, so it snaps
    assert one.undo()
    assert one.moment.goals[0, :2] != pytest.approx([1.0, 1.0])
    assert one.tick().goals[0, :2] == pytest.approx([1.0, 1.0])
    assert one.undo()
    assert one.tick().goals == pytest.approx(first)
    assert one.moment.resting or one.tick().errors


def test_the_operators_obstacle_comes_back_with_what_it_does() -> None:
    ours = program()
    ours.add_obstacle("a", pz.Sphere((0.0, 5.0, 0.0), 0.1))
    assert ours.edit(["a"], lambda: ours.heed("a", repels=False, stops=True))
    assert ours.remove_obstacle("a")
    assert ours.undo()
    assert (ours.moment.setup.obstacle("a").repels, ours.moment.setup.obstacle("a").stops) == (False, True)
    assert ours.undo()
    assert (ours.moment.setup.obstacle("a").repels, ours.moment.setup.obstacle("a").stops) == (True, False)


def test_what_another_thread_has_taken_away_meanwhile_is_no_trouble() -> None:
    one = session()
    one.add_obstacle("a", pz.Sphere((0.0, 5.0, 0.0), 0.1))
    one.set_obstacle("a", pz.Sphere((0.0, 5.0, 0.0), 0.2))
    one.world.remove("a")
    assert one.undo()
    assert one.world["a"].radius == 0.1  # type: ignore[union-attr]
    one.world.remove("a")
    assert one.undo()
    assert "a" not in one.world


@pytest.mark.parametrize("make", [session, program])
def test_a_field_is_one_edit_and_stands_where_the_experiment_has_it(make: Any) -> None:
    guided = make()
    known = fields(ARM, "tool")
    assert set(known) == set(FIELDS)
    assert guided.set_obstacles(known["crowded"])
    assert guided.set_obstacle("crowded 1", pz.Sphere((0.0, 5.0, 0.0), 0.1))
    assert guided.set_obstacles(known["crowded"])
    assert {name: guided.world[name] for name in guided.world.names} == known["crowded"]
    places = np.array([shape.pose.xyz for shape in known["crowded"].values()])
    assert places[:, :2] == pytest.approx(0.3 * np.array(FIELDS["crowded"].obstacles))  # three links, not ten
    assert [guided.undo() for _ in range(4)] == [True, True, True, False]
    assert not guided.world.names


def test_a_field_stands_beside_the_foot_of_an_arm_in_its_plane_and_nowhere_else() -> None:
    moved = planar(10).with_base(pz.SE3.from_parts((3.0, 1.0, 2.0)))
    first = fields(moved, "tool")["gate"]["gate 1"]
    assert first.pose.xyz == pytest.approx([6.5, 2.1, 2.0])
    assert first.radius == pytest.approx(0.2)
    upright = planar(3).with_base(pz.SE3.from_xyz_rpy([0, 0, 1], [np.pi / 2, 0, 0]))
    assert fields(upright, "tool") == fields(pz.load("panda"), "panda_hand") == {}
