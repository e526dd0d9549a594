"""The model: an immutable kinematic tree, parents before children, over flat arrays.

A configuration `q` has `nq` numbers and a velocity `v` has `nv`; they differ where a joint holds a unit quaternion.
The order is the file's, parents first; fixed joints and joints that mimic others take no place.
"""

import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast, final

import numpy as np
import numpy.typing as npt

from poise.cached import cached_property
from poise.checks import finite, not_negative
from poise.errors import (
    FrameNotFound,
    JointNotFound,
    ModelError,
    ModelWarning,
    NameNotFound,
    ShapeError,
    nearest_names,
)
from poise.geometry.meshes import SHAPES, LinkShape
from poise.geometry.shapes import Shape
from poise.geometry.visuals import Visual
from poise.model.frame import WORLD, Frame
from poise.model.joint import Joint, JointKind
from poise.model.loop import Loop, named
from poise.model.swing import BallLimits, SwingTwist
from poise.spatial import (
    LARGEST,
    SE3,
    Array,
    ArrayLike,
    conjugate,
    frozen,
    pose_of,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
    unit_quaternion,
)

if TYPE_CHECKING:
    from poise.geometry.world import World
    from poise.model.fitting import ShapeFit
    from poise.model.proximity import Proximities, Proximity
    from poise.model.tree import Tree

_WIDE = 20.0
"""Limits further apart than this many half turns (or metres) count as none where random configurations are drawn."""
_IMMUTABLE = (
    "a Model does not change; make another with its chain, lock or with_limits, with ModelBuilder or poise.load"
)
_I = SE3.identity()
_ALIKE = 1e-6
"""How far a joint that mimics another may be from where that takes it, relative to what is more than 1 [rad or m]."""


