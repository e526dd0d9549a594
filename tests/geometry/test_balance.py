"""Where contacts hold a body: the section of Bretl and Lall beside linear programs of one place each."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from poise.geometry.balance import EDGES, Balance, pyramids

MOST = 10.0


def pyramid(normal: np.ndarray, friction: float, edges: int) -> np.ndarray:
    """(edges, 3) the edges of a pyramid within the cone."""
    across = np.linalg.svd(normal[None])[2][1:]
    turns = 2.0 * math.pi * np.arange(edges)[:, None] / edges
    return normal + friction * (np.cos(turns) * across[0] + np.sin(turns) * across[1])


def held(points: np.ndarray, normals: np.ndarray, friction: np.ndarray, place: np.ndarray, edges: int = 720) -> bool:
    """Whether there are forces of cones, as pyramids of very many edges, that hold a weight of 1 at a place (2,)."""
    rays = np.stack([pyramid(n, f, edges) for n, f in zip(normals, friction, strict=True)])
    forces = rays.reshape(-1, 3)
    moments = np.cross(points[:, None] - [*place, 0.0], rays).reshape(-1, 3)
    matrix = np.vstack([forces.T, moments.T])
    presses = np.ones((1, len(forces)))
    found = linprog(np.zeros(len(forces)), presses, [MOST], matrix, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    return bool(found.status == 0)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 7))
    normals = np.array([0.0, 0.0, 1.0]) + (0.0, 0.6, 3.0)[seed % 3] * rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return rng.normal(size=(count, 3)) * [0.4, 0.4, 0.5], normals, rng.uniform(0.2, 1.0, count)


def gap(section: np.ndarray, place: np.ndarray) -> float:
    """How far a place is beyond the sides of a section, less than 0 within."""
    along = np.roll(section, -1, axis=0) - section
    lengths = np.linalg.norm(along, axis=1)
    long, off = lengths > 1e-9, place - section
    return float(((along[:, 1] * off[:, 0] - along[:, 0] * off[:, 1])[long] / lengths[long]).max())


@pytest.mark.parametrize("seed", range(12))
def test_what_is_within_is_held_and_what_is_beyond_is_not(seed: int) -> None:
    """Of cones, what is within is held; of cones that are as narrow as a pyramid's sides, what is beyond is not."""
    points, normals, friction = drawn(seed)
    balance, rng = Balance(points, normals, friction, MOST), np.random.default_rng(seed)
    if not balance.holds:
        assert not any(held(points, normals, 0.98 * friction, p, 90) for p in rng.normal(size=(20, 2)))
        return
    section = balance.section()
    if len(section) < 3:
        return
    narrow = friction * math.cos(math.pi / EDGES)
    for k in range(8):
        i, share = int(rng.integers(len(section))), rng.random()
        on = section[i] + share * (section[(i + 1) % len(section)] - section[i])
        place = on + (1e-6 + 0.05 * (k % 2)) * (1 if k % 4 > 1 else -1) * (on - section.mean(axis=0))
        far = gap(section, place)
        if far < -1e-7:
            assert held(points, normals, friction, place)
        elif far > 1e-7:
            assert not held(points, normals, narrow * (1.0 - 1e-9), place) or far < 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_with_its_own_pyramids_it_is_exact(seed: int) -> None:
    points, normals, friction = drawn(seed)
    balance, rng = Balance(points, normals, friction, MOST), np.random.default_rng(seed)
    if balance.holds and len(section := balance.section()) > 2:
        edges = pyramids(normals, friction)
        for _ in range(15):
            i = int(rng.integers(len(section)))
            on = section[i] + rng.random() * (section[(i + 1) % len(section)] - section[i])
            place = on + rng.choice([-3e-6, 3e-6]) * rng.normal(size=2)
            if abs(far := gap(section, place)) > 1e-6:
                assert _by(points, normals, edges, place) == (far < 0.0)


def _by(points: np.ndarray, normals: np.ndarray, edges: np.ndarray, place: np.ndarray) -> bool:
    middle = points.mean(axis=0)
    moments = np.cross((points - middle)[:, None], edges).reshape(-1, 3)
    x, y = place - middle[:2]
    presses = np.einsum("nki,ni->nk", edges, normals).reshape(1, -1)
    matrix = np.vstack([edges.reshape(-1, 3).T, moments.T])
    return bool(linprog(np.zeros(matrix.shape[1]), presses, [MOST], matrix, [0, 0, 1, y, -x, 0]).status == 0)


@pytest.mark.parametrize(("steep", "holds"), [(0.39, True), (0.41, False)])
def test_a_slope_that_is_steeper_than_its_friction_holds_nothing(steep: float, holds: bool) -> None:
    normal = np.array([steep, 0.0, 1.0]) / math.hypot(1.0, steep)
    feet = np.array([[0.0, y, 0.0] for y in (0.0, 0.2)])
    assert Balance(feet, np.tile(normal, (2, 1)), np.full(2, 0.4), MOST).holds is holds
