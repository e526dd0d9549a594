"""Formats whose readers are not installed name the extra that brings them."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.refusals import refused

import poise as pz


@pytest.mark.parametrize(
    ("suffix", "module", "extra"),
    [("fbx", "ufbx", "fbx"), *((suffix, "pxr", "usd") for suffix in ("usd", "usda", "usdc", "usdz"))],
)
def test_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    (tmp_path / f"walk.{suffix}").write_text("a")
    with refused("missing-extra", f'pip install "poise[{extra}]"'):
        pz.load_motion(tmp_path / f"walk.{suffix}")


def test_another_package_with_the_same_module_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ufbx", ModuleType("ufbx"))
    (tmp_path / "walk.fbx").write_text("FBX")
    with refused("missing-extra", "pip uninstall pyufbx", 'pip install "poise[fbx]"'):
        pz.load_motion(tmp_path / "walk.fbx")