@final
class Model:
    """An immutable kinematic tree.  Make one with `poise.load`, `poise.ModelBuilder` or `poise.from_dh`.

    Threads can share it.  What is prepared from it is kept beside it, and does not go with it into a pickle or a copy.
    """

    name: str
    joints: tuple[Joint, ...]
    """Every joint, fixed ones and mimics too, parents before children."""
    links: tuple[str, ...]
    """Every link, parents before children."""
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
    groups: Mapping[str, tuple[str, ...]]
    """Named sets of joints, from an SRDF."""
    postures: Mapping[str, Array]
    """Named configurations (nq,), from an SRDF or the keyframes of an MJCF."""
    end_effectors: Mapping[str, tuple[str, ...]]
    """Links at which an arm or a leg ends, from an SRDF, and the joints beyond each that are fingers; none: all are."""
    masses: Mapping[str, tuple[float, Array]]
    """The mass [kg] and the centre of mass (3,) [m], in the link's frame, of each link that was given one."""
    mass: float
    """The mass of all links together [kg]; 0 where none was given one."""
    shapes: Mapping[str, tuple[LinkShape, ...]]
    """What of each link may collide, in the link's frame, and of what stands in the world under "world"; links without
    such shapes are left out."""
    visuals: Mapping[str, tuple[Visual, ...]]
    """What is drawn of each link, in the link's frame, and of what stands in the world under "world"; links of which
    nothing is drawn are left out.  Meshes in files are not opened."""
    disabled: frozenset[frozenset[str]]
    """Pairs of links that need never be looked at for a collision between them."""
    loops: tuple[Loop, ...]
    """What closes the chains that were cut to make it a tree: frames that stay together.  `solve` and `Tracker` keep
    them closed; `home`, `sample` and whatever else tells a q say nothing of them."""
    queries: dict[Any, Any]
    """What `poise.model.kinematics` has prepared for each frame, and under None for the centre of mass."""
    _joint_at: dict[str, int]
    _frames: dict[str, Frame]
    _q_at: dict[str, int]
    _v_at: dict[str, int]

    def __init__(
        self,
        name: str,
        joints: Iterable[Joint],
        links: Iterable[str],
        frames: Iterable[Frame] = (),
        *,
        home: ArrayLike | None = None,
        groups: Mapping[str, tuple[str, ...]] | None = None,
        postures: Mapping[str, Array] | None = None,
        end_effectors: Mapping[str, Sequence[str]] | None = None,
        masses: Mapping[str, tuple[float, Array]] | None = None,
        shapes: Mapping[str, Sequence[LinkShape]] | None = None,
        visuals: Mapping[str, Sequence[Visual]] | None = None,
        disabled: Iterable[frozenset[str]] = (),
        loops: Iterable[Loop] = (),
    ) -> None:
        """For builders, which check what they are given; see `poise.ModelBuilder`."""
        own = vars(self)  # for its attributes themselves take nothing
        own["name"], own["joints"], own["links"] = name, tuple(joints), tuple(links)
        own["_joint_at"] = {joint.name: i for i, joint in enumerate(self.joints)}
        own["_frames"] = {link: Frame(name=link, link=link) for link in self.links} | {f.name: f for f in frames}
        self._frames.setdefault(WORLD, Frame(name=WORLD, link=WORLD))
        moving = [joint for joint in self.joints if joint.nq]
        own["_q_at"], own["nq"] = _places(moving, [joint.nq for joint in moving])
        own["_v_at"], own["nv"] = _places(moving, [joint.nv for joint in moving])
        own["lower"], own["upper"] = self._limits()
        own["velocity"] = self._velocities()
        own["farthest"] = self._farthest()
        own["end_effectors"] = MappingProxyType({k: tuple(names) for k, names in (end_effectors or {}).items()})
        named = {k: tuple(names) for k, names in (groups or {}).items()}
        own["groups"] = MappingProxyType(_Named(named, "group", name))
        own["postures"] = MappingProxyType(_Named({k: frozen(q) for k, q in (postures or {}).items()}, "posture", name))
        own["masses"] = MappingProxyType({k: (mass, frozen(centre)) for k, (mass, centre) in (masses or {}).items()})
        own["mass"] = math.fsum(mass for mass, _ in self.masses.values())
        own["shapes"] = MappingProxyType({k: tuple(those) for k, those in (shapes or {}).items() if those})
        own["visuals"] = MappingProxyType({k: tuple(those) for k, those in (visuals or {}).items() if those})
        own["disabled"] = frozenset(disabled)
        own["loops"] = tuple(loops)
        start = self.neutral if home is None else finite("home", home, self.nq)
        own["home"] = frozen(self.clip(start))
        own["queries"] = {}

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name!r} of {self.name}: {_IMMUTABLE}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r} of {self.name}: {_IMMUTABLE}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Model, **self._carried()), (self.name, self.joints, self.links, self._own_frames())

    # What there is -----------------------------------------------------------------------------------------------

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that have a place in q, in its order."""
        return tuple(self._q_at)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """A name for each number in q."""
        return tuple(c for joint in self.joints if joint.nq for c in joint.coordinates)

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that a task may name: links, then sites and tools, and the world."""
        return tuple(self._frames)

    @cached_property
    def tip(self) -> str:
        """The last link of the longest chain, before the fingers: the hand of an arm; see `poise.model.tip`."""
        from poise.model.tip import tip_of

        return tip_of(self)

    def joint(self, name: str) -> Joint:
        """The joint `name`; raises JointNotFound, with the nearest names."""
        try:
            return self.joints[self._joint_at[name]]
        except KeyError:
            near = nearest_names(name, self._joint_at)
            stiff = {other for other in near if not (self.joint(other).nq or self.joint(other).mimic)}
            known = self._joint_at.keys() - stiff if len(stiff) < len(near) else self._joint_at
            raise JointNotFound(name, [other for other in self._joint_at if other in known], owner=self.name) from None

    def frame(self, name: str) -> Frame:
        """The frame `name`; raises FrameNotFound, with the nearest names."""
        try:
            return self._frames[name]
        except KeyError:
            raise FrameNotFound(name, self._frames, owner=self.name) from None

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

    def root_path(self, link: str) -> tuple[Joint, ...]:
        """The joints from the world to `link`, in this order."""
        by_child = self._by_child
        path: list[Joint] = []
        while link in by_child:
            path.append(by_child[link])
            link = path[-1].parent
        return tuple(reversed(path))

    @cached_property
    def _by_child(self) -> dict[str, Joint]:
        return {joint.child: joint for joint in self.joints}

    def follows(self, joint: Joint) -> tuple[str, float, float]:
        """The joint with a place in q that sets this one's position, as (name, multiplier, offset)."""
        multiplier, offset = 1.0, 0.0
        while joint.mimic:
            offset += multiplier * joint.mimic.offset
            multiplier *= joint.mimic.multiplier
            joint = self.joint(joint.mimic.joint)
        return joint.name, multiplier, offset

    @cached_property
    def shape_fit(self) -> "ShapeFit":
        """What distances are measured to in place of meshes, which are read when this is first asked for: their convex
        hulls, and how far each stands out of its mesh; printed, it is a table.

        Raises as `poise.fit_shapes`, which also fits capsules.
        """
        from poise.model.fitting import fit_shapes

        return fit_shapes(self, hulls=True)

    @cached_property
    def fitted_shapes(self) -> Mapping[str, tuple[Shape, ...]]:
        """The shapes with convex hulls in place of meshes; raises as `shape_fit`, which says how well they fit."""
        without = all(isinstance(shape, Shape) for shapes in self.shapes.values() for shape in shapes)
        shapes = self.shapes if without else self.shape_fit.model.shapes
        return cast(Mapping[str, tuple[Shape, ...]], shapes)

    # Configurations ----------------------------------------------------------------------------------------------

    @cached_property
    def neutral(self) -> Array:
        """(nq,) zeros, with identity quaternions."""
        q = np.zeros(self.nq)
        for at in self._quaternions:
            q[at] = 1.0
        return frozen(q)

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
    def _turning(self) -> tuple[tuple[int, int], ...]:
        """(place in q, place in v) of every unit quaternion and its angular velocity."""
        moving = [joint for joint in self.joints if joint.quaternion_at is not None and joint.nq]
        return tuple(
            (self._q_at[j.name] + (j.quaternion_at or 0), self._v_at[j.name] + (j.quaternion_at or 0)) for j in moving
        )

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
            raise ValueError(
                f"{name}[{', '.join(map(str, index))}], {self.coordinates[index[-1]]!r}, is {array[index]:g}: beyond "
                f"{self.farthest[index[-1]]:.3g} a double has no digits left to compute with; give it nearer to 0"
            )
        return array

    def check_v(self, v: ArrayLike, name: str = "v") -> Array:
        """`v` as (..., nv) float64; raises ShapeError, or ValueError naming the entry that is not finite."""
        return self._check(v, name, self.nv, "nv")

    def _check(self, value: ArrayLike, name: str, size: int, word: str) -> Array:
        shape = np.shape(value)
        if not shape or shape[-1] != size:
            raise ShapeError(f"{name} must have {size} numbers ({word} of {self.name}), got shape {shape}")
        return finite(name, value, size)

    def normalize(self, q: ArrayLike, name: str = "q") -> Array:
        """`q` (..., nq) with its quaternions scaled to unit length; raises ValueError for a zero quaternion."""
        out = np.array(self.check_q(q, name))
        for at in self._quaternions:
            out[..., at : at + 4] = unit_quaternion(f"{name}[{at}:{at + 4}]", out[..., at : at + 4])
        return out

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(..., nq) where the velocity `v` (..., nv) leads from `q` (..., nq) in unit time."""
        start, step = self.check_q(q), self.check_v(v)
        batch = np.broadcast_shapes(start.shape[:-1], step.shape[:-1])
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
        a, b = np.broadcast_arrays(self.check_q(q0, "q0"), self.check_q(q1, "q1"))
        out = np.zeros((*a.shape[:-1], self.nv))
        at_q, at_v = self._plain
        out[..., at_v] = b[..., at_q] - a[..., at_q]
        for iq, iv in self._turning:
            back = conjugate(a[..., iq : iq + 4])
            out[..., iv : iv + 3] = quaternion_log(quaternion_product(b[..., iq : iq + 4], back))
        return out

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> Array:
        """(..., nq) on the way from `q0` (t = 0) to `q1` (t = 1); `t` may be an array, which leads the shape."""
        return self.integrate(q0, np.asarray(t, dtype=np.float64)[..., None] * self.difference(q0, q1))

    def sample(self, shape: int | tuple[int, ...] = (), *, seed: int | np.random.Generator) -> Array:
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

        What keeps its limits stays as it is, to the last bit; quaternions are taken to be of unit length.
        """
        out = np.clip(self.check_q(q), self.lower, self.upper)
        for ball in self.ball_limits:
            out[..., ball.place : ball.place + 4] = ball.pulled_in(out[..., ball.place : ball.place + 4])
        return out

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
        q = self.check_q(q)
        if q.ndim != 1:
            raise ShapeError(f"named takes one configuration of shape ({self.nq},), got {q.shape}")
        out = dict(zip(self.coordinates, map(float, q), strict=True))
        for joint in self.joints:
            if joint.mimic:
                source, multiplier, offset = self.follows(joint)
                out[joint.name] = multiplier * float(q[self._q_at[source]]) + offset
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
            given = np.atleast_1d(np.asarray(value))
            if name in at:
                out[at[name]] = finite(name, given, at[name].stop - at[name].start)
            elif (joint := self.joint(name)).mimic:
                following[name] = float(finite(name, given, 1)[0])
            else:
                self.index(joint.name)
        for name, value in following.items():
            source, multiplier, offset = self.follows(self.joint(name))
            leads = float(out[self._q_at[source]])
            wanted = multiplier * leads + offset
            if abs(value - wanted) > _ALIKE * max(1.0, abs(wanted)):
                raise ValueError(
                    f"{name} is {value:.6g}, but it mimics {source}, which at {leads:.6g} takes it to {wanted:.6g}: "
                    f"leave {name} out, or set {source} to what you mean"
                )
        asked = [name for name in {**(values or {}), **joints} if name in at and in_degrees(self, out, at[name])]
        if asked:
            warnings.warn(
                f"{asked[0]} is {_plain(out[at[asked[0]]])} rad, far beyond its limits: degrees? numpy.radians makes "
                "them radians",
                UserWarning,
                stacklevel=2,
            )
        return out

    # Kinematics --------------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> "Tree":
        """The arrays that the kernels read."""
        from poise.model.tree import pack

        return pack(self)

    def pose(self, frame: str, q: ArrayLike) -> SE3:
        """Pose of `frame` in the world at `q` (..., nq), with the same batch axes."""
        from poise.model.kinematics import frame_poses

        return pose_of(frame_poses(self, self.frame(frame), self.check_q(q)))

    def poses(self, q: ArrayLike, frames: Sequence[str] | None = None) -> SE3:
        """Poses of many frames in the world at `q` (..., nq), along a last batch axis: of all of `self.frames`, or
        of those named.

        All of them take one pass over the tree.  Raises FrameNotFound, and TypeError for a str.
        """
        from poise.model.kinematics import all_poses

        if isinstance(frames, str):
            raise TypeError(f"frames must be a sequence of names; put {frames!r} in a list, or call pose")
        names = self.frames if frames is None else frames
        return pose_of(all_poses(self, [self.frame(name) for name in names], self.check_q(q)))

    def jacobian(
        self, frame: str, q: ArrayLike, *, reference: Literal["world_aligned", "local", "world"] = "world_aligned"
    ) -> Array:
        """(..., 6, nv) Jacobian of `frame` at `q` (..., nq): its twist is `J @ v`, linear rows first.

        `reference="world_aligned"` is the velocity of the frame's origin along the world's axes, "local" the same
        along the frame's own axes, "world" the spatial twist, of the point that passes the world's origin.
        """
        from poise.model.kinematics import frame_jacobians

        if reference not in ("world_aligned", "local", "world"):
            raise ValueError(f"reference must be 'world_aligned', 'local' or 'world', got {reference!r}")
        jacobians, poses = frame_jacobians(self, self.frame(frame), self.check_q(q))
        if reference == "local":
            rotation = np.swapaxes(quaternion_matrix(poses[..., 3:]), -1, -2)
            return np.concatenate([rotation @ jacobians[..., :3, :], rotation @ jacobians[..., 3:, :]], axis=-2)
        if reference == "world":
            shift = np.cross(poses[..., None, :3], np.swapaxes(jacobians[..., 3:, :], -1, -2))
            return np.concatenate([jacobians[..., :3, :] + np.swapaxes(shift, -1, -2), jacobians[..., 3:, :]], axis=-2)
        return jacobians

    def centre_of_mass(self, q: ArrayLike) -> Array:
        """(..., 3) centre of mass in the world [m] at `q` (..., nq), of all links, those that stand still too.

        Raises ValueError if no link has a mass.
        """
        from poise.model.kinematics import mass_centres

        return mass_centres(self, self.check_q(q))

    def centre_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """(..., 3, nv) Jacobian of the centre of mass at `q` (..., nq): it moves with `J @ v` along the world's axes.

        Raises ValueError if no link has a mass.
        """
        from poise.model.kinematics import mass_centre_jacobians

        return mass_centre_jacobians(self, self.check_q(q))

    def manipulability(
        self, frame: str, q: ArrayLike, *, rows: Literal["pose", "position", "rotation"] = "pose"
    ) -> "float | Array":
        """(...,) how well `frame` can be moved in all directions at `q` (..., nq): the product of the singular values
        of its Jacobian, sqrt(det J J^T), with rows in m and in rad (Yoshikawa 1985, doi:10.1177/027836498500400201).

        It is 0 where a direction is lost, and of value in comparing configurations of one robot.  `rows` are those of
        the whole pose, or of the position or the rotation alone.  Directions in which the joints can move the frame
        nowhere are left out: a planar arm has three singular values, and one of five joints five.  Raises ValueError
        where no joint moves the frame so.
        """
        from poise.model.kinematics import frame_manipulability, twists

        if rows not in ("pose", "position", "rotation"):
            raise ValueError(f"rows must be 'pose', 'position' or 'rotation', got {rows!r}")
        at = self.frame(frame)
        found = frame_manipulability(self, at, self.check_q(q), twists(self, at, rows))
        return found if found.ndim else float(found)

    # Distances ---------------------------------------------------------------------------------------------------

    def distance(
        self, q: ArrayLike, world: "World | None" = None, *, self_collision: bool = True
    ) -> "Proximity | Proximities":
        """How far the two nearest shapes are from each other at `q` (nq,) [m], which and where; negative: how deep in.

        Links are measured against one another, as far as they may meet, and against the shapes of `world`; against
        these alone without `self_collision`.  With q (n, nq) the result holds arrays, and eight configurations are
        measured side by side.  Raises ShapeError, and ValueError for numbers that are not finite.
        """
        return _nearest()(self, q, world, self_collision)

    def in_collision(
        self,
        q: ArrayLike,
        world: "World | None" = None,
        *,
        min_distance: float = 0.0,
        self_collision: bool = True,
    ) -> "bool | npt.NDArray[np.bool_]":
        """Whether shapes are nearer than `min_distance` [m] to each other at `q` (nq,), or at each of q (n, nq).

        Without `self_collision` links are measured against the shapes of `world` alone.
        """
        not_negative("min_distance", min_distance, unit=" [m]")
        return self.distance(q, world, self_collision=self_collision).distance < min_distance

    # Other models ------------------------------------------------------------------------------------------------

    def chain(self, base: str, tip: str) -> "Model":
        """The joints between the links `base` and `tip`, standing in the world at `base`.

        Links beside the way are left out, and their masses, shapes and visuals with them; so is what stands in the
        world, unless `base` is the world or its first link.
        Raises FrameNotFound for an unknown name, ModelError if `base` does not carry `tip`.
        """
        root, end = self.frame(base), self.frame(tip)
        path = list(self.root_path(end.link))
        links = [path[0].parent if path else end.link, *(joint.child for joint in path)]
        if root.link != WORLD and root.link not in links:
            raise ModelError(
                f"{base!r} does not carry {tip!r} in {self.name}; the way to {tip!r} is {' > '.join(links)}"
            )
        first = links.index(root.link) if root.link in links else 0
        kept = path[first:]
        names = {joint.name for joint in kept}
        inside = [links[first], *(joint.child for joint in kept)]
        inside = [link for link in inside if link != WORLD]
        frames = [f for f in self._frames.values() if f.link in inside and f.name not in inside and f.name != WORLD]
        for joint in kept:
            if joint.mimic and joint.mimic.joint not in names:
                raise ModelError(
                    f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which is not between {base!r} and {tip!r}; "
                    f"lock it first: model.lock({joint.name}=...)"
                )
        # What stands in the world stays where it was only if `base` does.
        world = set() if self.root_path(root.link) else {WORLD}
        return self._derived(f"{self.name}[{base}..{tip}]", kept, inside, frames, {*inside} | world, {end.name: ()})

    def lock(self, values: Mapping[str, ArrayLike] | None = None, /, **joints: ArrayLike) -> "Model":
        """The model with the named joints fixed at the given positions; joints that mimic them are fixed too.

        Raises JointNotFound for an unknown joint, ValueError for a position outside the joint's limits.
        """
        from poise.model.units import in_degrees

        held = {}
        for name, value in {**(values or {}), **joints}.items():
            joint = self.joint(name)
            position = finite(name, np.atleast_1d(np.asarray(value)), joint.size)
            if ((position < joint.lower) | (position > joint.upper)).any():
                ends, question = f"{_plain(joint.lower)} to {_plain(joint.upper)}", ""
                if name in self._q_at:
                    q, at = np.array(self.home), self.index(name)
                    q[at] = position
                    question = "; degrees? numpy.radians makes them radians" if in_degrees(self, q, at) else ""
                raise ValueError(f"cannot lock {name!r} at {_plain(position)}: its limits are {ends}{question}")
            if joint.ball is not None and not joint.ball.at(0).inside(position / np.linalg.norm(position)).all():
                raise ValueError(f"cannot lock {name!r} at {position}: its limits are {joint.ball} [rad]")
            held[name] = position
        kept = []
        for joint in self.joints:
            source, multiplier, offset = self.follows(joint)
            if joint.name not in held and joint.mimic and source in held:
                held[joint.name] = multiplier * held[source] + offset
            if joint.name in held:
                origin = joint.origin @ joint.motion(held[joint.name])
                joint = Joint(
                    name=joint.name, kind=JointKind.FIXED, parent=joint.parent, child=joint.child, origin=origin
                )
            kept.append(joint)
        bodies = {*self.links, WORLD}
        return self._derived(self.name, kept, self.links, self._own_frames(), bodies, self.end_effectors)

    def with_shapes(
        self,
        shapes: Mapping[str, LinkShape | Sequence[LinkShape]],
        disabled: Iterable[tuple[str, str]] | None = None,
    ) -> "Model":
        """The model with these shapes on its links, in the links' frames, in place of all that it has.

        To add some, name those that it has too: `model.with_shapes({**model.shapes, "hand": (*model.shapes["hand"],
        tool)})`.
        `disabled` are pairs of links that need never be looked at; None: those that it has.  Raises FrameNotFound for
        an unknown link, TypeError for what is no shape, ValueError for what is no pair.
        """
        known = dict.fromkeys([*self.links, WORLD])
        carried: dict[str, Any] = {}
        carried["shapes"] = {link: (s,) if isinstance(s, LinkShape) else tuple(s) for link, s in shapes.items()}
        for link, those in carried["shapes"].items():
            self._check_link(link, known)
            for shape in those:
                if not isinstance(shape, LinkShape):
                    raise TypeError(f"link {link!r} is given {shape!r} as a shape; {SHAPES}")
        if disabled is not None:
            pairs = [frozenset(pair) for pair in disabled]
            for pair in pairs:
                for link in sorted(pair):
                    self._check_link(link, known)
                if len(pair) != 2:
                    raise ValueError(f"disabled holds {tuple(sorted(pair))}; a pair is two links")
            carried["disabled"] = pairs
        return self._with(**carried)

    def with_frame(self, name: str, *, link: str, origin: SE3 | ArrayLike = _I) -> "Model":
        """The model with one more frame, `name`, at the pose `origin` in `link`, which may be any frame: a tool.

        Raises ModelError for a name that is there already, FrameNotFound for an unknown `link`.
        """
        from poise.model.changes import another_frame

        return self._with(frames=[*self._own_frames(), another_frame(self, name, link, origin)])

    def with_limits(
        self,
        limits: "Mapping[str, tuple[ArrayLike, ArrayLike] | SwingTwist] | None" = None,
        *,
        velocity: Mapping[str, ArrayLike] | None = None,
    ) -> "Model":
        """The model with other limits: `{joint: (lower, upper)}` [rad or m], `velocity={joint: most}` [rad/s or m/s].

        What is stated takes the place of what the file says, be it narrower or wider; whether the arm can go there is
        yours to know.  A joint of several coordinates takes a number for all or one for each, but none for its
        quaternion; math.inf is none.  A spherical joint takes a `SwingTwist`.  A continuous joint with limits is a
        revolute one.  `home` moves to the nearest place inside; `postures` stay.
        Raises JointNotFound for an unknown name, ValueError for limits that are no numbers or the wrong way round, for
        a fixed joint, and for one that another, which moves with it by `mimic` and is not named, would hold to less.
        """
        from poise.model.changes import limited, refuse_held

        limits, velocity = {} if limits is None else limits, {} if velocity is None else velocity
        made = self._with(joints=limited(self, limits, velocity))
        refuse_held(made, limits, velocity)
        return made

    def with_stretch(self, bones: Sequence[str], most: float, *, least: float = 0.0) -> "Model":
        """The model with bones that may grow by the share `most` of their length, and shrink by `least`.

        A bone is named by the joint at its end: "LeftForeArm" for the upper arm.  Before each of these stands a joint
        more, such as "LeftForeArm_stretch", that slides along the bone from its parent's origin: its q is what the bone
        is longer [m], 0 where `home` and `postures` were.  What hangs on the bone itself, such as its shape, does not
        grow.  Raises JointNotFound for an unknown name, ValueError for a bone without length, and for shares that are
        below 0 or take a whole bone away.
        """
        from poise.model.changes import stretched

        joints, links = stretched(self, bones, most, least)
        old = [i for joint in self.joints if joint.nq for i in range(*self.index(joint.name).indices(self.nq))]
        new = Model(self.name, joints, links)
        places = [i for name in self.joint_names for i in range(*new.index(name).indices(new.nq))]

        def widened(q: Array) -> Array:
            out = np.zeros(new.nq)
            out[places] = q[old]
            return out

        carried = {"home": widened(self.home), "postures": {name: widened(q) for name, q in self.postures.items()}}
        return Model(self.name, joints, links, self._own_frames(), **(self._carried() | carried))

    def with_base(self, pose: SE3 | ArrayLike) -> "Model":
        """The model mounted elsewhere: what stood at the world's origin stands at `pose`, on a table, upside down.

        A fixed joint, or the place of the first one, carries it; q, limits and names stay.  What is fixed to the world
        itself, its frames and shapes, stays where it is, but for what a loop ties the robot to.  On a model that was
        mounted before, `pose` comes on top.
        """
        from poise.model.changes import anchored, mounted

        return self._with(joints=mounted(self, pose), frames=anchored(self, pose))

    def with_payload(self, mass: float, *, link: str, centre: ArrayLike = (0.0, 0.0, 0.0)) -> "Model":
        """The model with `mass` [kg] more on `link`, which may be any frame, at `centre` (3,) [m] in it.

        The centre of mass moves; nothing else does.  Raises FrameNotFound for an unknown `link`, ValueError for a mass
        that is not a finite number above 0.
        """
        from poise.model.changes import loaded

        return self._with(masses=loaded(self, mass, link, centre))

    def _with(
        self, *, joints: Iterable[Joint] | None = None, frames: Iterable[Frame] | None = None, **carried: Any
    ) -> "Model":
        """The model with these in place of its own."""
        return Model(
            self.name,
            self.joints if joints is None else joints,
            self.links,
            self._own_frames() if frames is None else frames,
            **(self._carried() | carried),
        )

    def _check_link(self, link: str, known: Iterable[str]) -> None:
        if link not in known:
            raise FrameNotFound(link, known, owner=self.name)

    def _carried(self) -> dict[str, Any]:
        """What a model has besides its joints, links and frames, as its constructor takes it."""
        return {
            "home": self.home,
            "groups": dict(self.groups),
            "postures": dict(self.postures),
            "end_effectors": dict(self.end_effectors),
            "masses": dict(self.masses),
            "shapes": dict(self.shapes),
            "visuals": dict(self.visuals),
            "disabled": self.disabled,
            "loops": self.loops,
        }

    def _derived(
        self,
        name: str,
        joints: list[Joint],
        links: Sequence[str],
        frames: Iterable[Frame],
        bodies: set[str],
        end_effectors: Mapping[str, Sequence[str]],
    ) -> "Model":
        """The model of these joints, links and frames; what may collide and what is drawn is left on `bodies`."""
        kept = [joint.name for joint in joints if joint.nq]
        places = [i for joint in kept for i in range(*self.index(joint).indices(self.nq))]
        postures = {key: q[places] for key, q in self.postures.items()}
        groups = {key: tuple(n for n in names if n in kept) for key, names in self.groups.items()}
        masses = {link: mass for link, mass in self.masses.items() if link in links}
        frames = tuple(frames)
        return Model(
            name,
            joints,
            links,
            frames,
            loops=self._loops_left({*links, *(frame.name for frame in frames), WORLD}, kept),
            home=self.home[places],
            groups=groups,
            postures=postures,
            end_effectors=end_effectors,
            masses=masses,
            shapes={link: shapes for link, shapes in self.shapes.items() if link in bodies},
            visuals={link: visuals for link, visuals in self.visuals.items() if link in bodies},
            disabled=[pair for pair in self.disabled if pair <= bodies],
        )

    def _loops_left(self, frames: set[str], kept: Sequence[str]) -> list[Loop]:
        """The loops that the `kept` joints still move, both frames being there.

        Warns (ModelWarning) of those that lose a frame, though joints that are kept move them.
        """
        left: list[Loop] = []
        lost: list[Loop] = []
        for loop in self.loops:
            one, other = (set(self.root_path(self.frame(name).link)) for name in (loop.first, loop.second))
            if {self.follows(joint)[0] for joint in one ^ other}.intersection(kept):
                (left if {loop.first, loop.second} <= frames else lost).append(loop)
        if lost:
            warnings.warn(
                f"{named(lost)} of {self.name} is lost, for the frames are not all kept: the chain that is left is "
                "open, and its joints move by themselves",
                ModelWarning,
                stacklevel=4,
            )
        return left

    # Details -----------------------------------------------------------------------------------------------------

    def _own_frames(self) -> list[Frame]:
        """The frames that are neither a link's nor the world's."""
        return [frame for frame in self._frames.values() if frame.name != frame.link]

    def _limits(self) -> tuple[Array, Array]:
        moving = [joint for joint in self.joints if joint.nq]
        lower = np.array([x for joint in moving for x in joint.lower], dtype=np.float64)
        upper = np.array([x for joint in moving for x in joint.upper], dtype=np.float64)
        for joint in self.joints:
            if joint.mimic:
                source, multiplier, offset = self.follows(joint)
                if multiplier == 0.0:
                    continue
                ends = ((joint.lower[0] - offset) / multiplier, (joint.upper[0] - offset) / multiplier)
                at, low, high = self._q_at[source], min(ends), max(ends)
                # Beyond what a configuration can hold, a limit is none.
                lower[at] = max(lower[at], low if low >= -LARGEST else -math.inf)
                upper[at] = min(upper[at], high if high <= LARGEST else math.inf)
                if lower[at] > upper[at] or low > LARGEST or high < -LARGEST:
                    raise ModelError(
                        f"joint {joint.name!r} mimics {source!r}, but their limits have no position in common"
                    )
        return frozen(lower + 0.0), frozen(upper + 0.0)  # no negative zeros

    def _velocities(self) -> Array:
        velocity = np.array([x for joint in self.joints if joint.nq for x in joint.velocity], dtype=np.float64)
        for joint in self.joints:
            if joint.mimic:
                source, multiplier, _ = self.follows(joint)
                if multiplier != 0.0:
                    at = self._v_at[source]
                    velocity[at] = min(velocity[at], joint.velocity[0] / abs(multiplier))
        return frozen(velocity)

    def _farthest(self) -> Array:
        farthest = np.full(self.nq, LARGEST)
        for at in self._quaternions:
            farthest[at : at + 4] = 1e300  # of any length, until they are normalised
        for joint in self.joints:
            if joint.mimic:
                source, multiplier, _ = self.follows(joint)
                at = self._q_at[source]
                farthest[at] = min(farthest[at], LARGEST / max(abs(multiplier), 1.0))
        return frozen(farthest)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from poise.model.notebook import html_of

        return html_of(self)

    def __repr__(self) -> str:
        loops = f", {len(self.loops)} loop{'s' * (len(self.loops) > 1)}" if self.loops else ""
        return f"Model({self.name!r}, {len(self.joints)} joints, nq={self.nq}, nv={self.nv}{loops})"

    def __str__(self) -> str:
        head = ("joint", "kind", "lower", "upper", "parent", "child")
        rows = [head]
        for joint in self.joints:
            if joint.kind is JointKind.FIXED:
                continue
            if joint.mimic:
                limits = (f"= {joint.mimic.multiplier:g} {joint.mimic.joint}", f"+ {joint.mimic.offset:g}")
            elif joint.size == 1:
                at = self._q_at[joint.name]
                limits = (f"{self.lower[at]:.4g}", f"{self.upper[at]:.4g}")
            elif joint.ball is not None:
                limits = joint.ball.words
            else:
                limits = ("", "")
            rows.append((joint.name, joint.kind.value, *limits, joint.parent, joint.child))
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        fixed = sum(joint.kind is JointKind.FIXED for joint in self.joints)
        title = f"{self.name}: nq {self.nq}, nv {self.nv}, {len(self.links)} links, {fixed} fixed joints [rad, m]"
        lines += [f"{loop.first} stays with {loop.second}, a {loop.kind}" for loop in self.loops]
        return "\n".join([title, *lines])


