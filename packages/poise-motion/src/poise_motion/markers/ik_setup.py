"""The setups of OpenSim's tools: which markers, sensors and coordinates count, how much, and how sensors are placed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from poise import SO3, InvalidValue, Model, load_motion
from poise.extending import Array, ArrayLike, Element
from poise_motion.osim.document import detached, document, is_true, listed, named, number, numbers, word, words

_NONE: Final = ("", "unassigned")
_VALUES: Final = ("default_value", "manual_value", "from_file")
_SENSORS: Final = "IMUInverseKinematicsTool"


@final
@dataclass(frozen=True, slots=True)
class IkSetup:
    """What a setup says; files that it does not name are None, and paths are from its own folder."""

    weights: Mapping[str, float]
    """Of markers, or of sensors."""
    coordinates: Mapping[str, float]
    """Weights of coordinates [1/rad^2 or 1/m^2 of a m^2]."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Of those with a value of their own [rad or m]."""
    from_file: tuple[str, ...] = ()
    """Those whose values are in `coordinate_file`."""
    model_file: Path | None = None
    marker_file: Path | None = None
    orientations_file: Path | None = None
    coordinate_file: Path | None = None
    output_file: Path | None = None
    times: tuple[float, float] | None = None
    """The first and the last [s]."""
    others: float = 0.0
    """The weight of markers that it does not name."""
    turn: SO3 = field(default_factory=SO3.identity)
    """Leads from the world of the sensors to that of the model."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "IkSetup":
        """Read an `.xml` of the InverseKinematicsTool or the IMUInverseKinematicsTool; raises ModelError, with file and
        line, for what is none."""
        file = Path(path).expanduser()
        tool, _ = document(file, "InverseKinematicsTool", _SENSORS)
        if tool.tag == _SENSORS:
            return cls._of_sensors(tool, file)
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
        return cls(
            weights, coordinates, values, tuple(from_file), model_file=path_of(tool, "model_file", file),
            marker_file=path_of(tool, "marker_file", file), coordinate_file=path_of(tool, "coordinate_file", file),
            output_file=path_of(tool, "output_motion_file", file), times=_times(tool),
        )  # fmt: skip

    @classmethod
    def _of_sensors(cls, tool: Element, file: Path) -> "IkSetup":
        weights = dict[str, float]()
        for each in listed(tool.child("OrientationWeightSet") or tool.child("orientation_weights")):
            weights[named(each)] = number(each, "weight", 1.0)
            if weights[named(each)] < 0.0:
                raise each.error(f"{each.label} has the weight {weights[named(each)]:g}; it must be 0 or more")
        return cls(
            weights, {}, model_file=path_of(tool, "model_file", file),
            orientations_file=path_of(tool, "orientations_file", file),
            output_file=path_of(tool, "output_motion_file", file), times=_times(tool), others=1.0, turn=turn_of(tool),
        )  # fmt: skip

    def weights_of(self, names: Sequence[str], sensors: Sequence[str] = ()) -> dict[str, float]:
        """The weight of each of these: that of the setup, which leaves out markers that it does not name if it is of
        markers, and no sensor."""
        given = {name: self.weights.get(name, self.others) for name in names}
        return given | {name: self.weights.get(name, 1.0) for name in sensors}

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


@final
@dataclass(frozen=True, slots=True)
class PlacerSetup:
    """What the setup of an IMUPlacer says."""

    model_file: Path | None
    standing_file: Path | None
    """Orientations of a person who stands as the model does, of which the first frame counts."""
    heading: tuple[str, str] | None
    """A sensor and its axis that points forward."""
    turn: SO3

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "PlacerSetup":
        """Read an `.xml`; raises ModelError, with file and line, for what is no such setup."""
        file = Path(path).expanduser()
        tool, _ = document(file, "IMUPlacer")
        base, axis = word(tool, "base_imu_label"), word(tool, "base_heading_axis")
        return cls(
            path_of(tool, "model_file", file),
            path_of(tool, "orientation_file_for_calibration", file),
            (base, axis) if base and axis else None,
            turn_of(tool),
        )


def path_of(tool: Element, tag: str, file: Path) -> Path | None:
    """The file that a child names, from the folder of the setup; None without one."""
    said = word(tool, tag)
    return None if said.lower() in _NONE else file.parent / said.replace("\\", "/")


def turn_of(tool: Element) -> SO3:
    """Turns about the fixed x, y and z, in this order [rad]."""
    return SO3.from_rpy(numbers(tool, "sensor_to_opensim_rotations", 3, (0.0, 0.0, 0.0)))


def _times(tool: Element) -> tuple[float, float] | None:
    """The first and the last time that count; None where it is all."""
    said = [one.lower().lstrip("+") for one in words(tool, "time_range")]
    if not any("inf" in one for one in said):
        found = numbers(tool, "time_range", 2, ())
        return (found[0], found[1]) if found else None
    if len(said) != 2 or any(not _is_number(one) for one in said):
        raise tool.required("time_range").error(f"<time_range> is {' '.join(said)[:60]!r}; it is two times [s]")
    return float(said[0]), float(said[1])


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False
