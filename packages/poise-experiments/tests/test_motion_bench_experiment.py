"""Poses of a hand among obstacles, their judge, and verdicts that can fail."""

import io
import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible

import poise as pz
from poise.cli import main
from poise_experiments.motion_bench_maker import judge, problem, report
from poise_experiments.motion_bench_maker.judge import Judge
from poise_experiments.motion_bench_maker.problem import START, Obstacle, Problem, hand_blocked, panda, solve
from poise_experiments.motion_bench_maker.report import claims, measure, tables
from poise_experiments.motion_bench_maker.results import Found, Results
from poise_experiments.motion_bench_maker.sets import ARCHIVE, SETS, Sets, problem_sets

HERE = ("bookshelf_small", "bookshelf_tall", "box", "table_pick")


@pytest.fixture(scope="module", autouse=True)
def no_archive() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(ARCHIVE, raising=False)
        yield


@pytest.fixture(scope="module")
def sets() -> Sets:
    return problem_sets()


@pytest.fixture(scope="module")
def results() -> Results:
    return measure(quick=True)


def verdicts(results: Results) -> dict[str, str]:
    """By the words before the first colon, such as "box" and "cage, boxes grown by 10 mm"."""
    return {claim.claim.partition(":")[0]: claim.verdict for claim in claims(results)}


def around(name: str, q: Sequence[float], size: float = 0.05) -> Obstacle:
    """A box in the middle of a frame."""
    return Obstacle("box", "box", (size,) * 3, pz.SE3.from_parts(panda().pose(name, q).xyz))


def test_four_sets_of_a_hundred_are_here(sets: Sets) -> None:
    assert {name: len(some) for name, some in sets.items()} == dict.fromkeys(HERE, 100)
    for some in sets.values():
        assert [each.number for each in some] == list(range(1, 101))


@pytest.mark.parametrize("name", HERE)
def test_goals_are_free_as_poise_and_the_judge_have_it(name: str, sets: Sets) -> None:
    for each in sets[name][::20]:
        assert panda().within_limits(each.goal)
        assert not panda().in_collision(each.goal, each.world)
        assert Judge(each)(each.goal).good


def test_the_poses_of_a_quick_look_are_found_and_good(results: Results) -> None:
    assert list(results.sets) == list(HERE)
    for found in results.sets.values():
        assert len(found) == 4
        assert all(each.good for each in found)
    for rung in results.ladder.values():
        assert rung.of_known == sum(rung.known) > 0


def test_boxes_grow_on_every_side_and_cylinders_do_not(sets: Sets) -> None:
    scene = sets["table_pick"][0]
    for one, other in zip(scene.obstacles, scene.grown(0.02).obstacles, strict=True):
        assert other.pose == one.pose
        grown = np.subtract(other.size, one.size)
        np.testing.assert_allclose(grown, 0.04 if one.kind == "box" else 0.0, atol=1e-12)


def test_a_cylinder_is_one() -> None:
    pose = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    assert Obstacle("can", "cylinder", (0.14, 0.03), pose).shape == pz.Cylinder(pose, 0.03, 0.14)


def test_the_judge_sees_links_in_obstacles_in_one_another_and_a_hand_elsewhere() -> None:
    ready = np.array(START)
    empty = Judge(Problem(1, ready, ()))
    assert empty(ready).good
    elsewhere = empty(ready + np.eye(7)[0] * 0.1)
    assert (elsewhere.there, elsewhere.free, elsewhere.self_free) == (False, True, True)
    slightly = empty(ready + np.eye(7)[0] * 0.001)
    assert slightly.there
    beyond = Judge(Problem(1, (past := np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 2.9])), ()))(past)
    assert (beyond.there, beyond.free) == (False, True)
    folded = np.array([0.0, 1.7, 0.0, -3.0, 0.0, -0.01, 0.0])
    assert not Judge(Problem(1, folded, ()))(folded).self_free
    within = Judge(Problem(1, ready, (around("panda_hand", START),)))(ready)
    assert (within.there, within.free, within.self_free, within.good) == (True, False, True, False)


def test_a_blocked_hand_is_told_from_an_arm_that_is_in_the_way() -> None:
    ready = np.array(START)
    hand = Problem(1, ready, (around("panda_hand", START),))
    elbow = Problem(1, ready, (around("panda_link4", START),))
    assert hand_blocked(hand)
    assert not solve(panda(), hand).solved
    assert not hand_blocked(elbow)
    assert solve(panda(), elbow).solved