def a_model(model: Any) -> Model:
    """The model; raises TypeError for what is none, such as the name of a robot."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        raise TypeError(f"model must be a Model, got {model!r}: load it first, pz.load({os.fspath(model)!r})")
    raise TypeError(f"model must be a Model, as pz.load or pz.ModelBuilder makes one, got {type(model).__name__}")


class _Named(dict[str, Any]):
    """Things by name, where one that is not there is a NameNotFound with the nearest names."""

    __slots__ = ("_noun", "_owner")

    def __init__(self, things: Mapping[str, Any], noun: str, owner: str) -> None:
        super().__init__(things)
        self._noun, self._owner = noun, owner

    def __missing__(self, name: str) -> NoReturn:
        raise NameNotFound(name, self, owner=self._owner, noun=self._noun)


def _plain(values: Sequence[float] | Array) -> str:
    """One number, or several in brackets."""
    told = [f"{x:g}" for x in values]
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def _places(joints: Sequence[Joint], sizes: Sequence[int]) -> tuple[dict[str, int], int]:
    """Where each joint's numbers start, by its name, and how many there are in all."""
    ends = list(accumulate(sizes))
    return {joint.name: end - size for joint, size, end in zip(joints, sizes, ends, strict=True)}, sum(sizes)


@cache
def _nearest() -> "Callable[..., Proximity | Proximities]":
    """`poise.model.proximity.nearest`, which is imported when it is first asked for: to look it up takes a while."""
    from poise.model.proximity import nearest

    return nearest
