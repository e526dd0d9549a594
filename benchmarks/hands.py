"""A human hand on robots' hands, beside dex-retargeting: the same frames and files, one objective for both."""

import json
import logging
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import poise as pz

WEBXR = Path(os.environ.get("WEBXR_HANDS", "/usr/share/webxr")) / "right.glb"
"""`dist/profiles/generic-hand` of npm's @webxr-input-profiles/assets."""
HANDS = ("allegro", "shadow", "leap")
KINDS = {"vector": "teleop/{}_hand_right.yml", "dexpilot": "teleop/{}_hand_right_dexpilot.yml"}
FINGERS = ("index-finger", "middle-finger", "ring-finger", "pinky-finger")
RATE = 60.0
"""Frames a second."""
ONE_MOVE = 1.5
"""To close and to open, or to pinch and to let go [s]."""
CLOSED = {"phalanx-proximal": 1.2, "phalanx-intermediate": 1.4, "phalanx-distal": 0.8}
"""Of a fist [rad]; a thumb's are a third."""
TURN = 50
"""Frames of a turn, of which the first is not counted."""
LEVEL = 1e-6
"""An objective that is less by this part of the other is lower."""


@dataclass(frozen=True)
class Hand:
    """One robot and one objective; times are microseconds a frame."""

    name: str
    kind: str
    step: float
    """`HandRetargeter.step`, median."""
    p99: float
    clip: float
    """`HandRetargeter.retarget` of all frames."""
    peer: float
    """dex-retargeting, median."""
    lower: float
    """Percent of the frames in which theirs, put within the limits, has no lower objective, both from their last q."""
    excess: float
    """By how much their objective is above ours there, median, percent."""
    outside: float
    """Farthest beyond a limit, ours [rad]."""
    peer_outside: float
    """Theirs [rad]."""
    pinch: float
    """How far the tips of the robot are apart while the human's touch, median, ours [mm]."""
    peer_pinch: float
    """Theirs [mm]."""


def human() -> tuple[np.ndarray, np.ndarray]:
    """(frames, 21, 3) landmarks of a hand that closes, opens and pinches; (frames,) the finger that touches, or -1."""
    motion = pz.load_motion(WEBXR)
    model, rest = motion.model, motion[0]
    places = dict(zip(model.links, motion.positions()[0], strict=True))
    along = places["middle-finger-phalanx-proximal"] - places["wrist"]
    across = places["index-finger-phalanx-proximal"] - places["middle-finger-phalanx-proximal"]
    palm = np.cross(across, along)
    side = np.cross(along, palm)
    side /= np.linalg.norm(side)
    moves = 1 + len(FINGERS)
    times = np.arange(int(moves * ONE_MOVE * RATE)) / RATE
    share = 0.5 - 0.5 * np.cos(2.0 * np.pi * times / ONE_MOVE)
    part = (times / ONE_MOVE).astype(int)
    q = np.repeat(rest[None], len(times), axis=0)
    for finger in ("thumb", *FINGERS):
        bend = np.where(part == 0, share, 0.0)
        bend = bend * (0.33 if finger == "thumb" else 1.0)
        for name, most in CLOSED.items():
            if f"{finger}-{name}" in model.joint_names:
                at = model.index(f"{finger}-{name}")
                turns = pz.SO3.from_rotvec(np.multiply.outer(most * bend, side))
                q[:, at] = (turns @ pz.SO3(wxyz=q[:, at])).wxyz
    from poise_motion.anatomy.landmarks import MEDIAPIPE

    points = model.poses(q, MEDIAPIPE).xyz.copy()
    touching = np.full(len(times), -1)
    thumb = MEDIAPIPE.index("thumb-tip")
    for i, finger in enumerate(FINGERS):
        now, tip = part == i + 1, MEDIAPIPE.index(f"{finger}-tip")
        middle = 0.5 * (points[:, thumb] + points[:, tip]) + 0.02 * palm / np.linalg.norm(palm)
        for at in (thumb, tip):
            drawn = points[:, at] + share[:, None] * (middle - points[:, at])
            points[now, at] = drawn[now]
        touching[now & (share > 0.95)] = i + 1
    return points, touching


def hands(only: tuple[str, ...] = HANDS) -> list[Hand]:
    """Every robot and objective; empty where a package is missing, which is said."""
    for package in ("dexi_rs", "dex_retargeting"):
        if find_spec(package) is None:
            print(f"{package} is missing: pip install {package.replace('_', '-')}")
            return []
    if not WEBXR.exists():
        print(f"{WEBXR} is missing: see WEBXR_HANDS in benchmarks/README.md")
        return []
    points, touching = human()
    warnings.simplefilter("ignore", pz.ModelWarning)
    return [one(name, kind, points, touching) for name in only for kind in KINDS]


