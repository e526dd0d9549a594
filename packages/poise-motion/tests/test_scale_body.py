"""Lengths of segments from markers: what was stretched is found, and markers are placed where they sit."""

import re
from pathlib import Path

import numpy as np
import pytest
from osim_texts import LEG, leg

import poise as pz
from poise_motion.markers.scaling import scaled
from poise_motion.osim.reader import read

NAMES = [f"{link}.{i}" for link in LEG for i in range(3)]
TRUE = {"pelvis": 1.1, "shank": 0.9, "patella": 1.2, "foot": 1.05}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pz.Model:
    file: Path = tmp_path_factory.mktemp("osim") / "leg.osim"
    file.write_text(leg())
    return read(file)


def moves(model: pz.Model, count: int = 12) -> np.ndarray:
    return model.clip(model.home + np.random.default_rng(0).uniform(-0.5, 0.5, (count, model.nq)))


def recorded(model: pz.Model, noise: float = 0.0) -> pz.Markers:
    places = model.poses(moves(model), NAMES).xyz
    return pz.Markers(NAMES, np.arange(12) / 10, places + noise * np.random.default_rng(1).normal(size=places.shape))


def test_a_model_that_is_not_stretched_is_the_same(model: pz.Model) -> None:
    same, q = scaled(model, {}), moves(model)
    frames = [*model.links, *NAMES]
    assert np.allclose(same.poses(q, frames).array, model.poses(q, frames).array, atol=1e-15)
    assert np.array_equal(same.home, model.home)
    assert same.coordinates == model.coordinates
    assert np.array_equal(same.lower, model.lower)
    assert same.mass == model.mass


def test_loops_are_those_of_the_model(model: pz.Model) -> None:
    looped = model.with_loops([("pelvis.0", "foot.0")])
    assert scaled(looped, {"shank": 1.1}).loops == looped.loops


def test_a_factor_is_of_all_lengths_on_a_link(model: pz.Model) -> None:
    """As OpenSim has it, slides of a joint by functions are lengths of the body that carries it."""
    q = moves(model)
    all_of_it = scaled(model, dict.fromkeys(LEG, 2.0))
    still = q.copy()
    for name in ("px", "py", "pz"):
        still[:, model.index(name)] *= 2.0
    assert np.allclose(all_of_it.poses(still, NAMES).xyz, 2.0 * model.poses(q, NAMES).xyz, atol=1e-12)
    heavy = model.with_payload(1.0, link="shank", inertia=np.eye(3))
    assert np.allclose(scaled(heavy, {"shank": 2.0}).inertias["shank"], 4.0 * heavy.inertias["shank"])


def test_what_was_stretched_is_found(model: pz.Model) -> None:
    found = pz.scale_body(model, recorded(scaled(model, TRUE)), prior=1e-4)
    assert found.factors == pytest.approx(TRUE, abs=1e-5)
    assert found.fit.rms.max() < 1e-5
    assert np.allclose(found.fit.motion.q, moves(model), atol=1e-4)
    assert re.search(r"factors: pelvis 1.100, shank 0.900, patella 1.200, foot 1.050\n\n12 frames", str(found))


def test_of_noise_nearly_so_and_what_nothing_says_stays(model: pz.Model) -> None:
    markers = recorded(scaled(model, TRUE), noise=0.005)
    assert pz.scale_body(model, markers).factors == pytest.approx(TRUE, abs=0.05)
    some = pz.scale_body(model, markers.of([name for name in NAMES if not name.startswith("patella")]))
    assert "patella" not in some.factors
    firm = pz.scale_body(model, markers, prior=10.0)
    assert firm.factors == pytest.approx(dict.fromkeys(LEG, 1.0), abs=0.01)


def test_gaps_and_weights_count(model: pz.Model) -> None:
    markers = recorded(scaled(model, TRUE))
    places = markers.positions.copy()
    places[3:6, 4] = np.nan
    places[:, 7] += [0.1, 0.0, 0.0]
    some = pz.Markers(NAMES, markers.times, places)
    found = pz.scale_body(model, some, weights={"patella.1": 0.0}, coordinates={"tilt": 1e-9}, prior=1e-4)
    assert found.factors == pytest.approx(TRUE, abs=1e-4)


def test_markers_are_placed_where_they_sit(model: pz.Model) -> None:
    sits = scaled(model, TRUE, {"foot.2": np.array([0.07, -0.12, -0.08])})
    found = pz.scale_body(model, recorded(sits), weights={"foot.2": 1e-6}, place=["foot.2"], prior=1e-5)
    assert np.allclose(found.model.frame("foot.2").origin.xyz, [0.07, -0.12, -0.08], atol=1e-4)
    there = np.linalg.norm(np.array([0.07, -0.12, -0.08]) - 1.05 * np.array([0.05, -0.15, -0.1]))
    assert found.moved == pytest.approx({"foot.2": there}, abs=1e-3)
    every = pz.scale_body(model, recorded(sits, noise=0.01), place=True)
    assert set(every.moved) == set(NAMES)
    with pytest.raises(ValueError, match="'hat' of place was not measured"):
        pz.scale_body(model, recorded(sits).renamed({"foot.0": "hat"}), place=["hat"])
    with pytest.raises(TypeError, match="place must be a list of names"):
        pz.scale_body(model, recorded(sits), place="foot.2")
    with pytest.raises(TypeError, match="markers must be Markers, one recording"):
        pz.scale_body(model, [recorded(sits)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="prior is 0"):
        pz.scale_body(model, recorded(sits), prior=0)
