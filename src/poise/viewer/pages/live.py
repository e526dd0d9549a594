"""A robot in a page that one drags by its hands, and that solves there: no server, and nothing from a network."""

import base64
import gzip
import json
import logging
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import PoiseError
from poise.kernels.machine.library import place
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.tracking.tracker import Tracker
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame
from poise.tasks.pose import PoseTask
from poise.viewer.scene.appearance import Look, appearance
from poise.viewer.scene.parts import Part
from poise.viewer.scene.skeleton import size_of
from poise.viewer.session.aims import default_task

_TRIANGLES: Final = 30_000
"""In all of a page's robot."""
_CELL: Final = 1e-3
"""[m] where more are too many."""
_LOG: Final = logging.getLogger("poise")

_BROWSER: Final = Path(__file__).parents[2] / "browser"
_STEP: Final = 1.0 / 60.0
"""Seconds of a step."""
_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  html, body, canvas {{ margin: 0; width: 100%; height: 100%; display: block; overflow: hidden; background: #f4f5f7; }}
  @media (prefers-color-scheme: dark) {{ html, body, canvas {{ background: #17191c; }} }}
</style>
<canvas></canvas>
<script>{script}</script>
<script>poise.show(document.querySelector("canvas"), {robot});</script>
</html>
"""
_BUTTON: Final = """
<style>
  #poise-drag {{ position: fixed; left: 12px; bottom: 52px; z-index: 10001; padding: 8px 16px; border: 0;
    border-radius: 6px; background: #2e73f2; color: #fff; font: 14px sans-serif; cursor: pointer; }}
  #poise-stage {{ position: fixed; inset: 0; z-index: 10000; width: 100%; height: 100%; background: #f4f5f7; }}
</style>
<canvas id="poise-stage" hidden></canvas>
<button id="poise-drag">Drag it</button>
<script>{script}</script>
<script>
{{
  const [canvas, button] = ["poise-stage", "poise-drag"].map((id) => document.getElementById(id));
  button.addEventListener("click", () => {{
    canvas.hidden = !canvas.hidden;
    button.textContent = canvas.hidden ? "Drag it" : "Replay";
    if (!canvas.stage && !canvas.hidden) poise.show(canvas, {robot});
  }});
}}
</script>
"""


def live_page(model: Model, frames: Sequence[str] | None = None, *, look: Look | None = None) -> str:
    """A page with the robot, and a handle at each of the `frames` (None: at the end of its longest chain).

    Raises PoiseError where the library for browsers was not built, ValueError for a robot that cannot be exported.
    """
    tasks: Sequence[Task] = _usual(model) if frames is None else [PoseTask(frame) for frame in frames]
    robot = live_robot(model, tasks, appearance(model, look=look))
    return _PAGE.format(title=escape(model.name), script=live_script(), robot=json.dumps(robot))


def dragged_too(html: str, model: Model, parts: Sequence[Part], q: Array) -> str:
    """A page that plays what was recorded, with a button behind which the robot is dragged, from `q` (nq,) on.

    A base that floats stays where it is.  The page stays as it is where there is no library for browsers, or where the
    robot cannot leave Python.
    """
    for joint in model.joints:
        if joint.kind is JointKind.FLOATING:
            at = model.index(joint.name)
            model, q = model.lock({joint.name: q[at]}), np.delete(q, at)
    tasks = _usual(model)
    if not tasks:
        return html
    try:
        script, robot = live_script(), live_robot(model, tasks, parts, q)
    except (PoiseError, ValueError) as error:
        _LOG.warning("the page can be played, and not dragged: %s", error)
        return html
    before, end, after = html.rpartition("</body>")
    return before + _BUTTON.format(script=script, robot=json.dumps(robot)) + end + after


def _usual(model: Model) -> list[Task]:
    task = default_task(model)
    return [] if task is None else [task]


def live_robot(
    model: Model, tasks: Sequence[Task], parts: Sequence[Part], q: ArrayLike | None = None
) -> dict[str, Any]:
    """What a stage is told of a robot, see `browser/stage.js`, as JSON takes it; it begins at `q` (nq,), or at home."""
    file = exported(Tracker(model, tasks, dt=_STEP))
    drawn = [
        {
            "frame": part.frame,
            "vertices": _text(part.vertices.astype("<f4")),
            "faces": _text(part.faces.astype("<u4")),
            "colours": _text(part.colours),
        }
        for part in _coarser(parts)
        if len(part.faces)
    ]
    start = model.home if q is None else model.check_q(q, "q")
    places = model.poses(start).array[:, :3]
    return {
        "file": _text(np.frombuffer(file, dtype=np.uint8)),
        "parts": drawn,
        "size": max(float(np.linalg.norm(np.ptp(places, axis=0))), 0.5 * size_of(model)),
        "centre": (0.5 * (places.min(0) + places.max(0))).tolist(),
        "handles": [task.frame for task in tasks if isinstance(task, OfFrame)],
        "start": start.tolist(),
        "dt": _STEP,
    }


def exported(tracker: Tracker) -> bytes:
    """What a tracker writes."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "one.poise"
        tracker.export(file)
        return file.read_bytes()


def _coarser(parts: Sequence[Part]) -> list[Part]:
    """Surfaces of no more triangles than a telephone draws, and a page can hold: what lies within a cell becomes one
    vertex, with cells that are as small as may be."""
    found, cell = list(parts), _CELL
    while sum(len(part.faces) for part in found) > _TRIANGLES:
        found, cell = [_in_cells(part, cell) for part in parts], 1.25 * cell
    return found


def _in_cells(part: Part, cell: float) -> Part:
    cells = np.floor(part.vertices / cell).astype(np.int64)
    _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    which = which.ravel()
    places = np.zeros((len(first), 3))
    np.add.at(places, which, part.vertices)
    places /= np.bincount(which)[:, None]
    faces = which[part.faces]
    whole = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    faces = np.unique(faces[whole], axis=0)
    return Part(part.frame, places.astype(np.float32), faces.astype(np.uint32), part.colours[first])


def _text(numbers: Array | Any) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()


@cache
def live_script() -> str:
    """`poise` for a page that is opened from a disk, where no file can load another: the library and the stage."""
    library = place("wasm32")
    if not library.is_file():
        raise PoiseError(
            f"there is no {library}, the library for browsers: run python -m poise.build --target wasm32, or install a "
            "wheel, which has it"
        )
    packed = base64.b64encode(gzip.compress(library.read_bytes(), 9, mtime=0)).decode()
    modules = [(_BROWSER / name).read_text(encoding="utf-8") for name in ("poise.js", "stage.js", "page.js")]
    text = "\n".join(re.sub(r"^export ", "", module, flags=re.MULTILINE) for module in modules)
    exports = "return { Poise, Stage, library, show };"
    return f'"use strict";\nconst poise = (() => {{\nconst PACKED = "{packed}";\n{text}\n{exports}\n}})();'
