"""pybullet's face, beside pybullet, which it reads bodies from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise_compat.pybullet import calculateInverseKinematics, calculateInverseKinematics2

bullet: Any = pytest.importorskip("pybullet")


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Two arms on a base that is tilted; links whose centres of mass are elsewhere and turned."""
    text, inertia = "", '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><origin xyz=".1 .2 .3" rpy=".4 .5 .6"/><mass value="1"/>{inertia}</inertial>'
    for side in ("left", "right"):
        parent = "base"
        for i, (kind, axis) in enumerate([("revolute", "0 0 1"), ("revolute", "0 1 0"), ("prismatic", "0 0 1"),
                                          ("fixed", "1 0 0"), ("revolute", "1 0 0"), ("revolute", "0 1 0"),
                                          ("revolute", "0 0 1")]):  # fmt: skip
            name, y = f"{side}{i}", 0.0 if i else (0.2 if side == "left" else -0.2)
            reach = 0.2 if kind == "prismatic" else 2.2
            text += (
                f'<link name="{name}">{inertial}</link><joint name="{name}_joint" type="{kind}"><parent link="{parent}"'
                f'/><child link="{name}"/><origin xyz="0.05 {y} 0.2" rpy="0.1 0.2 0.3"/><axis xyz="{axis}"/>'
                f'<limit lower="{-reach}" upper="{reach}" velocity="1" effort="9"/></joint>'
            )
            parent = name
    file: Path = tmp_path_factory.mktemp("body") / "arms.urdf"
    file.write_text(f'<robot name="arms"><link name="base">{inertial}</link>{text}</robot>')
    bullet.connect(bullet.DIRECT)
    yield bullet.loadURDF(str(file), [0.1, 0.2, 0.3], bullet.getQuaternionFromEuler([0.2, 0.1, 0.5]), useFixedBase=True)
    bullet.disconnect()


def moving(body: int) -> list[int]:
    return [j for j in range(bullet.getNumJoints(body)) if bullet.getJointInfo(body, j)[2] != 4]


def put(body: int, q: Any) -> None:
    for joint, x in zip(moving(body), q, strict=True):
        bullet.resetJointState(body, joint, x)


def frame(body: int, link: int) -> tuple[np.ndarray, np.ndarray]:
    state = bullet.getLinkState(body, link, computeForwardKinematics=True)
    return np.array(state[4]), np.array(state[5])


def drawn(body: int, count: int) -> np.ndarray:
    most = np.array([bullet.getJointInfo(body, j)[9] for j in moving(body)])
    return np.random.default_rng(0).uniform(-most, most, (count, len(most)))


def test_the_link_comes_there_within_the_limits_and_nearer_than_by_the_original(body: int) -> None:
    most = np.array([bullet.getJointInfo(body, j)[9] for j in moving(body)])
    for q in drawn(body, 10):
        put(body, q)
        place, turn = frame(body, 6)
        left = []
        for solve in (bullet.calculateInverseKinematics, calculateInverseKinematics):
            put(body, np.zeros(12))
            found = solve(body, 6, place, turn)
            assert len(found) == 12
            assert isinstance(found, tuple)
            put(body, found)
            there = frame(body, 6)
            left.append(np.abs(there[0] - place).max())
        assert left[1] < 1e-5
        assert left[1] < max(left[0], 1e-6)
        assert abs(abs(there[1] @ turn) - 1.0) < 1e-6
        assert (np.abs(found) <= most).all()
        assert np.array_equal(found[6:], np.zeros(6))


def test_several_links(body: int) -> None:
    for q in drawn(body, 5):
        put(body, q)
        places = [frame(body, link)[0] for link in (6, 13)]
        put(body, np.zeros(12))
        put(body, calculateInverseKinematics2(body, [6, 13], places))
        assert all(np.abs(frame(body, k)[0] - at).max() < 1e-5 for k, at in zip((6, 13), places, strict=True))


def test_lists_take_the_place_of_what_the_body_says(body: int) -> None:
    q = 0.3 * drawn(body, 1)[0]
    put(body, q)
    place, turn = frame(body, 6)
    put(body, np.zeros(12))
    found = calculateInverseKinematics(body, 6, place, turn, currentPositions=q)
    assert np.allclose(found[:6], q[:6], atol=1e-5)
    low, high = np.full(12, -0.1), np.full(12, 0.1)
    narrow = calculateInverseKinematics(body, 6, place, None, low, high)
    assert (np.abs(narrow) <= 0.1).all()
    rest = np.zeros(12)
    rest[9] = 0.5
    calm = calculateInverseKinematics(body, 6, place, restPoses=rest)
    assert calm[9] == pytest.approx(0.5, abs=1e-6)
    plain = calculateInverseKinematics(body, 6, place)
    assert plain == calculateInverseKinematics(body, 6, place, restPoses=[0.5] * 7)  # of another length, as there


def test_bad_input_is_told_in_a_sentence(body: int) -> None:
    with pytest.raises(ValueError, match=r"targetPosition\[0\] is nan"):
        calculateInverseKinematics(body, 6, [np.nan, 0, 1])
    with pytest.raises(pz.FrameNotFound):
        calculateInverseKinematics(body, 60, [0, 0, 1])
