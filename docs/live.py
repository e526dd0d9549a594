"""What moves on the pages: robots and methods that solve in the reader's browser, with files of Trackers made here."""

import base64
import gzip
import itertools
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import poise as pz
from poise.methods.damping import Constant, Curvature
from poise.viewer.pages.live import exported, live_robot, live_script
from poise.viewer.scene.appearance import appearance

_HERE: Final = Path(__file__).parent
_OUT: Final = _HERE / "_static" / "live"
_START: Final = (0.3, 0.1, 0.1, 0.1, 0.1)
_TARGET: Final = (1.8, 2.4)
"""[m]"""


class Setting(NamedTuple):
    """A slider: a field of a method, and the values that it takes."""

    name: str
    values: Sequence[Any]
    at: int
    """The one to begin with."""


SLIDERS: Final[dict[str, tuple[str, list[Setting]]]] = {
    "jt": ("jt", [Setting("max_step", (0.02, 0.05, 0.1, 0.2, 0.52), 4)]),
    "pinv": (
        "pinv",
        [Setting("max_step", (0.02, 0.05, 0.09, 0.2, 0.5, 3.0), 2), Setting("cutoff", (1e-6, 1e-3, 0.01, 0.1, 0.5), 2)],
    ),
    "dls": (
        "dls",
        [Setting("damping", (0.01, 0.03, 0.1, 0.3, 1.0, 3.0), 3), Setting("max_error", (0.2, 1.0, None), 2)],
    ),
    "damping": (
        "dls",
        [Setting("damping", (Constant(0.1), Constant(1.0), Curvature(0.05), Curvature(0.2), Curvature(1.0)), 3)],
    ),
    "sdls": ("sdls", [Setting("max_angle", (0.05, 0.1, 0.2, 0.4, 0.785), 4)]),
    "filtered": ("filtered", [Setting("filter", ("truncated", "gaussian", "jparse"), 0)]),
    "halley": ("halley", [Setting("damping", (1e-4, 0.003, 0.03, 0.3, 1.0), 1)]),
    "hybrid": ("hybrid", [Setting("switch", (1e-4, 0.01, 0.1, 1.0), 1)]),
    "ccd": ("ccd", []),
    "fabrik": ("fabrik", [Setting("passes", (1, 2, 4, 8), 0)]),
    "bounded": ("qp", [Setting("max_error", (0.02, 0.05, 0.1, 0.2, 0.5, 2.0), 3)]),
    "quasi_newton": ("lbfgs", [Setting("memory", (1, 2, 4, 8, 16), 3)]),
    "das": ("das", [Setting("alpha", (0.1, 0.3, 0.6, 1.0, 1.5), 3)]),
    "priority": ("priority", [Setting("max_error", (0.02, 0.05, 0.1, 0.2, 0.5, 2.0), 3)]),
    "pairwise": ("pairwise", [Setting("weight", (0.005, 0.02, 0.05, 0.2, 1.0), 2)]),
    "clamps": ("dls", [Setting("max_error", (0.02, 0.05, 0.1, 0.2, 0.5, 2.0), 3)]),
}
"""The page of a method, the method that it shows, and what of it can be set there."""


def write() -> None:
    """Write what the pages load."""
    _OUT.mkdir(parents=True, exist_ok=True)
    (_OUT / "poise.js").write_text(live_script(), encoding="utf-8")
    for name in ("method.js", "live.css"):
        shutil.copy(_HERE / "live" / name, _OUT / name)
    robots = {"panda": (pz.load("panda"), None), "g1": (pz.load("g1"), ["left_wrist_yaw_link", "right_wrist_yaw_link"])}
    for name, (model, frames) in robots.items():
        tasks = [pz.PoseTask(frame) for frame in ([model.tip] if frames is None else frames)]
        _put(name, live_robot(model, tasks, appearance(model)))
    for page, (method, settings) in SLIDERS.items():
        _put(f"method_{page}", _method(method, settings))


def _put(name: str, data: dict[str, Any]) -> None:
    (_OUT / f"{name}.js").write_text(f"poise.{name} = {json.dumps(data)};\n", encoding="utf-8")


def _method(name: str, settings: Sequence[Setting]) -> dict[str, Any]:
    """What `poise.method` takes."""
    arm, files = pz.load("planar5"), []
    for values in itertools.product(*(setting.values for setting in settings)):
        given = {setting.name: value for setting, value in zip(settings, values, strict=True)}
        tracker = pz.Tracker(arm, pz.PositionTask(arm.tip), pz.methods.METHODS[name](**given), settle=False)
        files.append(exported(tracker))
    return {
        "files": base64.b64encode(gzip.compress(b"".join(files), 9, mtime=0)).decode(),
        "ends": np.cumsum([0, *map(len, files)]).tolist(),
        "sliders": [{"name": s.name, "values": [_text(v) for v in s.values], "at": s.at} for s in settings],
        "frames": [frame for frame in arm.frames if frame != "world"],
        "reach": float(np.linalg.norm(arm.pose(arm.tip, arm.neutral).xyz)),
        "start": list(_START),
        "target": list(_TARGET),
    }


def _text(value: Any) -> str:
    return (
        str(value)
        if value is None or isinstance(value, str)
        else f"{value:g}"
        if isinstance(value, float | int)
        else repr(value)
    )
