"""What the viewer costs: until the page is up, a tick of its solver, a picture, and how many come in a second."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import monotonic, perf_counter_ns, sleep
from typing import Any

import numpy as np
from report import print_table

import poise as pz

ROBOTS = ("panda", "g1")
PICTURES = 500
SECONDS = 5.0
"""Of a target that moves without a stop."""
PAGES = 5


@dataclass(frozen=True)
class Seen:
    """A figure, and its bar."""

    what: str
    median: float
    p99: float
    unit: str
    bar: str = ""


def viewer() -> list[Seen]:
    """Everything; what needs a browser is left out, and said, where there is none."""
    found: list[Seen] = []
    for name in ROBOTS:
        found += pictures(name)
    browser = shutil.which("chromium")
    try:
        playwright = import_module("playwright.sync_api")
    except ImportError:
        playwright = None
    if browser is None or playwright is None:
        print("pages are not looked at: that needs playwright and chromium")
        return found
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser)
        for name in ROBOTS:
            found.append(page_up(opened, name))
        opened.close()
    return found


def pictures(name: str) -> list[Seen]:
    """Ticks and pictures while the target goes round, without a window."""
    model = pz.load(name)
    with pz.view(model, port=0, block=False) as viewer:
        viewer.solver.stop()
        viewer.painter.stop()
        session, stage = viewer.session, viewer.stage
        home = session.gizmo_pose(0)
        ticks, ours, theirs, whole = [], [], [], []
        handles = stage.figure._nodes._handles
        frames = stage.figure._frames
        for k in range(PICTURES):
            session.drag(0, round_about(home, 0.02 * k))
            ticks.append(timed(session.tick))
            q = session.moment.q
            whole.append(timed(viewer._paint))
            q = model.integrate(q, np.full(model.nv, 1e-3 * (1 + k % 2)))
            ours.append(timed(partial(stage.figure.place, q)))
            poses = model.poses(q, frames).array
            theirs.append(timed(partial(by_handles, viewer.server.viser, handles, poses)))
        tick, place, handle, picture = (1e-3 * np.array(t[10:]) for t in (ticks, ours, theirs, whole))
    with pz.view(model, port=0, block=False) as viewer:
        session = viewer.session
        home = session.gizmo_pose(0)
        before = viewer.painter.calls, viewer.solver.calls, viewer.solver.busy
        end, k = monotonic() + SECONDS, 0
        while monotonic() < end:
            session.drag(0, round_about(home, 0.02 * k))
            k += 1
            sleep(0.01)
        rate = (viewer.painter.calls - before[0]) / SECONDS
        share = 100 * (viewer.solver.busy - before[2]) / SECONDS
    return [
        Seen(f"{name}: a tick of the session", *spread(tick), "us"),
        Seen(f"{name}: all links placed", *spread(place), "us", "500"),
        Seen(f"{name}: the same by viser's handles, of ours", float(np.median(handle / place)), np.nan, "x"),
        Seen(f"{name}: a picture with panel", *spread(picture), "us"),
        Seen(f"{name}: pictures a second", rate, np.nan, "1/s", "60"),
        Seen(f"{name}: the solver's loop", share, np.nan, "% of the time", "1"),
    ]


def round_about(home: Any, phase: float) -> Any:
    """A circle of 5 cm through the handle's place."""
    pose = home.copy()
    pose[1] += 0.05 * np.sin(phase)
    pose[2] += 0.05 * (np.cos(phase) - 1.0)
    return pose


def by_handles(server: Any, handles: Any, poses: Any) -> None:
    """What viser's own setters take for the same nodes."""
    with server.atomic():
        for handle, pose in zip(handles, poses, strict=True):
            handle.position, handle.wxyz = pose[:3], pose[3:]


def page_up(browser: Any, name: str) -> Seen:
    """From `poise view` to a window that has its scene, with everything in the caches."""
    took = []
    for _ in range(PAGES):
        begun = monotonic()
        command = [sys.executable, "-m", "poise", "view", name, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
            page = browser.new_page(viewport={"width": 640, "height": 480})
            page.goto(address)
            page.get_by_role("tab", name="Targets").wait_for()
            page.wait_for_selector("canvas")
            took.append(monotonic() - begun)
            page.close()
        finally:
            process.terminate()
            process.wait()
    return Seen(f"{name}: from the command to the page", *spread(took), "s", "3")


def timed(do: Callable[[], object]) -> int:
    """[ns]"""
    before = perf_counter_ns()
    do()
    return perf_counter_ns() - before


def spread(took: Any) -> tuple[float, float]:
    """Median and p99."""
    return float(np.median(took)), float(np.quantile(took, 0.99))


def show(rows: list[Seen]) -> None:
    """Print them as Markdown."""
    print("\nThe viewer\n")
    cells = [
        [row.what, row.unit, f"{row.median:.4g}", "" if np.isnan(row.p99) else f"{row.p99:.4g}", row.bar]
        for row in rows
    ]
    print_table(["what", "unit"], ["median", "p99", "bar"], cells)
    sys.stdout.flush()
