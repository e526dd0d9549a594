"""The setup of OpenSim's InverseKinematicsTool: which markers and coordinates count, and how much."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from poise import InvalidValue, Model, load_motion
from poise.extending import Array, ArrayLike
from poise_motion.osim.document import detached, document, is_true, listed, named, number, numbers, word

_NONE: Final = ("", "unassigned")
_VALUES: Final = ("default_value", "manual_value", "from_file")


@final
@dataclass(frozen=True, slots=True)
class IkSetup:
    """What a setup says; files that it does not name are None, and paths are from its own folder."""

    weights: Mapping[str, float]
    """Of markers; others are not used."""
    coordinates: Mapping[str, float]
    """Weights of coordinates [1/rad^2 or 1/m^2 of a m^2]."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Of those with a value of their own [rad or m]."""
    from_file: tuple[str, ...] = ()
    """Those whose values are in `coordinate_file`."""
    model_file: Path | None = None
    marker_file: Path | None = None
    coordinate_file: Path | None = None
    output_file: Path | None = None
    times: tuple[float, float] | None = None
    """The first and the last [s]."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "IkSetup":
        """Read an `.xml`; raises ModelError, with file and line, for what is no such setup."""
        file = Path(path).expanduser()
        tool, _ = document(file, "InverseKinematicsTool")
        weights, coordinates, values, from_file = (
            dict[str, float](),
            dict[str, float](),
            dict[str, float](),
            list[str](),
        )
        tasks = detached(tool.child("IKTaskSet"), file.parent)
        for task in listed(tasks):
            if task.tag not in ("IKMarkerTask", "IKCoordinateTask") or not is_true(task, "apply", default=True):
                continue
            name, weight = named(task), number(task, "weight", 1.0)
            if weight < 0.0:
                raise task.error(f"{task.label} has the weight {weight:g}; it must be 0 or more")
            if task.tag == "IKMarkerTask":
                weights[name] = weight
                continue
            kind = word(task, "value_type") or _VALUES[0]
            if kind not in _VALUES:
                raise task.error(f"{task.label} has the value_type {kind[:60]!r}; it is one of {', '.join(_VALUES)}")
            coordinates[name] = weight
            if kind == "manual_value":
                values[name] = number(task, "value", 0.0)
            elif kind == "from_file":
                from_file.append(name)
        times = numbers(tool, "time_range", 2, ()) or None

        def path_of(tag: str) -> Path | None:
            said = word(tool, tag)
            return None if said.lower() in _NONE else file.parent / said.replace("\\", "/")

        return cls(
            weights, coordinates, values, tuple(from_file),
            path_of("model_file"), path_of("marker_file"), path_of("coordinate_file"), path_of("output_motion_file"),
            None if times is None else (times[0], times[1]),
        )  # fmt: skip

    def weights_of(self, names: Sequence[str]) -> dict[str, float]:
        """The weight of each of these markers: 0 for those that the setup has no task for."""
        return {name: self.weights.get(name, 0.0) for name in names}

    def coordinates_of(self, model: Model) -> tuple[dict[str, float], list[str]]:
        """The weights of coordinates that move, and the names of others: those that are locked, coupled, or not there.

        OpenSim too leaves out the tasks of locked ones, which setups have as a rule.
        """
        moving = {joint.name for joint in model.joints if joint.nq == 1}
        found = {name: weight for name, weight in self.coordinates.items() if name in moving}
        return found, [name for name in self.coordinates if name not in moving]

    def values_at(self, times: Array, model: Model) -> dict[str, ArrayLike]:
        """What the coordinates are pulled to at these times [s]; those that stand at their default are not there.

        Raises ValueError where values are to come from a file and none is named.
        """
        moving, _ = self.coordinates_of(model)
        own: dict[str, ArrayLike] = {name: value for name, value in self.values.items() if name in moving}
        listed_there = [name for name in self.from_file if name in moving]
        if not listed_there:
            return own
        if self.coordinate_file is None:
            raise InvalidValue(
                "needs",
                f"the values of {', '.join(listed_there[:6])} are to come from a file, and the setup names none",
            )
        q = load_motion(self.coordinate_file, model=model).at(times)
        return own | {name: q[:, model.index(name).start] for name in listed_there}
