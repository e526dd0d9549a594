"""Tables in, tables out: each answer is that of its own row, and every column says what it is."""

import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused
from targets import ARM, SOLVER, poses, table_of, targets

import poise as pz
from poise.scale import solve_table

ANGLES = [f"q_{name}" for name in ARM.coordinates]
MANY = targets(40)
SOLVED = solve_table(SOLVER, MANY)


def configurations(answers: pa.Table) -> np.ndarray:
    return np.array([answers[name].to_numpy() for name in ANGLES]).T


def test_answers_are_where_forward_kinematics_says() -> None:
    good = np.flatnonzero(SOLVED["success"].to_numpy())
    assert len(good) > 30
    wanted = pz.SE3(np.array([MANY[name].to_numpy() for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]).T[good])
    reached = ARM.pose(ARM.tip, configurations(SOLVED)[good])
    apart = np.linalg.norm(reached.xyz - wanted.xyz, axis=1)
    turned = np.linalg.norm((reached.rotation @ wanted.rotation.inverse()).log(), axis=1)
    assert apart.max() <= 1e-6
    assert turned.max() <= 1e-6
    assert np.allclose(SOLVED["position_error_m"].to_numpy()[good], apart, atol=1e-12)
    assert np.allclose(SOLVED["rotation_error_rad"].to_numpy()[good], turned, atol=1e-9)


def test_answers_are_those_of_a_batch() -> None:
    batch = SOLVER.batch(poses(20))
    answers = solve_table(SOLVER, table_of(poses(20)))
    assert np.array_equal(configurations(answers), batch.q)
    assert answers["iterations"].to_pylist() == batch.iterations.tolist()
    assert answers["restarts"].to_pylist() == batch.restarts.tolist()


def test_the_other_columns_come_through() -> None:
    assert SOLVED.column_names[:2] == ["id", "note"]
    assert SOLVED.select(["id", "note"]).equals(MANY.select(["id", "note"]))
    assert not {"x", "y", "z", "qw"} & set(SOLVED.column_names)


def test_columns_say_their_units() -> None:
    units = {field.name: field.metadata[b"unit"] for field in SOLVED.schema if field.metadata}
    lengths = {"position_error_m": b"m", "rotation_error_rad": b"rad"}
    assert units == dict.fromkeys(ANGLES, b"rad") | lengths


def test_bad_rows_carry_their_status_and_harm_no_other() -> None:
    status = SOLVED["status"].to_pylist()
    assert [i for i, name in enumerate(status) if name == "BAD_INPUT"] == [3, 4]
    assert status[5] == "UNREACHABLE"
    assert SOLVED[ANGLES[0]].null_count == SOLVED["position_error_m"].null_count == 2
    assert solve_table(SOLVER, MANY.slice(6)).equals(SOLVED.slice(6))


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, len(MANY)), max_size=4), threads=st.integers(1, 3))
def test_a_table_may_be_cut_anywhere(cuts: list[int], threads: int) -> None:
    ends = [0, *sorted(cuts), len(MANY)]
    pieces = [MANY.slice(a, b - a) for a, b in pairwise(ends)]
    assert pa.concat_tables([solve_table(SOLVER, piece, threads=threads) for piece in pieces]).equals(SOLVED)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("numbers", [3, 7])
def test_a_table_may_be_empty_or_of_one_row(n: int, numbers: int) -> None:
    task = pz.PositionTask(ARM.tip) if numbers == 3 else pz.PoseTask(ARM.tip)
    solver = pz.Solver(ARM, task)
    answers = solve_table(solver, table_of(poses(1)[:n, :numbers]))
    assert answers.num_rows == n
    assert answers.schema.equals(solve_table(solver, table_of(poses(5)[:, :numbers])).schema)
    assert answers["success"].to_pylist() == [True] * n


def test_positions_alone_have_no_rotation_error() -> None:
    answers = solve_table(pz.Solver(ARM, pz.PositionTask(ARM.tip)), targets(10))
    assert answers["rotation_error_rad"].null_count == 10
    assert answers["status"].to_pylist().count("BAD_INPUT") == 1
    assert "qw" in answers.column_names  # which is of no use to a position, and so one of the others


