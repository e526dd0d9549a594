"""The configurations of a model: where the numbers of its joints stand in q and v, limits, arithmetic with them."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import batch_of, finite, numbers, refuse_masked
from poise.common.errors import InvalidValue, JointNotFound, ModelError, ShapeError, nearest_names
from poise.kernels.machine.layout import SHORTEST
from poise.model.followers import followed, range_left
from poise.model.joint import Joint, JointKind
from poise.model.joint_function import JointFunction
from poise.model.swing import BallLimits
from poise.quaternions import conjugate, quaternion_exp, quaternion_log, quaternion_product, unit_quaternion
from poise.spatial import LARGEST, frozen

_WIDE = 20.0
"""Limits further apart than this many half turns (or metres) count as none where random configurations are drawn."""
_ALIKE = 1e-6
"""How far a joint that mimics another may be from where that takes it, relative to what is more than 1 [rad or m]."""


class ConfigurationSpace:
    """What can be said of q and v without saying where anything is; the base of `Model`."""

    name: str
    joints: tuple[Joint, ...]
    """Every joint, fixed ones and mimics too, parents before children."""
    nq: int
    """Numbers in a configuration q."""
    nv: int
    """Numbers in a velocity v."""
    lower: Array
    """(nq,) lower limits [rad or m], narrowed by the limits of joints that mimic; -inf where there is none."""
    upper: Array
    """(nq,) upper limits [rad or m]; inf where there is none."""
    velocity: Array
    """(nv,) largest speeds [rad/s or m/s], narrowed by those of joints that mimic; inf where there is none."""
    farthest: Array
    """(nq,) the largest numbers that a configuration may hold, 2^50 rad or m, or what takes a joint that mimics there:
    beyond, a double has no digits left to compute with."""
    home: Array
    """(nq,) the posture to start from: the file's home state if it has one, else `neutral` within the limits."""
    still: frozenset[str]
    """Joints that may not move, as `use` and `still` of `poise.solve` say; none of a model that was loaded or built."""
    _joint_at: dict[str, int]
    _q_at: dict[str, int]
    _v_at: dict[str, int]

    def __init__(self, name: str, joints: Iterable[Joint], home: ArrayLike | None, still: Iterable[str]) -> None:
        own = vars(self)  # for its attributes themselves take nothing
        own["still"] = frozenset(still)
        own["name"], own["joints"] = name, tuple(joints)
        own["_joint_at"] = {joint.name: i for i, joint in enumerate(self.joints)}
        moving = [joint for joint in self.joints if joint.nq]
        own["_q_at"], own["nq"] = _places(moving, [joint.nq for joint in moving])
        own["_v_at"], own["nv"] = _places(moving, [joint.nv for joint in moving])
        own["lower"], own["upper"] = self._limits()
        own["velocity"] = self._rates(lambda joint: joint.velocity)
        own["farthest"] = self._farthest()
        own["home"] = frozen(self.clip(self.neutral if home is None else finite("home", home, self.nq)))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that have a place in q, in its order."""
        return tuple(self._q_at)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """A name for each number in q."""
        return tuple(c for joint in self.joints if joint.nq for c in joint.coordinates)

    def joint(self, name: str) -> Joint:
        """The joint `name`; raises JointNotFound, with the nearest names."""
        try:
            return self.joints[self._joint_at[name]]
        except KeyError:
            near = nearest_names(name, self._joint_at)
            stiff = {other for other in near if not (self.joint(other).nq or self.joint(other).mimic)}
            known = self._joint_at.keys() - stiff if len(stiff) < len(near) else self._joint_at
            raise JointNotFound(name, [other for other in self._joint_at if other in known], owner=self.name) from None

    def index(self, joint: str) -> slice:
        """Where the joint's numbers stand in q; raises JointNotFound if it has none."""
        if joint not in self._q_at:
            self.joint(joint)
            raise JointNotFound(joint, self._q_at, owner=f"the configuration of {self.name}")
        start = self._q_at[joint]
        return slice(start, start + self.joint(joint).nq)

    def velocity_index(self, joint: str) -> slice:
        """Where the joint's numbers stand in v; raises JointNotFound if it has none."""
        self.index(joint)
        start = self._v_at[joint]
        return slice(start, start + self.joint(joint).nv)

    def follows(self, joint: Joint) -> tuple[str, JointFunction]:
        """The joint with a place in q that sets this one's position, and by which function of its own."""
        return followed(joint, self.joint)

    def steepest(self, leader: str, function: JointFunction) -> float:
        """The most by which a joint moves that follows `leader` by `function`, of what that moves within its limits."""
        linear, at = function.linear, self._q_at[leader]
        return abs(linear[0]) if linear else function.steepest(float(self.lower[at]), float(self.upper[at]))

    @cached_property
    def neutral(self) -> Array:
        """(nq,) zeros, with identity quaternions."""
        q = np.zeros(self.nq)
        for at in self._quaternions:
            q[at] = 1.0
        return frozen(q)

    @cached_property
    def acceleration(self) -> Array:
        """(nv,) largest accelerations [rad/s^2 or m/s^2] that the file states, as `velocity`."""
        return self._rates(lambda joint: joint.acceleration)

    @cached_property
    def jerk(self) -> Array:
        """(nv,) largest jerks [rad/s^3 or m/s^3] that the file states, as `velocity`."""
        return self._rates(lambda joint: joint.jerk)

    @cached_property
    def efforts(self) -> Mapping[str, float]:
        """The largest torque [N m] or force [N] by joint, for those of which the file states one."""
        return MappingProxyType({j.name: j.effort for j in self.joints if j.nv and math.isfinite(j.effort)})

    @cached_property
    def _quaternions(self) -> tuple[int, ...]:
        """Where unit quaternions start in q."""
        moving = [joint for joint in self.joints if joint.nq]
        return tuple(self._q_at[j.name] + j.quaternion_at for j in moving if j.quaternion_at is not None)

    @cached_property
    def ball_limits(self) -> tuple[BallLimits, ...]:
        """The limits of the spherical joints that have any, in the order of q."""
        return tuple(j.ball.at(self._q_at[j.name]) for j in self.joints if j.ball is not None)

    @cached_property
    def _plain(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Places in q and in v of the coordinates that add like numbers."""
        at_q: list[int] = []
        at_v: list[int] = []
        for joint in self.joints:
            if joint.nq:
                count = joint.nq if joint.quaternion_at is None else joint.quaternion_at
                at_q += range(self._q_at[joint.name], self._q_at[joint.name] + count)
                at_v += range(self._v_at[joint.name], self._v_at[joint.name] + count)
        return np.array(at_q, dtype=np.intp), np.array(at_v, dtype=np.intp)

    @cached_property
    def _adds(self) -> bool:
        """Whether q and v have the same places, and all of them add like numbers."""
        return self.nq == self.nv and all(np.array_equal(at, np.arange(self.nq)) for at in self._plain)

    @cached_property
    def _turning(self) -> tuple[tuple[int, int], ...]:
        """(place in q, place in v) of every unit quaternion and its angular velocity."""
        moving = [joint for joint in self.joints if joint.quaternion_at is not None and joint.nq]
        return tuple(
            (self._q_at[j.name] + (j.quaternion_at or 0), self._v_at[j.name] + (j.quaternion_at or 0)) for j in moving
        )

    def check_one_q(self, q: ArrayLike, name: str = "q") -> Array:
        """`q` as (nq,) float64; raises as `check_q` does, and for several."""
        one = self.check_q(q, name)
        if one.ndim != 1:
            raise ShapeError(f"{name} must be one configuration of shape ({self.nq},), got shape {one.shape}")
        return one

    def check_q(self, q: ArrayLike, name: str = "q") -> Array:
        """`q` as (..., nq) float64; raises ShapeError, or ValueError naming an entry that is no number or too large."""
        if (
            type(q) is np.ndarray
            and q.dtype == np.float64
            and q.shape[-1:] == (self.nq,)
            and (np.abs(q) <= self.farthest).all()
        ):
            return q  # the commonest case, in one look
        array = self._check(q, name, self.nq, "nq")
        if (np.abs(array) > self.farthest).any():
            index = tuple(int(i) for i in np.argwhere(np.abs(array) > self.farthest)[0])
            raise InvalidValue(
                "out-of-range",
                f"{name}[{', '.join(map(str, index))}], {self.coordinates[index[-1]]!r}, is {array[index]:g}: beyond "
                f"{self.farthest[index[-1]]:.3g} a double has no digits left to compute with; give it nearer to 0",
            )
        return array

    def check_v(self, v: ArrayLike, name: str = "v") -> Array:
        """`v` as (..., nv) float64; raises ShapeError, or ValueError naming the entry that is not finite."""
        return self._check(v, name, self.nv, "nv")

    def _check(self, value: ArrayLike, name: str, size: int, word: str) -> Array:
        try:
            shape = np.shape(value)
        except ValueError:  # lists of different lengths
            raise ShapeError(f"{name} must have {size} numbers ({word} of {self.name}), got {value!r}") from None
        if not shape or shape[-1] != size:
            raise ShapeError(f"{name} must have {size} numbers ({word} of {self.name}), got shape {shape}")
        return finite(name, value, size)

    def normalize(self, q: ArrayLike, name: str = "q") -> Array:
        """`q` (..., nq) with its quaternions scaled to unit length; raises ValueError for a zero quaternion."""
        out = np.array(self.check_q(q, name))
        for at in self._quaternions:
            out[..., at : at + 4] = unit_quaternion(f"{name}[{at}:{at + 4}]", out[..., at : at + 4])
        return out

    def sound(self, q: Array) -> npt.NDArray[np.bool_]:
        """(...) whether `q` (..., nq) are configurations: all numbers finite and not too large, no quaternion zero."""
        near: npt.NDArray[np.bool_] = np.all(np.abs(q) <= self.farthest, axis=-1)
        if not self._quaternions:
            return near
        turns = (np.clip(q[..., at : at + 4], -1.0, 1.0) for at in self._quaternions)
        lengths = (np.linalg.norm(turn, axis=-1) for turn in turns)
        found: npt.NDArray[np.bool_] = np.all([near, *(length >= SHORTEST for length in lengths)], axis=0)
        return found

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(..., nq) where the velocity `v` (..., nv) leads from `q` (..., nq) in unit time.

        Raises ShapeError for batches that do not go together.
        """
        start, step = self.check_q(q), self.check_v(v)
        batch = start.shape[:-1] if start.shape == step.shape else batch_of(q=start, v=step)
        if self._adds:
            return start + step
        out = np.array(np.broadcast_to(start, (*batch, self.nq)))
        step = np.broadcast_to(step, (*batch, self.nv))
        at_q, at_v = self._plain
        out[..., at_q] += step[..., at_v]
        for iq, iv in self._turning:
            turned = quaternion_product(quaternion_exp(step[..., iv : iv + 3]), out[..., iq : iq + 4])
            out[..., iq : iq + 4] = turned / np.linalg.norm(turned, axis=-1, keepdims=True)
        return out

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """(..., nv) the velocity that leads from `q0` to `q1` in unit time: `integrate(q0, difference(q0, q1))` is q1.

        Angles differ as numbers, without wrapping; quaternions take the shorter way round.
        """
        a, b = self.check_q(q0, "q0"), self.check_q(q1, "q1")
        if a.shape != b.shape:
            batch_of(q0=a, q1=b)
            a, b = np.broadcast_arrays(a, b)
        if self._adds:
            return b - a
        out = np.zeros((*a.shape[:-1], self.nv))
        at_q, at_v = self._plain
        out[..., at_v] = b[..., at_q] - a[..., at_q]
        for iq, iv in self._turning:
            back = conjugate(a[..., iq : iq + 4])
            out[..., iv : iv + 3] = quaternion_log(quaternion_product(b[..., iq : iq + 4], back))
        return out

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> Array:
        """(..., nq) on the way from `q0` (t = 0) to `q1` (t = 1); `t` may be an array, which leads the shape."""
        return self.integrate(q0, numbers("t", t)[..., None] * self.difference(q0, q1))

    def sample(self, shape: int | tuple[int, ...] = (), *, seed: "int | np.random.Generator") -> Array:
        """(*shape, nq) random configurations within the limits.

        Unlimited turns are uniform over a full turn, unlimited slides within 1 m of home, quaternions over all
        rotations; of a spherical joint with limits the swing is uniform over its ellipse, the twist over its interval.
        The same seed gives the same numbers.
        """
        rng = np.random.default_rng(seed)
        batch = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        lower, upper = self.sampling_box
        q = rng.uniform(lower, upper, (*batch, self.nq))
        for at in self._quaternions:
            wxyz = rng.normal(size=(*batch, 4))
            q[..., at : at + 4] = wxyz / np.linalg.norm(wxyz, axis=-1, keepdims=True)
        for ball in self.ball_limits:
            q[..., ball.place : ball.place + 4] = ball.sample(batch, rng)
        return np.clip(q, self.lower, self.upper)

    def clip(self, q: ArrayLike) -> Array:
        """(..., nq) the nearest to `q` (..., nq) within the limits: every number, and every rotation, by itself.

        What keeps its limits stays as it is, to the last bit, and so do joints that are `still`, wherever they stand;
        quaternions are taken to be of unit length.
        """
        given = self.check_q(q)
        out = np.clip(given, self.lower, self.upper)
        for ball in self.ball_limits:
            out[..., ball.place : ball.place + 4] = ball.pulled_in(out[..., ball.place : ball.place + 4])
        return np.where(self._standing, given, out) if self.still else out

    @cached_property
    def _standing(self) -> npt.NDArray[np.bool_]:
        """(nq,) which numbers of q are of joints that are `still`: no limit moves them either."""
        standing = np.zeros(self.nq, dtype=np.bool_)
        for name in self.still:
            standing[self.index(name)] = True
        standing.flags.writeable = False
        return standing

    @cached_property
    def sampling_box(self) -> tuple[Array, Array]:
        """(nq,) and (nq,) finite bounds to draw random configurations from; the limits where there are any."""
        reach = np.ones(self.nq)
        for joint in self.joints:
            if joint.nq == 1 and joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.HELICAL):
                reach[self.index(joint.name)] = math.pi
            elif joint.nq and joint.kind is JointKind.PLANAR:
                reach[self.index(joint.name).stop - 1] = math.pi
        # Some files write a large number for "none"; nobody wants to start a million turns away.
        near = np.minimum(np.maximum(self.home, self.lower), self.upper)
        bounded = self.upper - self.lower <= _WIDE * reach
        lower = np.where(bounded, self.lower, np.maximum(near - reach, self.lower))
        upper = np.where(bounded, self.upper, np.minimum(near + reach, self.upper))
        return frozen(lower), frozen(upper)

    def within_limits(self, q: ArrayLike) -> bool:
        """Whether every configuration in `q` (..., nq) keeps the limits, with no slack."""
        q = self.check_q(q)
        if not ((q >= self.lower) & (q <= self.upper)).all():
            return False
        return all(bool(ball.inside(q[..., ball.place : ball.place + 4]).all()) for ball in self.ball_limits)

    def named(self, q: ArrayLike) -> dict[str, float]:
        """The numbers of `q` (nq,) by coordinate name, those of mimicking joints after them."""
        q = self.check_one_q(q)
        out = dict(zip(self.coordinates, map(float, q), strict=True))
        for joint in self.joints:
            if joint.mimic:
                source, function = self.follows(joint)
                out[joint.name] = float(function(q[self._q_at[source]]))
        return out

    def q(self, values: Mapping[str, ArrayLike] | None = None, /, **joints: ArrayLike) -> Array:
        """(nq,) `home` with the named joints or coordinates set: `arm.q(panda_joint4=-2.1)`.

        A joint that mimics another has no place in q: it may be named where it is as the other one has it, to 1e-6, so
        that `model.q(model.named(q))` is q.  Raises JointNotFound for a name that has no place in q, ShapeError for a
        wrong count of numbers, ValueError for a joint that contradicts the one that it mimics.  Warns of an angle far
        beyond the limits that is within them as degrees.
        """
        from poise.model.units import in_degrees

        out = np.array(self.home)
        at = {name: slice(i, i + 1) for i, name in enumerate(self.coordinates)}
        at |= {name: self.index(name) for name in self._q_at}
        following: dict[str, float] = {}
        for name, value in {**(values or {}), **joints}.items():
            refuse_masked(name, value)
            given = np.atleast_1d(np.asarray(value))
            if name in at:
                out[at[name]] = finite(name, given, at[name].stop - at[name].start)
            elif (joint := self.joint(name)).mimic:
                following[name] = float(finite(name, given, 1)[0])
            else:
                self.index(joint.name)
        for name, value in following.items():
            source, function = self.follows(self.joint(name))
            leader = float(out[self._q_at[source]])
            wanted = float(function(leader))
            if abs(value - wanted) > _ALIKE * max(1.0, abs(wanted)):
                raise InvalidValue(
                    "inconsistent",
                    f"{name} is {value:.6g}, but it mimics {source}, which at {leader:.6g} takes it to {wanted:.6g}: "
                    f"leave {name} out, or set {source} to what you mean",
                )
        suspects = [name for name in {**(values or {}), **joints} if name in at and in_degrees(self, out, at[name])]
        if suspects:
            warnings.warn(
                f"{suspects[0]} is far beyond its limits in radians: degrees? numpy.radians makes them radians",
                UserWarning,
                stacklevel=2,
            )
        return out

    def _limits(self) -> tuple[Array, Array]:
        moving = [joint for joint in self.joints if joint.nq]
        lower = np.array([x for joint in moving for x in joint.lower], dtype=np.float64)
        upper = np.array([x for joint in moving for x in joint.upper], dtype=np.float64)
        for joint in self.joints:
            if joint.mimic:
                source, function = self.follows(joint)
                at, left = self._q_at[source], range_left(joint, function, self.joint(source))
                if left is not None:
                    lower[at], upper[at] = max(lower[at], left[0]), min(upper[at], left[1])
                if left is None or lower[at] > upper[at]:
                    raise ModelError(
                        f"joint {joint.name!r} mimics {source!r}, but their limits have no position in common; widen "
                        "one, or correct how it follows"
                    )
        return frozen(lower + 0.0), frozen(upper + 0.0)  # no negative zeros

    def _rates(self, of: Callable[[Joint], tuple[float, ...]]) -> Array:
        """(nv,) the largest rates that joints state, narrowed by those that mimic; inf where there is none."""
        rates = np.full(self.nv, math.inf)
        for joint in self.joints:
            declared = of(joint)
            if joint.nv and declared:
                rates[self.velocity_index(joint.name)] = declared
        for joint in self.joints:
            declared = of(joint)
            if joint.mimic and declared:
                source, function = self.follows(joint)
                at, slope = self._v_at[source], self.steepest(source, function)
                if slope != 0.0:
                    rates[at] = min(rates[at], declared[0] / slope)
        return frozen(rates)

    def _farthest(self) -> Array:
        farthest = np.full(self.nq, LARGEST)
        for at in self._quaternions:
            farthest[at : at + 4] = 1e300  # of any length, until they are normalised
        for joint in self.joints:
            if joint.mimic:
                source, function = self.follows(joint)
                at, linear = self._q_at[source], function.linear
                reach = function.farthest if linear is None else LARGEST / max(abs(linear[0]), 1.0)
                farthest[at] = min(farthest[at], reach)
        return frozen(farthest)


def written(values: Sequence[float] | Array) -> str:
    """One number, or several in brackets."""
    texts = [f"{x:g}" for x in values]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _places(joints: Sequence[Joint], sizes: Sequence[int]) -> tuple[dict[str, int], int]:
    """Where each joint's numbers start, by its name, and how many there are in all."""
    ends = list(accumulate(sizes))
    return {joint.name: end - size for joint, size, end in zip(joints, sizes, ends, strict=True)}, sum(sizes)
