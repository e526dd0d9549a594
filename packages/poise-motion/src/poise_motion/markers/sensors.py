"""How sensors sit on the segments of a person who stands as the model does, and which way the person faces.

A sensor's rotation on its link is R^-1 H S, of the link's R in the model's posture, the measured S, and H, a turn about
the vertical by the heading: the sensors' common world says where north is, and not where the person faces.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise import SE3, SO3, InvalidType, InvalidValue, Model
from poise.extending import WORLD, Array, ArrayLike, a_model, finite, nearest_names, one_of
from poise.quaternions import angles_between, conjugate, quaternion_product, rotate
from poise_motion.markers.orientations import Orientations
from poise_motion.markers.plan import IMU, Plan
from poise_motion.markers.trial import Trial, fit_trial
from poise_motion.markers.upright import up_of_model

_STILL: Final = np.radians(10.0)
"""Who stands sways by less from the mean."""
_AXES: Final = {f"{sign}{axis}": (i, -1.0 if sign else 1.0) for sign in ("", "-") for i, axis in enumerate("xyz")}
_UPRIGHT: Final = np.radians(30.0)
"""An axis that is nearer to the vertical says little of where a person faces."""
_FRAMES: Final = 40
"""Of a recording so many are looked at for the heading, evenly."""
_TRIED: Final = 24
"""Headings, evenly over the circle, of which the best is refined."""
_RIVAL: Final = 2.0
"""A heading a quarter turn away or more, whose cost is not so many times the least, is told."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlacedSensors:
    """What `place_sensors` found."""

    model: Model
    """The body with a frame for each sensor, of its name."""
    heading: float
    """The turn about the vertical that leads from the sensors' world to where the model faces [rad]."""
    notes: tuple[str, ...] = ()
    """What was left out and is doubtful, in words."""

    def __str__(self) -> str:
        """The heading and the notes."""
        return "\n".join([f"heading {round(float(np.degrees(self.heading)), 1) + 0.0:.1f} degrees", *self.notes])


def place_sensors(
    model: Model,
    standing: Orientations,
    *,
    heading: tuple[str, str] | Orientations | None = None,
    on: Mapping[str, str] | None = None,
    q: ArrayLike | None = None,
    up: str | None = None,
) -> PlacedSensors:
    """A model with a frame for each sensor, turned on its link as the sensor is on the segment of a person who stands
    as the model does at `q` (nq,), or at home.

    `standing` are orientations of that person, in a world whose vertical is the model's (`Orientations.turned`); of
    several frames the mean counts.  A sensor is on the link whose name it has without `_imu`, or on the one that `on`
    names by the sensor, as `{"trunk": "torso"}`; others are left out and told.

    `heading` is how the person's forward is found in the sensors' world:

    | `heading` | |
    |---|---|
    | `None` | the model's x there is the person's, as the sensors have it |
    | `("pelvis_imu", "z")` | this axis of this sensor, "x" to "-z", points forward, along the x axis of its link |
    | `Orientations` | that for which the body fits this trial of the same sensors best |

    The first two are what OpenSim's IMUPlacer does.  The last needs joints that cannot turn every way, such as knees.
    The sensors themselves are fitted as they are, and the body then faces where they say.

    `up` is the model's vertical, "y" or "z"; left out, the one along which it is longer at `q`.  Raises ValueError for
    a person who moves, and where no sensor has a link.
    """
    a_model(model)
    if not isinstance(standing, Orientations):
        raise InvalidType(
            "wrong-type", f"standing must be Orientations, as of imus.load_orientations, got {standing!r:.60}"
        )
    posture = model.home if q is None else np.array(finite("q", q, model.nq))
    if up is not None:
        one_of("up", up, ("y", "z"))
    vertical = np.eye(3)["xyz".index(up or up_of_model(model, posture))]
    links, notes = _links(model, standing.names, dict(on or {}))
    means = {name: _mean(standing, name) for name in links}
    gone = [name for name, mean in means.items() if mean is None]
    if gone:
        notes.append(f"not measured while standing: {', '.join(gone)}")
    measured = {name: mean for name, mean in means.items() if mean is not None}
    if not measured:
        raise InvalidValue("empty", "no sensor was measured while standing; give frames in which they are")
    names = list(measured)
    turns, there = np.array([measured[name] for name in names]), model.poses(posture, [links[n] for n in names]).wxyz
    if heading is None:
        angle = 0.0
    elif isinstance(heading, Orientations):
        angle = _by_trial(model, heading, names, [links[name] for name in names], turns, there, vertical, notes)
    else:
        angle = _by_axis(heading, names, turns, there, vertical)
    faced = quaternion_product(SO3.from_rotvec(angle * vertical).wxyz, turns)
    placed = quaternion_product(conjugate(there), faced)
    for name, wxyz in zip(names, placed, strict=True):
        model = model.with_frame(name, link=links[name], origin=SE3.from_parts(np.zeros(3), SO3(wxyz=wxyz)))
    return PlacedSensors(model, angle, tuple(notes))