def test_roll_pitch_yaw_is_the_same_rotation() -> None:
    goals = pz.SE3(poses(10))
    turns = pa.table(
        dict(zip(("x", "y", "z", "roll", "pitch", "yaw"), [*goals.xyz.T, *goals.rotation.rpy().T], strict=True))
    )
    assert np.allclose(
        configurations(solve_table(SOLVER, turns)),
        configurations(solve_table(SOLVER, table_of(goals.array))),
        atol=1e-6,
    )
    no_turn = turns.set_column(3, "roll", pa.array([None, *turns["roll"].to_pylist()[1:]]))
    assert solve_table(SOLVER, no_turn)["status"].to_pylist() == ["BAD_INPUT"] + ["CONVERGED"] * 9


def test_starts_are_read_from_columns_or_a_list() -> None:
    starts = ARM.sample(8, seed=5)
    named = {f"q0_{name}": column for name, column in zip(ARM.coordinates, starts.T, strict=True)}
    expected = SOLVER.batch(poses(8), starts).q
    for more in (named, {"q0": starts.tolist()}, {"q0": pa.array(starts.tolist(), pa.list_(pa.float32(), 7))}):
        found = configurations(solve_table(SOLVER, table_of(poses(8), **more)))
        if more is named or isinstance(more["q0"], list):
            assert np.array_equal(found, expected)
        assert np.allclose(found, expected, atol=1e-4)
    assert not np.array_equal(expected, SOLVER.batch(poses(8)).q)


def test_a_start_that_is_none_is_bad_input() -> None:
    starts = [*ARM.sample(4, seed=5).tolist()]
    starts[1], starts[2] = None, [0.0, 1.0]
    assert solve_table(SOLVER, table_of(poses(4), q0=starts))["status"].to_pylist() == [
        "CONVERGED", "BAD_INPUT", "BAD_INPUT", "CONVERGED",
    ]  # fmt: skip


def lacking(*names: str) -> pa.Table:
    return targets(4).drop_columns(list(names))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (lacking("y"), "no column y: a position is x y z"),
        (lacking("qx", "qy"), "no column qx qy: a rotation is qw qx qy qz"),
        (pa.table({"X": [0.4], " Y": [0.1], "z": [0.5]}), "; write x y for X  Y"),
        (pa.table({"0.4": [0.4], "0.1": [0.1], "-.5": [0.5]}), "the first line .* has numbers: put one with names"),
        (pa.table({"x;y;z": ["0.4;0.1;0.5"]}), "between columns stands ';': write the file with ','"),
        (lacking("qw", "qx", "qy", "qz"), "no rotation, which PoseTask.* needs"),
        (targets(4).append_column("yaw", [[0.0] * 4]), "rotation twice"),
        (targets(4).append_column("x", [[0.0] * 4]), "2 columns 'x'"),
        (targets(4).append_column("q0_elbow", [[0.0] * 4]), "'q0_elbow' starts no joint of panda"),
        (targets(4).append_column("q0_panda_joint1", [[0.0] * 4]), "no column q0_panda_joint2 .*: a start is"),
        (targets(4).append_column("success", [[True] * 4]), "'success', which is what one of the answers"),
        (targets(4).set_column(1, "x", [["a"] * 4]), "'x' must hold numbers, and holds string"),
        (targets(4).append_column("q0", [[0.0] * 4]), "'q0' must hold lists of numbers, and holds double"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_columns_that_do_not_fit_are_refused(table: pa.Table, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_table(SOLVER, table)


def test_tasks_whose_targets_are_no_columns_are_refused() -> None:
    with refused("not-supported", "AxisTask"):
        solve_table(pz.Solver(ARM, pz.AxisTask(ARM.tip, axis=(0, 0, 1), target=(0, 0, 1))), targets(4))


def test_without_pyarrow_the_message_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(vars(pz.scale), "solve_table", raising=False)
    with pytest.raises(pz.MissingExtra, match=r'tables needs pyarrow: pip install "poise\[data\]"'):
        _ = pz.scale.solve_table


def test_another_name_of_the_room_is_an_attribute_error() -> None:
    assert {"map_batches", "solve_table"} <= set(dir(pz.scale))
    with pytest.raises(AttributeError, match="solve_tables"):
        _ = pz.scale.solve_tables
