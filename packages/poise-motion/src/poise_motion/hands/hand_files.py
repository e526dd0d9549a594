"""Settings of a hand's retargeting in the YAML files of dex-retargeting 0.5, and of Unitree's xr_teleoperate."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from reprlib import Repr
from typing import Any, Final

import numpy as np

from poise import SO3, JointKind, Model, ModelError, load
from poise.extending import WEBXR, LimitsLike, nearest_names, optional
from poise.hands import Pinch
from poise_motion.anatomy.landmarks import MEDIAPIPE, TIPS, WRIST
from poise_motion.hands.hands import HandRetargeter, Side

_LARGEST: Final = 1_000_000
"""Bytes that such a file may have."""
_SHORT: Final = Repr()
"""Shows what aliases may have made without end."""
_SHORT.maxlevel = 2
_ALL: Final = (
    "type", "urdf_path", "add_dummy_free_joint", "target_joint_names", "has_joint_limits", "ignore_mimic_joint",
    "low_pass_alpha", "normal_delta", "huber_delta",
)  # fmt: skip
_INDICES: Final = "target_link_human_indices"
_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    kind: (*names, _INDICES, f"{_INDICES}_{kind}")
    for kind, names in {
        "position": ("target_link_names",),
        "vector": ("target_origin_link_names", "target_task_link_names", "scaling_factor"),
        "dexpilot": ("wrist_link_name", "finger_tip_link_names", "scaling_factor", "project_dist", "escape_dist"),
    }.items()
}
"""By type, the keys that it alone has; indices that are called after it are those of xr_teleoperate."""
_KNOWN: Final = tuple(dict.fromkeys((*_ALL, *(name for names in _OWN.values() for name in names))))
_HANDS: Final[tuple[Side, ...]] = ("left", "right")
_ALPHA: Final = 0.1
"""The filter of a file that states none."""


def load_hand_retargeter(
    path: str | os.PathLike[str],
    *,
    model: Model | None = None,
    folder: str | os.PathLike[str] | None = None,
    side: Side | None = None,
    turn: SO3 | None = None,
    alpha: float | None = None,
    limits: "LimitsLike | None" = None,
) -> HandRetargeter:
    """The `HandRetargeter` of a YAML file of dex-retargeting.

    `model` is the robot's hand; without it the file's `urdf_path` is loaded, which is relative to `folder`, or to the
    folder of the file.  The file does not say of which `side` the human hand is: None is "left" if the name of the
    robot's file has that word, else "right".  A file of xr_teleoperate has settings of both hands, `left:` and
    `right:`, of which `side` says one, and numbers the 25 joints of WebXR.  `turn`, `alpha` and `limits` are
    those of `HandRetargeter`; the latter two take the place of the file's `low_pass_alpha` and `has_joint_limits`.

    With `add_dummy_free_joint` the robot's base floats: a joint of one pose in place of six.  Joints that
    `target_joint_names` leaves out stand still at 0, or at the limit that is nearest.  What was assumed, and which keys
    this type of retargeting does not read, is in the retargeter's `notes`.  Needs the extra "hands".

    Raises ModelError, with the file and, if it is no YAML, the line, for what it cannot be; FrameNotFound and
    JointNotFound for names that the robot does not have.
    """
    file = Path(path).expanduser()
    settings = _Settings(file, _read(file), side)
    kind, side = settings.kind, settings.side
    others = [name for name in settings.entries if name not in (*_ALL, *_OWN[kind])]
    notes = [f"of other types, and not read: {', '.join(others)}"] if others else []
    notes += [
        f"{name} was read, which dex-retargeting does not do with DexPilot"
        for name in ("normal_delta", "huber_delta")
        if kind == "dexpilot" and name in settings.entries
    ]
    robot = settings.text("urdf_path", "" if model is not None else None)
    if settings.flag("ignore_mimic_joint", False):
        raise settings.refused("ignore_mimic_joint", "True; joints that mimic others always follow them: leave it out")
    floating = settings.flag("add_dummy_free_joint", False)
    if model is None:
        where = file.parent if folder is None else Path(folder)
        if not (where / robot).exists():
            raise settings.refused("urdf_path", f"{robot}, which is not in {where}; say its folder by folder=")
        model = load(where / robot, base="floating" if floating else "fixed")
    elif floating and not any(joint.kind is JointKind.FLOATING for joint in model.joints):
        raise settings.refused("add_dummy_free_joint", "True, but the model's base does not float: load it so")
    if side is None:
        side = "left" if "left" in Path(robot).name.lower() or "left" in model.name.lower() else "right"
        notes.append(f"taken to be a {side} hand")
    if (names := settings.names("target_joint_names", ())) and (locked := _left_out(model, names, settings)):
        model = model.lock(locked)
        notes.append(f"stand still: {', '.join(locked)}")
    alpha_in_file = settings.number("low_pass_alpha", _ALPHA)
    if alpha is None:
        alpha = alpha_in_file if 0.0 <= alpha_in_file <= 1.0 else 1.0
        if alpha == 0.0:
            raise settings.refused("low_pass_alpha", "0, a filter that lets nothing through: make it more, 1 is none")
    pinch = Pinch(
        near=settings.number("project_dist", 0.03) if kind == "dexpilot" else 0.03,
        away=settings.number("escape_dist", 0.05) if kind == "dexpilot" else 0.05,
    )
    links, wrist = _links(settings)
    return HandRetargeter(
        model,
        links,
        kind,  # type: ignore[arg-type]
        wrist=wrist,
        side=side,
        turn=turn,
        scale=1.0 if kind == "position" else settings.number("scaling_factor", 1.0),
        huber=settings.number("huber_delta", 0.03 if kind == "dexpilot" else 0.02),
        regularization=settings.number("normal_delta", 4e-3),
        alpha=alpha,
        pinch=pinch,
        limits=settings.flag("has_joint_limits", True) if limits is None else limits,
        notes=notes,
    )


def _read(file: Path) -> Any:
    """What a YAML file holds."""
    yaml = optional("the YAML files of dex-retargeting", "PyYAML", "hands", "yaml")
    try:
        with file.open("rb") as opened:
            text = opened.read(_LARGEST + 1)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=str(file)) from None
    if len(text) > _LARGEST:
        raise ModelError(f"it has more than {_LARGEST} bytes, which no such file has", file=str(file))
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark, what = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        line = None if mark is None else mark.line + 1
        raise ModelError(f"this is no YAML: {what}", file=str(file), line=line) from None


class _Settings:
    """The settings of a file, checked one by one; errors name the file and the key."""

    def __init__(self, file: Path, content: Any, side: Side | None) -> None:
        self.file, self.side = file, side
        self.entries: dict[Any, Any] = self._one_hand(content if isinstance(content, dict) else {})
        for name in self.entries:
            if name not in _KNOWN:
                near = nearest_names(name, _KNOWN)
                hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known are {', '.join(_KNOWN)}"
                raise ModelError(f"there is no setting {_SHORT.repr(name)}; {hint}", file=str(file))
        self.kind = self.text("type", None).lower()
        if self.kind not in _OWN:
            raise self.refused("type", f"{self.kind!r}; it must be one of {', '.join(_OWN)}")

    def _one_hand(self, content: dict[Any, Any]) -> dict[Any, Any]:
        """The settings, or those of one side where a file has them by hands."""
        hands = [hand for hand in _HANDS if isinstance(content.get(hand), dict)]
        if hands and "retargeting" not in content:
            if self.side is None and len(hands) == 1:
                self.side = hands[0]
            if self.side not in hands:
                has = f"it has settings of a {' and of a '.join(hands)} hand"
                raise ModelError(f"{has}; say {' or '.join(f'side={h!r}' for h in hands)}", file=str(self.file))
            found: dict[Any, Any] = content[self.side]
            return found
        alone = content.get("retargeting")
        if not isinstance(alone, dict):
            raise ModelError(
                "a file of dex-retargeting begins with 'retargeting:' and its settings, or with 'left:' or 'right:'",
                file=str(self.file),
            )
        return alone

    def refused(self, name: str, what: str) -> ModelError:
        """The error for a setting that is `what`."""
        return ModelError(f"{name} is {what}", file=str(self.file))

    def text(self, name: str, default: str | None) -> str:
        """One text; one without a default must be there, as with the others."""
        return str(self._checked(name, default, lambda x: isinstance(x, str), "a text"))

    def number(self, name: str, default: float) -> float:
        """One finite number."""
        return float(self._checked(name, default, lambda x: type(x) in (int, float) and abs(x) < 1e300, "a number"))

    def flag(self, name: str, default: bool) -> bool:
        """True or False."""
        return bool(self._checked(name, default, lambda x: isinstance(x, bool), "True or False"))

    def names(self, name: str, default: tuple[str, ...] | None) -> tuple[str, ...]:
        """A list of names, which is not empty."""

        def fits(x: Any) -> bool:
            return isinstance(x, list) and bool(x) and all(isinstance(each, str) for each in x)

        if default is not None and self.entries.get(name) is None:
            return default
        return tuple(self._checked(name, None, fits, "a list of names"))

    def _checked(self, name: str, default: Any, fits: Callable[[Any], bool], what: str) -> Any:
        value = self.entries.get(name, default)
        if not fits(value):
            raise self.refused(name, "missing" if value is None else f"{_SHORT.repr(value)}; it must be {what}")
        return value

    def landmarks(self, rows: int, count: int) -> list[list[str]] | None:
        """Rows of names of landmarks; one row may stand alone, or in a list of its own.  None where there are none."""
        name = f"{_INDICES}_{self.kind}"
        numbered, called = (
            (WEBXR, "the joints of WebXR") if self.entries.get(name) else (MEDIAPIPE, "landmarks of MediaPipe")
        )
        name = name if self.entries.get(name) else _INDICES
        value = self.entries.get(name)
        if value is None:
            return None
        found = [value] if isinstance(value, list) and not any(isinstance(x, list) for x in value) else value
        if not isinstance(found, list) or not all(isinstance(row, list) and len(row) == count for row in found):
            found = []
        if len(found) != rows:
            raise self.refused(name, f"not {rows} x {count} numbers, as the names beside it are")
        for x in (x for row in found for x in row):
            if isinstance(x, bool) or not isinstance(x, int) or not 0 <= x < len(numbered):
                raise self.refused(
                    name, f"of {_SHORT.repr(x)}; {called} are whole numbers from 0 to {len(numbered) - 1}"
                )
        return [[numbered[x] for x in row] for row in found]


def _left_out(model: Model, names: tuple[str, ...], settings: _Settings) -> dict[str, float]:
    """Where the joints of the robot stand that are not among `names`; raises JointNotFound, ModelError."""
    for name in names:
        joint = model.joint(name)
        if joint.mimic is not None:
            raise settings.refused("target_joint_names", f"of {name!r} too, which follows another joint: leave it out")
    at = np.clip(model.neutral, model.lower, model.upper)
    return {
        joint.name: float(at[model.index(joint.name)][0])
        for joint in model.joints
        if joint.nq == 1 and joint.mimic is None and joint.name not in names
    }


def _links(settings: _Settings) -> tuple[dict[Any, Any], str | None]:
    """What follows what, as a HandRetargeter takes it, and the robot's wrist."""
    if settings.kind == "position":
        links = settings.names("target_link_names", None)
        return _once(settings, links, _required(settings, settings.landmarks(1, len(links)))[0]), None
    if settings.kind == "vector":
        origins = settings.names("target_origin_link_names", None)
        tips = settings.names("target_task_link_names", None)
        if len(origins) != len(tips):
            raise settings.refused("target_task_link_names", f"{len(tips)} names for {len(origins)} origins")
        between = list(zip(*_required(settings, settings.landmarks(2, len(tips))), strict=True))
        return _once(settings, list(zip(origins, tips, strict=True)), between), None
    fingers, wrist = settings.names("finger_tip_link_names", None), settings.text("wrist_link_name", None)
    n = len(fingers)
    if n > len(TIPS):
        raise settings.refused("finger_tip_link_names", f"of {n} fingers; a hand has five")
    tips_of, pairs_in_file = list(TIPS[:n]), settings.landmarks(2, n * (n - 1) // 2 + n)
    if pairs_in_file is not None:
        starts, stops = pairs_in_file
        tips_of = stops[-n:]
        ends = [WRIST, *tips_of]
        pairs = [(ends[j], ends[i]) for i in range(1, n) for j in range(i + 1, n + 1)]
        if list(zip(starts, stops, strict=True)) != [*pairs, *((WRIST, tip) for tip in tips_of)]:
            raise settings.refused(
                _INDICES, "not of all pairs of fingertips, then from the wrist to each: leave it out"
            )
    return _once(settings, fingers, tips_of), wrist


def _required(settings: _Settings, rows: list[list[str]] | None) -> list[list[str]]:
    """Landmarks that must be there."""
    if rows is None:
        raise settings.refused(_INDICES, "missing")
    return rows


def _once(settings: _Settings, keys: Any, values: list[Any]) -> dict[Any, Any]:
    """Frames, or pairs of them, to landmarks; raises ModelError for one that is there twice."""
    found = dict(zip(keys, values, strict=True))
    if len(found) < len(values):
        again = next(key for i, key in enumerate(keys) if key in list(keys)[:i])
        raise ModelError(f"{again!r} is to follow two landmarks; leave one out", file=str(settings.file))
    return found