def _links(model: Model, names: Sequence[str], on: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The link of each sensor that has one, and a note on the others."""
    for name, link in on.items():
        for said, known, what in ((name, names, "sensors"), (link, model.links, f"links of {model.name}")):
            if said not in known:
                near = nearest_names(said, known)
                raise InvalidValue(
                    "no-such-part",
                    f"on names {said!r}, which is none of the {what}"
                    + (f"; did you mean {near[0]!r}?" if near else ""),
                )
    found = {name: on.get(name, name.removesuffix(IMU)) for name in names}
    found = {name: link for name, link in found.items() if link in model.links and link not in (WORLD, name)}
    taken = [name for name in found if name in model.frames]
    if taken:
        raise InvalidValue(
            "duplicate",
            f"{model.name} has frames {', '.join(taken[:6])} already; place sensors on the model without them, or "
            "leave these out with Orientations.of",
        )
    if not found:
        raise InvalidValue(
            "no-such-part",
            f"none of the sensors {', '.join(list(names)[:6])} has a link: their names are those of links of "
            f"{model.name} with {IMU} behind, such as {model.links[-1]}{IMU}; rename them with Orientations.renamed, "
            "or say on",
        )
    without = [name for name in names if name not in found]
    return found, [f"sensors without a link of {model.name}: {', '.join(without)}"] if without else []


def _mean(standing: Orientations, name: str) -> Array | None:
    """(4,) the mean orientation of a sensor, that of the least squares of chords; None if it was never measured."""
    every = standing.wxyz[:, list(standing.names).index(name)]
    every = every[~np.isnan(every[:, 0])]
    if not len(every):
        return None
    mean: Array = np.linalg.eigh(every.T @ every)[1][:, -1]
    off = angles_between(mean, every)
    if off.max() > _STILL:
        raise InvalidValue(
            "inconsistent",
            f"{name} turns by {np.degrees(off.max()):.0f} degrees in {standing.name!r} from its mean; give the frames "
            "in which the person stands, such as standing[:1]",
        )
    return mean


def _by_axis(heading: tuple[str, str], names: Sequence[str], turns: Array, there: Array, vertical: Array) -> float:
    """The angle about the vertical from an axis of a sensor to the x axis of its link."""
    if not isinstance(heading, Sequence) or isinstance(heading, str) or len(heading) != 2:
        raise InvalidType(
            "wrong-type",
            f"heading must be a sensor and its axis, as ('pelvis_imu', 'z'), or a trial, got {heading!r:.60}",
        )
    name, axis = heading
    if name not in names:
        near = nearest_names(str(name), names)
        mend = f"did you mean {near[0]!r}?" if near else f"those are {', '.join(names)}"
        raise InvalidValue("no-such-part", f"heading names the sensor {name!r}, which was not placed; {mend}")
    one_of("the axis of heading", str(axis).lower(), tuple(_AXES))
    i, sign = _AXES[str(axis).lower()]
    k = list(names).index(name)
    own, forward = rotate(turns[k], sign * np.eye(3)[i]), rotate(there[k], np.eye(3)[0])
    for what, way in ((f"the axis {axis} of {name}", own), ("the x axis of its link", forward)):
        if abs(way @ vertical) > np.cos(_UPRIGHT):
            raise InvalidValue(
                "inconsistent", f"{what} points up or down, and says no heading; name another axis, or give a trial"
            )
    return float(np.arctan2(vertical @ np.cross(own, forward), own @ forward - (own @ vertical) * (forward @ vertical)))


def _by_trial(
    model: Model, trial: Orientations, names: Sequence[str], links: Sequence[str], turns: Array, there: Array,
    vertical: Array, notes: list[str],
) -> float:  # fmt: skip
    """The heading for which the body fits a trial best.

    With a heading the trial says how links are turned: R = H S(t) S^-1 H^-1 R_standing, which are fitted themselves.
    """
    at = np.unique(np.linspace(0, len(trial) - 1, _FRAMES).round().astype(int))
    k = list({links[i]: i for i in reversed(range(len(names))) if names[i] in trial.names}.values())  # one a link
    if not k:
        raise InvalidValue("no-such-part", "the trial of heading has none of the sensors that were placed")
    some = Orientations(trial.names, trial.times[at], trial.wxyz[at]).of([names[i] for i in k])
    if np.isnan(some.wxyz).all():
        raise InvalidValue("empty", "no sensor that was placed was measured in the trial of heading; give another one")
    since = quaternion_product(some.wxyz, conjugate(turns[k]))
    plan = Plan(model, (), [links[i] for i in k], None, None)
    aims = plan.aims(len(some), None)

    def cost(angle: float) -> float:
        turn = SO3.from_rotvec(angle * vertical).wxyz
        wxyz = quaternion_product(quaternion_product(turn, since), quaternion_product(conjugate(turn), there[k]))
        known = Orientations([links[i] for i in k], some.times, wxyz)
        return float(fit_trial(plan, Trial.of(None, known), aims, None, "y").costs.mean())

    grid = np.linspace(-np.pi, np.pi, _TRIED, endpoint=False)
    costs = np.array([cost(angle) for angle in grid])
    best = int(costs.argmin())
    step = 2.0 * np.pi / _TRIED
    angle, least = _minimum(cost, grid[best] - step, grid[best] + step)
    away = np.abs((grid - angle + np.pi) % (2.0 * np.pi) - np.pi) >= 0.5 * np.pi - step
    rival = int(np.where(away, costs, np.inf).argmin())
    if costs[rival] < _RIVAL * max(least, 1e-12):
        notes.append(
            f"the heading is doubtful: {np.degrees(grid[rival]):.0f} degrees fit the trial nearly as well as "
            f"{np.degrees(angle):.0f}; give a trial in which knees bend, or an axis of a sensor"
        )
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def _minimum(of: Callable[[float], float], low: float, high: float, steps: int = 24) -> tuple[float, float]:
    """Where a function of one hump downwards is least between two numbers, and how much: golden sections."""
    share = 0.5 * (np.sqrt(5.0) - 1.0)
    a, b = high - share * (high - low), low + share * (high - low)
    at_a, at_b = of(a), of(b)
    for _ in range(steps):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - share * (high - low)
            at_a = of(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + share * (high - low)
            at_b = of(b)
    return (a, at_a) if at_a < at_b else (b, at_b)
