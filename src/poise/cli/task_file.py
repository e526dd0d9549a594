"""Tasks from a file: JSON or TOML, whose entries are the library's own tasks with their own fields.

An entry says its `kind`, the name of a class such as `PoseTask`, `pose_task` or `pose`, and fields of that class.  What
a class has, the file may say, so nothing here knows a field by name, but for what text cannot hold:

| in the file | is |
|---|---|
| `{xyz = [...], rpy = [...]}`, or `wxyz` for `rpy` | a pose |
| `{rpy = [...]}` or `{wxyz = [...]}` | a rotation |
| `{xyz = [...]}` | a point |
| `{kind = "Box", ...}` | a shape, with the fields of its class |
| the target of a `PostureTask` as text | a posture of the model |
| the same as a table | joints by name, the others at home |

Beside its tasks a file may say which joints move and what that costs, by the words `use`, `still` and `joint_costs` of
`poise.solve`.
"""

import dataclasses
import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

import poise as pz
from poise.cli.start import posture
from poise.common.errors import InvalidValue, NameNotFound, PoiseError
from poise.model.model import Model
from poise.solving.arguments.moving import moving
from poise.tasks.base import Task
from poise.tasks.posture import PostureTask

_POSE: Final = ("xyz", "rpy", "wxyz")
_OF_JOINTS: Final = ("use", "still", "joint_costs")
"""What a file may say beside its tasks."""
_SHAPES: Final = ("Sphere", "Capsule", "Box", "HalfSpace")
"""The public classes that a field may hold."""


@final
@dataclass(frozen=True)
class TaskFile:
    """What a file says, which is looked up in a model when that is known."""

    path: Path
    entries: list[Any]
    said: Mapping[str, Any]
    """Of `use`, `still` and `joint_costs` those that it has."""

    def tasks(self, model: Model) -> list[Task]:
        """The tasks, in the file's order; raises ValueError that says which field of which task is wrong."""
        try:
            return [_task(f"{self.path}: tasks[{i}]", entry, model) for i, entry in enumerate(self.entries)]
        except RecursionError:
            raise _too_deep(self.path) from None

    def moving(self, model: Model, others: Collection[str] = ()) -> Mapping[str, Any]:
        """What it says of joints, which fits the model; raises ValueError for what does not, or what `others` say."""
        for word in self.said.keys() & {*others}:
            raise InvalidValue(
                "conflict", f"--{word.replace('_', '-')} and {self.path} both say {word}: leave one of them out"
            )
        try:
            moving(model, self.said.get("use"), self.said.get("still"), self.said.get("joint_costs"))
        except PoiseError as error:
            raise InvalidValue(error.code, f"{self.path}: {error}") from None
        return self.said


def read_tasks(path: Path) -> TaskFile:
    """The file, as a text; raises ValueError for what is none of tasks, OSError for one that cannot be read."""
    try:
        content = _content(path)
    except RecursionError:
        raise _too_deep(path) from None
    return TaskFile(path, content["tasks"], {word: content[word] for word in _OF_JOINTS if word in content})


def _too_deep(path: Path) -> InvalidValue:
    return InvalidValue("wrong-format", f"{path} is nested too deeply; a field is a number, a text, a list or a table")