def test_an_archive_of_scenes_and_requests_is_read(sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("yaml")
    problems, path = sets["table_pick"][4:6], tmp_path / "problems.tar.bz2"
    with tarfile.open(path, "w:bz2") as archive:
        for each in problems:
            scene = [
                {
                    "id": obstacle.name,
                    "primitives": [{"type": obstacle.kind, "dimensions": obstacle.size}],
                    "primitive_poses": [
                        {
                            "position": obstacle.pose.xyz.tolist(),
                            "orientation": np.roll(obstacle.pose.wxyz, -1).tolist(),
                        }
                    ],
                }
                for obstacle in each.obstacles
            ]
            joints = [{"joint_name": f"panda_joint{k}", "position": x} for k, x in enumerate(each.goal.tolist(), 1)]
            for kind, facts in (
                ("scene", {"world": {"collision_objects": scene}}),
                ("request", {"goal_constraints": [{"joint_constraints": joints[::-1]}]}),
            ):
                text = json.dumps(facts).encode()  # which is YAML too
                member = tarfile.TarInfo(f"problems/table_under_pick_panda/{kind}{each.number:04d}.yaml")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    monkeypatch.setenv(ARCHIVE, str(path))
    found = problem_sets()
    assert list(found) == ["table_under_pick"]
    for one, other in zip(found["table_under_pick"], problems, strict=True):
        assert one.number == other.number
        np.testing.assert_array_equal(one.goal, other.goal)
        for a, b in zip(one.obstacles, other.obstacles, strict=True):
            assert (a.name, a.kind, a.size) == (b.name, b.kind, b.size)
            assert a.pose.isclose(b.pose, atol=1e-12)


def test_an_archive_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ARCHIVE, "/nowhere/problems.tar.bz2")
    with pytest.raises(ValueError, match=f"{ARCHIVE} names /nowhere/problems.tar.bz2"):
        problem_sets()


def test_without_meshes_the_package_that_has_them_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "installed_robots", dict)
    with pytest.raises(pz.MissingExtra, match=r"poise\[robots\]"):
        panda.__wrapped__()


def test_sets_that_are_not_here_get_no_verdict(results: Results) -> None:
    found = verdicts(results)
    assert len(found) == len(SETS) + 4
    decided = {*HERE, "table_pick, boxes grown by 20 mm"}
    assert {name for name, verdict in found.items() if verdict == "reproduced"} == decided
    assert {verdict for name, verdict in found.items() if name not in decided} == {"undecided"}
    assert all(ARCHIVE in claim.ours for claim in claims(results) if claim.verdict == "undecided")


def test_without_a_judge_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "installed", lambda: False)
    unjudged = measure(quick=True)
    assert all(each.answer.solved and each.judged is None for found in unjudged.sets.values() for each in found)
    assert set(verdicts(unjudged).values()) == {"undecided"}
    assert any("pip install pin" in claim.ours for claim in claims(unjudged))
    assert any("pip install pin" in note for table in tables(unjudged) for note in table.notes)
    assert_tables_readable(tables(unjudged))


def spoilt(found: Sequence[Found], *, solved: bool) -> list[Found]:
    """The first of them not solved, or solved in a way that the judge does not accept."""
    first = found[0]
    assert first.judged is not None
    judged = replace(first.judged, free=False) if solved else first.judged
    return [Found(replace(first.answer, solved=solved), judged), *found[1:]]


@pytest.mark.parametrize("solved", [False, True])
def test_every_verdict_can_fail(results: Results, solved: bool) -> None:
    ladder = {
        at: replace(rung, found=[each for one in rung.found for each in spoilt([one], solved=solved)])
        for at, rung in results.ladder.items()
    }
    spoiled = replace(
        results, sets={name: spoilt(found, solved=solved) for name, found in results.sets.items()}, ladder=ladder
    )
    assert set(verdicts(spoiled).values()) == {"differs", "undecided"}


def test_the_judge_is_there_where_both_packages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge.installed()
    monkeypatch.setattr(judge, "find_spec", lambda name: None if name == "coal" else object())
    assert not judge.installed()


def test_tables_can_be_read_at_80_columns_and_in_a_pipe(results: Results) -> None:
    for table in tables(results):
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
    assert_tables_readable(tables(results))


def test_the_figure_can_be_read(results: Results) -> None:
    pytest.importorskip("matplotlib")
    from poise_experiments.motion_bench_maker.figures import figures

    legible(figures(results)["motion_bench_maker"])


def test_the_command_writes_a_report_and_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "motion-bench-maker", "--quick", "--json", "--out", str(tmp_path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["reference"] == "chamzas2022"
    assert json.loads((tmp_path / "report.json").read_text())["tables"] == facts["tables"]
    assert (tmp_path / "motion_bench_maker.png").read_bytes().startswith(b"\x89PNG")