def one(name: str, kind: str, points: np.ndarray, touching: np.ndarray) -> Hand:
    """One robot and one objective; the libraries take turns every so many frames."""
    (configs,), (robots,) = (find_spec(p).submodule_search_locations for p in ("dex_retargeting", "dexi_rs"))
    folder = Path(robots) / "resources/assets/robots/hands"
    file = Path(configs) / "configs" / KINDS[kind].format(name)
    theirs = peer(file, folder)
    ours, forced = (pz.hands.load_hand_retargeter(file, folder=folder, alpha=1.0) for _ in range(2))
    model = ours.model
    order = [theirs.joint_names.index(joint) for joint in model.joint_names]
    pairs = theirs.optimizer.target_link_human_indices
    seen = points_of(points)
    vectors = (seen[:, pairs[1]] - seen[:, pairs[0]]).astype(np.float32)
    mine, others, seconds, slower = [], [], [], []
    for start in range(0, len(points), TURN):
        turn = range(start, min(start + TURN, len(points)))
        for call, given, out, taken in ((ours.step, points, mine, seconds), (theirs.retarget, vectors, others, slower)):
            for k in turn:
                began = perf_counter()
                found = call(given[k])
                if k != start:
                    taken.append(perf_counter() - began)
                out.append(np.asarray(found, dtype=float))
    other = np.array(others)[:, order]
    values = []
    for k in range(1, len(points)):
        last, inside = (np.clip(other[i], model.lower, model.upper) for i in (k - 1, k))
        best = forced.step(points[k], last=last)
        values.append([forced.objective(points[k], q, last) for q in (best, inside)])
    whole = []
    for _ in range(3):
        began = perf_counter()
        ours.retarget(points)
        whole.append(perf_counter() - began)
    a, b = np.array(values).T
    pilot = pz.hands.load_hand_retargeter(file.with_name(Path(KINDS["dexpilot"].format(name)).name), folder=folder)
    gaps = [distances(pilot, path, touching) for path in (np.array(mine), other)]
    return Hand(
        name,
        kind,
        1e6 * float(np.median(seconds)),
        1e6 * float(np.quantile(seconds, 0.99)),
        1e6 * min(whole) / len(points),
        1e6 * float(np.median(slower)),
        100.0 * float((a <= b * (1.0 + LEVEL)).mean()),
        100.0 * float(np.median(b / a - 1.0)),
        beyond(model, np.array(mine)),
        beyond(model, other),
        *(1e3 * float(np.median(gap)) for gap in gaps),
    )


def peer(file: Path, folder: Path) -> Any:
    """The same by dex-retargeting."""
    import torch
    from dex_retargeting.retargeting_config import RetargetingConfig

    torch.set_num_threads(1)
    RetargetingConfig.set_default_urdf_dir(str(folder))
    logging.disable(logging.WARNING)  # meshes that it does not find
    with redirect_stdout(StringIO()):
        return RetargetingConfig.load_from_file(file, override={"low_pass_alpha": 1}).build()


def points_of(points: np.ndarray) -> np.ndarray:
    """Landmarks as dex-retargeting is given them: z from the wrist to the middle knuckle, x out of the palm."""
    z = points[:, 9] - points[:, 0]
    x = np.cross(points[:, 5] - points[:, 9], z)
    z, x = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (z, x))
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    return np.einsum("fij,fkj->fki", axes, points - points[:, :1])


def beyond(model: pz.Model, path: np.ndarray) -> float:
    """How far the farthest joint is beyond its limits [rad]."""
    return float(np.maximum(model.lower - path, path - model.upper).max().clip(0.0))


def distances(pilot: pz.hands.HandRetargeter, path: np.ndarray, touching: np.ndarray) -> np.ndarray:
    """Between the robot's tips while the human's touch [m]."""
    tips = [task.tip for task in pilot.tasks if task.origin == pilot.tasks[-1].origin]
    some = (touching > 0) & (touching < len(tips))
    places = pilot.model.poses(path[some], tips).xyz
    return np.linalg.norm(places[np.arange(len(places)), touching[some]] - places[:, 0], axis=1)


def show(rows: list[Hand]) -> None:
    """Print them as Markdown."""
    if not rows:
        return
    print(
        "\n| hands | step us | p99 us | of a clip us | dex-retargeting us | x poise | no lower | above ours "
        "| beyond limits mrad | theirs | pinch mm | theirs |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print(
            f"| {row.name}, {row.kind} | {row.step:.1f} | {row.p99:.1f} | {row.clip:.1f} | {row.peer:,.0f} "
            f"| {row.peer / row.step:.0f} | {row.lower:.1f} % | {row.excess:.2f} % | {1e3 * row.outside:.2f} "
            f"| {1e3 * row.peer_outside:.2f} | {row.pinch:.1f} | {row.peer_pinch:.1f} |"
        )


def apart(python: Path) -> list[Hand]:
    """The same in the environment of another interpreter, which has what dex-retargeting brings."""
    with TemporaryDirectory() as folder:
        measured = Path(folder) / "hands.json"
        subprocess.run([str(python), __file__, str(measured)], check=True)
        return [Hand(**row) for row in json.loads(measured.read_text())]


if __name__ == "__main__":
    rows = hands()
    show(rows)
    for file in sys.argv[1:]:
        Path(file).write_text(json.dumps([asdict(row) for row in rows]))