def _content(path: Path) -> dict[str, Any]:
    """The tables of a file, among them a list of tasks."""
    readers: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": _json}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise InvalidValue("wrong-format", f"{path} is no file of tasks; its name must end in .toml or .json")
    try:
        content = read(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidValue("wrong-format", f"{path} is no text in UTF-8; save it in that encoding") from None
    except json.JSONDecodeError as error:
        raise InvalidValue("wrong-format", f"{path}:{error.lineno}: this is no JSON: {error.msg}") from None
    except ValueError as error:
        raise InvalidValue(getattr(error, "code", "wrong-format"), f"{path}: {error}") from None
    if not isinstance(content, dict) or "tasks" not in content:
        raise InvalidValue(
            "wrong-format", f'{path} has no tasks; state each under [[tasks]], or in JSON in {{"tasks": [...]}}'
        )
    for name in content:
        if name not in ("tasks", *_OF_JOINTS):
            raise NameNotFound(name, ["tasks", *_OF_JOINTS], owner=str(path), noun="field")
    if not isinstance(content["tasks"], list) or not content["tasks"]:
        raise InvalidValue("not-a-sequence", f"{path}: tasks must be a list of one task or more")
    return content


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table; raises ValueError for a name that is there twice, of which JSON would keep the last."""
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise InvalidValue("duplicate", f"{twin!r} is stated {names.count(twin)} times in one table")
    return out


def _task(place: str, entry: Any, model: Model) -> Task:
    if not isinstance(entry, dict):
        raise InvalidValue(
            "wrong-type", f'{place} must be a table such as {{kind = "PoseTask", frame = ...}}, got {entry!r}'
        )
    kinds = _kinds()
    kind = kinds[_kind(place, entry, {_plain(name): name for name in kinds})]
    place = f"{place} ({kind.__name__})"
    try:
        if kind is PostureTask and "target" in entry:
            entry = entry | {"target": _posture(entry["target"], model)}
        task: Task = _made(place, kind, entry)
        task.needed(model)
    except NameNotFound as error:
        raise InvalidValue(
            error.code, error.message if error.message.startswith(place) else f"{place}: {error}"
        ) from None
    except (ValueError, TypeError) as error:
        raise InvalidValue(
            getattr(error, "code", "wrong-format"), str(error) if str(error).startswith(place) else f"{place}: {error}"
        ) from None
    return task


def _kinds() -> dict[str, type[Task]]:
    """The public tasks by the names of their classes."""
    found = {name: getattr(pz, name) for name in dir(pz) if name.endswith("Task") and name != "Task"}
    return {name: kind for name, kind in found.items() if issubclass(kind, Task)}


def _kind(place: str, entry: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """The class that an entry names; `known` are the names of classes by their plain words."""
    if "kind" not in entry:
        raise InvalidValue("needs", f"{place} has no kind; say which task it is, one of {', '.join(known.values())}")
    given = entry["kind"]
    if not isinstance(given, str):
        raise InvalidValue("wrong-type", f"{place}: kind must be the name of a task such as PoseTask, got {given!r}")
    found = known.get(_plain(given))
    if found is None:
        # Spelled as the file spells it, so that the suggestion can be put in its place.
        whole = given[:1].isupper()
        names = list(known.values()) if whole else [_words(name) for name in known.values()]
        raise NameNotFound(given, names, owner=place, noun="kind")
    return found


def _plain(name: str) -> str:
    """`PoseTask`, `pose_task`, `pose-task` and `pose` as one word."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "").removesuffix("task")


def _words(name: str) -> str:
    """`LookAtTask` as `look_at`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Task")).lower()


def _made(place: str, kind: Any, entry: Mapping[str, Any]) -> Any:
    """An object of a dataclass from its fields; raises NameNotFound and ValueError that name the field."""
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    given = {}
    for name, value in entry.items():
        if name == "kind":
            continue
        if name not in fields:
            if name in _OF_JOINTS:
                raise InvalidValue(
                    "unknown-name", f"{place} has no field {name!r}, which is of the whole file: write it before tasks"
                )
            raise NameNotFound(name, [field for field in fields if field != "kind"], owner=place, noun="field")
        given[name] = _field(f"{place}: {name}", fields[name], value)
    for name, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and name not in given:
            raise InvalidValue("needs", f"{place} has no {name}, which it needs")
    return kind(**given)


def _field(place: str, field: dataclasses.Field[Any], value: Any) -> Any:
    """What the file says of a field."""
    if isinstance(value, bool) and field.type is bool:
        return value
    if field.type in (str, str | None) and not isinstance(value, str):
        raise InvalidValue("wrong-type", f"{place} must be a name, got {value!r}")
    return _value(place, value, moves="SE3" in str(field.type) and field.name != "target")


def _value(place: str, value: Any, *, moves: bool) -> Any:
    """What a field of the file is; `moves` for a field whose pose may leave out its place or its turn."""
    if isinstance(value, bool):
        raise InvalidValue("not-a-number", f"{place} is {str(value).lower()}, which is no number")
    if isinstance(value, list):
        return tuple(_value(f"{place}[{i}]", one, moves=moves) for i, one in enumerate(value))
    if not isinstance(value, dict):
        return value
    if "kind" in value:
        name = value["kind"]
        if name not in _SHAPES:
            raise NameNotFound(str(name), _SHAPES, owner=place, noun="kind")
        return _made(place, getattr(pz, name), value)
    if not value.keys() & set(_POSE):
        return value
    for name in value:
        if name not in _POSE:
            raise NameNotFound(name, _POSE, owner=place, noun="field")
    if {"rpy", "wxyz"} <= value.keys():
        raise InvalidValue("conflict", f"{place} states its rotation twice, as rpy and as wxyz")
    rotation = None
    if "rpy" in value:
        rotation = pz.SO3.from_rpy(value["rpy"])
    elif "wxyz" in value:
        rotation = pz.SO3(wxyz=value["wxyz"])
    if "xyz" in value and rotation is not None:
        return pz.SE3.from_parts(value["xyz"], rotation)
    if moves:
        return pz.SE3.from_parts(value.get("xyz", (0.0, 0.0, 0.0)), rotation)
    return rotation if rotation is not None else tuple(value["xyz"])


def _posture(value: Any, model: Model) -> Any:
    if isinstance(value, str):
        return posture(model, value)
    return model.q(value) if isinstance(value, dict) else np.array(model.check_q(value, "target"))
