"""A motion that brings its skeleton is played by itself."""

from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.cli import main

pytest.importorskip("viser", reason="the viewer needs viser")


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
