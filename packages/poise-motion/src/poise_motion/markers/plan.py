"""What is fitted: which markers and sensors of a model, with what weights, and coordinates with theirs."""

from collections.abc import Mapping, Sequence
from typing import Final, final

import numpy as np

from poise import InvalidType, InvalidValue, Model, ShapeError
from poise.extending import (
    WORLD,
    Array,
    ArrayLike,
    MarkerDescent,
    NameNotFound,
    a_model,
    finite,
    not_negative,
)
from poise.quaternions import quaternion_matrix
from poise_motion.markers.markers import Markers
from poise_motion.markers.off import ARM
from poise_motion.markers.orientations import Orientations

IMU: Final = "_imu"
"""How the name of a sensor ends that is on the body whose name is before, as OpenSense has it."""
_RENAMED: Final = {"markers": "Markers.renamed", "sensors": "Orientations.renamed"}
_SHOWN: Final = 6


@final
class Plan:
    """What is fitted: which markers and sensors of a model, with what weights, and coordinates with theirs."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        sensors: Sequence[str],
        weights: Mapping[str, float] | None,
        coordinates: Mapping[str, float] | None,
    ) -> None:
        self.model, self.notes = a_model(model), list[str]()
        given = _weights("weights", weights)
        known = {name for name in model.frames if name != WORLD}
        for name in given:
            if name not in known and name not in names and name not in sensors:
                raise NameNotFound(
                    name, sorted(known), owner=f"the frames of {model.name}, as a marker or sensor in weights"
                )
        self.names = self._moving("markers", names, known, given)
        self.sensors = self._moving("sensors", sensors, known, given)
        if not self.names and not self.sensors:
            self._refuse("markers" if names else "sensors", [*names, *sensors], known, given)
        self.columns = [list(names).index(name) for name in self.names]
        self.sensor_columns = [list(sensors).index(name) for name in self.sensors]
        lacking = [name for name in self.lacking(names) if name not in sensors]
        self.remark("markers of the model that were not measured", lacking)
        self.coordinates = _weights("coordinates", coordinates)
        for name in self.coordinates:
            if model.joint(name).nq != 1:
                raise InvalidValue(
                    "not-supported",
                    f"joint {name!r} has {model.joint(name).nq} coordinates; a weight is for a joint of one",
                )
        ours = [given.get(name, 1.0) for name in self.names]
        ours += [ARM**2 * given.get(name, 1.0) for name in self.sensors]
        _, power = np.frexp(max(ours))  # their sum is no more than a double has, and a power of two rounds nothing
        ours = np.ldexp(ours, -power).tolist()
        self.descent = MarkerDescent(model, self.names, ours, self.coordinates, self.sensors)

    def _moving(self, what: str, names: Sequence[str], known: set[str], given: Mapping[str, float]) -> list[str]:
        """Those that have a weight, and a frame that moves; others are remarked on."""
        used = [name for name in names if name in known and given.get(name, 1.0) > 0.0]
        moving = [name for name in used if _moves(self.model, name)]
        self.remark(f"{what} that the model does not have", [name for name in names if name not in known])
        self.remark(f"{what} that nothing moves", [name for name in used if name not in moving])
        return moving

    def _refuse(self, what: str, names: Sequence[str], known: set[str], given: Mapping[str, float]) -> None:
        model = self.model
        if not names:
            raise InvalidValue("empty", "there are neither markers nor sensors to fit; give names of some")
        here = [name for name in names if name in known]
        if here and not any(given.get(name, 1.0) for name in here):
            raise InvalidValue(
                "empty", f"all {what} that {model.name} has a frame for have the weight 0; give one more"
            )
        some, there = ", ".join(list(names)[:_SHOWN]), ", ".join(sorted(known - set(model.links))[:_SHOWN])
        mend = f"give the model's {what} the same names, or rename these with {_RENAMED[what]}"
        if any(name.endswith(IMU) and name.removesuffix(IMU) in model.links for name in names):
            mend = "their links are there, so place them with imus.place_sensors"
        raise InvalidValue(
            "no-such-part",
            f"none of the {what} {some} ... is a frame of {model.name} that moves, such as {there or 'none'}: {mend}",
        )

    def goals(self, markers: Markers | None, orientations: Orientations | None, count: int) -> Array:
        """(count, width) what was measured, as the descent takes it."""
        parts = []
        if markers is not None:
            parts.append(markers.positions[:, self.columns].reshape(count, -1))
        if orientations is not None:
            parts.append(quaternion_matrix(orientations.wxyz[:, self.sensor_columns]).reshape(count, -1))
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Frames of the model that look like markers, beside some that were measured, and were not."""
        on = {self.model.frame(name).link for name in self.names}
        links = {*self.model.links, *(name for loop in self.model.loops for name in (loop.first, loop.second))}
        frames = [name for name in self.model.frames if name not in links and name != WORLD and name not in names]
        return [name for name in frames if self.model.frame(name).link in on and not name.endswith(IMU)]

    def remark(self, what: str, names: Sequence[str]) -> None:
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            self.notes.append(f"{what}: {', '.join(names[:_SHOWN])}{more}")

    def aims(self, count: int, values: Mapping[str, ArrayLike] | None) -> Array:
        """(count, n) what coordinates are pulled to: the values given, else those of home."""
        model, velocities = self.model, self.descent.velocities
        if values is not None and not isinstance(values, Mapping):
            raise InvalidType("wrong-type", f"values must be numbers by names, as {{'knee': 0.1}}, got {values!r:.60}")
        out, given = np.zeros((count, len(velocities))), dict(values or {})
        for name in given:
            if name not in self.coordinates:
                raise InvalidValue(
                    "needs", f"values[{name!r}] is of a coordinate without a weight: add it to coordinates"
                )
        for name in self.coordinates:
            at = velocities.index(model.velocity_index(name).start)
            value = finite(f"values[{name!r}]", given.get(name, model.home[model.index(name)][0]))
            if np.ndim(value) > 1 or np.shape(value) not in ((), (count,)):
                raise ShapeError(
                    f"values[{name!r}] must be a number, or one a frame, ({count},), got {np.shape(value)}"
                )
            out[:, at] = value
            most = float(model.farthest[model.index(name)][0])
            if np.abs(out[:, at]).max() > most:
                raise InvalidValue(
                    "out-of-range", f"values[{name!r}] go to {np.abs(out[:, at]).max():g}, and {most:.3g} is the most"
                )
        return out


def _weights(name: str, given: Mapping[str, float] | None) -> dict[str, float]:
    if given is not None and not isinstance(given, Mapping):
        raise InvalidType("wrong-type", f"{name} must be numbers by names, as {{'LASI': 2.0}}, got {given!r:.60}")
    for key, weight in (given or {}).items():
        not_negative(f"{name}[{key!r}]", weight)
    return {key: float(weight) for key, weight in (given or {}).items()}


def _moves(model: Model, frame: str) -> bool:
    carrier = {joint.child: joint for joint in model.joints}
    link = model.frame(frame).link
    while link in carrier:
        if carrier[link].kind != "fixed":
            return True
        link = carrier[link].parent
    return False
