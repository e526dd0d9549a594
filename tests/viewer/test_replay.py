"""Motions that are played: of a robot, of a skeleton, and one beside the other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.cli import main
from poise.geometry.shapes import Box
from poise.motion.tables import moves_root

pytest.importorskip("viser", reason="the viewer needs viser")

from hands import LOOKS, looking
from support.refusals import refused


def nod() -> pz.Motion:
    builder = pz.ModelBuilder("nod")
    builder.joint("Hips", "floating", parent="world", child="Hips")
    builder.joint("Neck", "spherical", parent="Hips", child="Neck", origin=pz.SE3.from_parts([0, 0, 1.2]))
    builder.frame("Neck_end", link="Neck", origin=pz.SE3.from_parts([0, 0, 0.3]))
    model = builder.build()
    v = np.zeros((8, model.nv))
    v[:, 6] = np.linspace(0.0, 1.0, 8)
    return pz.Motion(model, np.arange(8) / 20.0, model.integrate(model.neutral, v), name="nod")


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".gltf"])
def test_a_skeleton_is_played_without_a_robot(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    motion, html = tmp_path / f"nod{suffix}", tmp_path / "nod.html"
    nod().save(motion)
    assert main(["view", "--replay", str(motion), "--record", str(html), "--port", "0"]) == 0
    assert capsys.readouterr().out == f"written: {html}\n"
    assert html.stat().st_size > 500_000
    assert main(["view", "panda", "--replay", str(motion), "--port", "0"]) == 1
    assert "brings a skeleton of its own, which is played: leave panda out" in capsys.readouterr().err


def walker() -> pz.Model:
    """A box on a hinge that floats."""
    builder = pz.ModelBuilder("walker")
    builder.joint("hip", "revolute", parent="body", child="leg", axis=(0, 1, 0), limits=(-1.0, 1.0))
    builder.shape("body", Box(pz.SE3.identity(), (0.2, 0.3, 0.4)))
    builder.shape("leg", Box(pz.SE3.from_parts([0.0, 0.0, -0.4]), (0.1, 0.1, 0.6)))
    return builder.build(base="floating")


def walk() -> pz.Motion:
    """Forward by 2 m in 2 s."""
    model = walker()
    q = np.tile(model.neutral, (21, 1))
    q[:, 0], q[:, 2], q[:, -1] = np.linspace(0.0, 2.0, 21), 0.7, np.linspace(-0.5, 0.5, 21)
    return pz.Motion(model, np.arange(21) / 10.0, q, name="walk")


def test_the_ground_slides_beneath_a_robot_and_its_ghost_stays_beside_it() -> None:
    """Wherever both go, and when the ghost's motion is over."""
    ghost, model = nod(), walker()
    with pz.view(walk(), ghost=ghost, block=False, port=0) as shown:
        shown.loop.stop()
        played = shown.played
        assert played.ghost.aside == pytest.approx(0.6 * played.ghost.height, abs=0.005)
        for follow in (True, False):
            played.follow = follow
            for time in (0.0, 0.2, 1.9):
                played.show(time)
                places = [np.array(node.figure._root.position) for node in (played, played.ghost)]
                assert not np.any([place[2] for place in places])
                robot = places[0] + model.pose("body", shown.motion.at(time)).xyz
                other = places[1] + ghost.model.pose("Hips", ghost.at(time)).xyz
                assert np.allclose((other - robot)[:2], [0.0, played.ghost.aside])
                assert np.allclose(robot[:2], [0.0 if follow else time, 0.0])
                assert np.allclose(played._ground[0].position[:2], places[0][:2])


def test_two_attempts_of_a_robot_are_laid_over_one_another_with_their_measures() -> None:
    model = pz.load("planar3")
    one = pz.Motion(model, [0.0, 1.0], [[0.0, 0.0, 0.0], [0.3, 0.4, 0.0]])
    other = pz.Motion(model, [5.0, 7.0], [[0.0, 0.0, 0.0], [1.2, 1.6, 0.0]])
    with pz.view(one, ghost=other, block=False, port=0) as shown:
        shown.loop.stop()
        assert shown.played.duration == shown.timeline.duration == 2.0
        shown.played.show(1.5)  # the first is over
        for figure, motion, time in ((shown.played.figure, one, 1.0), (shown.played.ghost.figure, other, 6.5)):
            assert np.allclose(figure._nodes._sent, model.poses(motion.at(time), figure._frames).array)
            assert np.allclose(figure._root.position, 0.0)
        assert "| length of the joints | 0.50 | 2.00 |" in shown.table.content
        assert "clearance" not in shown.table.content
        shown.played.ghost.aside = 1.0
        shown.played.show(0.0)
        assert np.allclose(shown.played.ghost.figure._root.position, [0.0, 1.0, 0.0])


def test_what_a_motion_does_not_take() -> None:
    with refused("conflict", "tasks"):
        pz.view(walk(), pz.PositionTask("leg"), block=False, port=0)
    with refused("conflict", "ghost"):
        pz.view(walker(), ghost=nod(), block=False, port=0)


def test_the_command_line_plays_a_robot_and_its_ghost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The base floats, because the file moves it."""
    model = pz.load("g1", base="floating")
    q = np.tile(model.home, (4, 1))
    q[:, 0] = np.linspace(0.0, 0.3, 4)
    path, bvh, html = tmp_path / "walk.npz", tmp_path / "nod.bvh", tmp_path / "walk.html"
    pz.Motion(model, np.arange(4) / 10.0, q).save(path)
    nod().save(bvh)
    asked = ["view", "g1", "--look", "skeleton", "--port", "0", "--replay", str(path)]
    assert main([*asked, "--ghost", str(bvh), "--record", str(html)]) == 0
    assert capsys.readouterr().out == f"written: {html}\n"
    assert main([*asked, "--ghost", str(path), "--record", str(html), "--force"]) == 0
    assert capsys.readouterr().out == f"written: {html}\n"
    assert main([*asked, "--ghost", str(tmp_path / "walk.txt")]) == 1
    assert "walk.txt" in capsys.readouterr().err
    assert main(["view", "g1", "--ghost", str(bvh)]) == 1
    assert "add --replay" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_a_table_says_whether_the_robot_moves(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"walk{suffix}"
    walk().save(file)
    assert moves_root(file)
    arm = pz.load("planar3")
    pz.Motion(arm, [0.0], [arm.home]).save(file)
    assert not moves_root(file)
    file.write_text("nothing")
    assert not moves_root(file)
    assert not moves_root(tmp_path / f"nowhere{suffix}")


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize("look", LOOKS)
def test_a_ghost_in_the_browser(look: str, request: pytest.FixtureRequest, wait_for: Callable[..., None]) -> None:
    """What is seen differs with it and without it."""
    page, see = looking(look, request)
    with pz.view(walk(), ghost=nod(), block=False, port=0) as shown:
        shown.timeline._playing.value = False
        page.goto(shown.url)
        page.wait_for_selector("canvas")
        wait_for(lambda: shown.server.viser.get_clients(), page)
        box = page.get_by_role("checkbox", name="ghost")
        box.wait_for()
        seen: list[Any] = [None]
        wait_for(lambda: seen.append(see()) or seen[-1] == seen[-2], page)
        box.click()
        wait_for(lambda: not shown.played.ghost.figure.visible, page)
        wait_for(lambda: see() != seen[-1], page)
