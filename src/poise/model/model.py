"""The model: an immutable kinematic tree, parents before children, over flat arrays.

A configuration `q` has `nq` numbers and a velocity `v` has `nv`; they differ where a joint holds a unit quaternion.
The order is the file's, parents first; fixed joints and joints that mimic others take no place.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import batch_of, not_negative
from poise.common.errors import FrameNotFound, InvalidType, InvalidValue, NameNotFound
from poise.model.configurations import ConfigurationSpace
from poise.model.frame import WORLD, Frame
from poise.model.joint import Joint
from poise.model.loop import Loop
from poise.model.swing import SwingTwist
from poise.quaternions import quaternion_matrix
from poise.spatial import SE3, frozen, pose_of

if TYPE_CHECKING:
    from poise.geometry.meshes import LinkShape
    from poise.geometry.shapes import Shape
    from poise.geometry.visuals import Visual
    from poise.geometry.world import World
    from poise.model.closing import Assembly
    from poise.model.fitting import ShapeFit
    from poise.model.kinematic_class import KinematicClass
    from poise.model.looped import LoopLike
    from poise.model.mechanism import Mechanism
    from poise.model.proximity import Proximities, Proximity
    from poise.model.tree import Tree

_IMMUTABLE = (
    "a Model does not change; make another with its chain, lock or with_limits, with ModelBuilder or poise.load"
)
_I = SE3.identity()


@final
class Model(ConfigurationSpace):
    """An immutable kinematic tree.  Make one with `poise.load`, `poise.ModelBuilder` or `poise.from_dh`.

    Threads can share it.  What is prepared from it is kept beside it, and does not go with it into a pickle or a copy.
    """

    links: tuple[str, ...]
    """Every link, parents before children."""
    groups: Mapping[str, tuple[str, ...]]
    """Named sets of joints, from an SRDF."""
    postures: Mapping[str, Array]
    """Named configurations (nq,), from an SRDF or the keyframes of an MJCF."""
    end_effectors: Mapping[str, tuple[str, ...]]
    """Links at which an arm or a leg ends, from an SRDF, and the joints beyond each that are fingers; none: all are."""
    masses: Mapping[str, tuple[float, Array]]
    """The mass [kg] and the centre of mass (3,) [m], in the link's frame, of each link that was given one."""
    inertias: Mapping[str, Array]
    """The inertia (3, 3) [kg m^2] about that centre, along the axes of the link; a mass that is left out is a point."""
    mass: float
    """The mass of all links together [kg]; 0 where none was given one."""
    shapes: "Mapping[str, tuple[LinkShape, ...]]"
    """What of each link may collide, in the link's frame, and of what stands in the world under "world"; links without
    such shapes are left out."""
    visuals: "Mapping[str, tuple[Visual, ...]]"
    """What is drawn of each link, in the link's frame, and of what stands in the world under "world"; links of which
    nothing is drawn are left out.  Meshes in files are not opened."""
    disabled: frozenset[frozenset[str]]
    """Pairs of links that need never be looked at for a collision between them."""
    loops: tuple[Loop, ...]
    """What closes the chains that were cut to make it a tree: frames that stay together.  `solve` and `Tracker` keep
    them closed; `home`, `sample` and whatever else tells a q say nothing of them."""
    joint_costs: Mapping[str, float]
    """What motion of a joint costs, as `joint_costs` of `poise.solve` says; of those that are left out 1."""
    queries: dict[Any, Any]
    """What was prepared for it: for each frame, and under None for the centre of mass, by `poise.model.kinematics`."""
    _frames: dict[str, Frame]

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
        inertias: Mapping[str, Array] | None = None,
        shapes: "Mapping[str, Sequence[LinkShape]] | None" = None,
        visuals: "Mapping[str, Sequence[Visual]] | None" = None,
        disabled: Iterable[frozenset[str]] = (),
        loops: Iterable[Loop] = (),
        still: Iterable[str] = (),
        joint_costs: Mapping[str, float] | None = None,
    ) -> None:
        """For builders, which check what they are given; see `poise.ModelBuilder`."""
        own = vars(self)  # for its attributes themselves take nothing
        super().__init__(name, joints, home, still)
        own["links"] = tuple(links)
        own["_frames"] = {link: Frame(name=link, link=link) for link in self.links} | {f.name: f for f in frames}
        self._frames.setdefault(WORLD, Frame(name=WORLD, link=WORLD))
        own["end_effectors"] = MappingProxyType({k: tuple(names) for k, names in (end_effectors or {}).items()})
        named = {k: tuple(names) for k, names in (groups or {}).items()}
        own["groups"] = MappingProxyType(_Named(named, "group", name))
        own["postures"] = MappingProxyType(_Named({k: frozen(q) for k, q in (postures or {}).items()}, "posture", name))
        own["masses"] = MappingProxyType({k: (mass, frozen(centre)) for k, (mass, centre) in (masses or {}).items()})
        own["inertias"] = MappingProxyType({k: frozen(matrix) for k, matrix in (inertias or {}).items()})
        own["mass"] = math.fsum(mass for mass, _ in self.masses.values())
        own["shapes"] = MappingProxyType({k: tuple(those) for k, those in (shapes or {}).items() if those})
        own["visuals"] = MappingProxyType({k: tuple(those) for k, those in (visuals or {}).items() if those})
        own["disabled"] = frozenset(disabled)
        own["loops"] = tuple(loops)
        own["joint_costs"] = MappingProxyType(dict(joint_costs or {}))
        own["queries"] = {}

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot set {name!r} of {self.name}: {_IMMUTABLE}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r} of {self.name}: {_IMMUTABLE}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Model, **self._carried()), (self.name, self.joints, self.links, self._own_frames())

    # What there is -----------------------------------------------------------------------------------------------

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that a task may name: links, then sites and tools, and the world."""
        return tuple(self._frames)

    @cached_property
    def tip(self) -> str:
        """The last link of the longest chain, before the fingers: the hand of an arm; see `poise.model.tip`."""
        from poise.model.tip import tip_of

        return tip_of(self)

    def frame(self, name: str) -> Frame:
        """The frame `name`; raises FrameNotFound, with the nearest names."""
        try:
            return self._frames[name]
        except KeyError:
            raise FrameNotFound(name, self._frames, owner=self.name) from None

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

    @cached_property
    def shape_fit(self) -> "ShapeFit":
        """What distances are measured to in place of meshes, which are read when this is first asked for: their convex
        hulls, and how far each stands out of its mesh; printed, it is a table.

        Raises as `poise.fit_shapes`, which also fits capsules.
        """
        from poise.model.fitting import fit_shapes

        return fit_shapes(self, hulls=True)

    @cached_property
    def fitted_shapes(self) -> "Mapping[str, tuple[Shape, ...]]":
        """The shapes with convex hulls in place of meshes, and with shapes around ellipsoids; raises as `shape_fit`,
        which says how well hulls fit."""
        from poise.model.fitting import measured

        return measured(self)

    # Kinematics --------------------------------------------------------------------------------------------------

    @cached_property
    def _free(self) -> npt.NDArray[np.bool_]:
        """(nv,) which velocities may be other than 0: those of all joints that are not `still`."""
        free = np.ones(self.nv, dtype=np.bool_)
        for name in self.still:
            free[self.velocity_index(name)] = False
        free.flags.writeable = False
        return free

    @cached_property
    def _costs(self) -> Array:
        """(nv,) the `joint_costs` of each velocity."""
        costs = np.ones(self.nv)
        for name, cost in self.joint_costs.items():
            costs[self.velocity_index(name)] = cost
        return frozen(costs)

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
            raise InvalidType(
                "not-a-sequence", f"frames must be a sequence of names; put {frames!r} in a list, or call pose"
            )
        names = self.frames if frames is None else frames
        return pose_of(all_poses(self, [self.frame(name) for name in names], self.check_q(q)))

    def jacobian(
        self,
        frame: str,
        q: ArrayLike,
        *,
        reference: Literal["world_aligned", "local", "world"] = "world_aligned",
        actuated: Sequence[str] | None = None,
    ) -> Array:
        """(..., 6, nv) Jacobian of `frame` at `q` (..., nq): its twist is `J @ v`, linear rows first.

        `reference="world_aligned"` is the velocity of the frame's origin along the world's axes, "local" the same
        along the frame's own axes, "world" the spatial twist, of the point that passes the world's origin.  With
        `actuated` joints the columns are theirs, (..., 6, motors), the loops taking all others along; see `mechanism`.
        """
        from poise.model.kinematics import frame_jacobians

        if reference not in ("world_aligned", "local", "world"):
            raise InvalidValue(
                "unknown-word", f"reference must be 'world_aligned', 'local' or 'world', got {reference!r}"
            )
        q = self.check_q(q)
        jacobians, poses = frame_jacobians(self, self.frame(frame), q)
        if actuated is not None:
            from poise.model.mechanism import Mechanism

            flat = [Mechanism(self, one, actuated).transmission for one in q.reshape(-1, self.nq)]
            moved = np.array(flat).reshape(*q.shape[:-1], self.nv, -1)
            jacobians = jacobians @ moved
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

    def gravity_torques(
        self, q: ArrayLike, *, wrenches: Mapping[str, ArrayLike] | None = None, gravity: ArrayLike = (0.0, 0.0, -9.81)
    ) -> Array:
        """(..., nv) what the joints must give, forces [N] and torques [N m], to hold the model still at `q` (..., nq).

        It is inverse dynamics at rest: a floating base's part is what the ground must give.  `wrenches` (..., 6) act
        on frames from outside, force [N] and moment about the frame's origin [N m] along the world's axes; `gravity`
        (3,) is in m/s2.  Raises ValueError if no link has a mass, FrameNotFound for an unknown frame.
        """
        from poise.model.kinematics import holding_torques

        return holding_torques(self, self.check_q(q), {} if wrenches is None else wrenches, gravity)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
    ) -> Array:
        """(..., nv) what the joints must give, forces [N] and torques [N m], for a motion that passes `q` (..., nq)
        with this velocity and acceleration (..., nv): M(q) a + C(q, v) v, and `gravity_torques`.

        Masses and `inertias` of links are all that counts: no friction, and no rotors of motors.  Otherwise, and in
        what it raises, it is as `gravity_torques`; `model.inverse_dynamics(*path.at(t))` is that of a timed path.
        """
        from poise.model.dynamics import motion_torques

        at, v, a = self.check_q(q), self.check_v(velocity, "velocity"), self.check_v(acceleration, "acceleration")
        shape = batch_of(q=at, velocity=v, acceleration=a)
        rows = [np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (at, v, a)]
        moved = motion_torques(self, *rows).reshape(*shape, self.nv)
        return moved + self.gravity_torques(at, wrenches=wrenches, gravity=gravity)

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
            raise InvalidValue("unknown-word", f"rows must be 'pose', 'position' or 'rotation', got {rows!r}")
        at = self.frame(frame)
        found = frame_manipulability(self, at, self.check_q(q), twists(self, at, rows))
        return found if found.ndim else float(found)

    def kinematic_class(self, frame: str) -> "KinematicClass":
        """What kind of arm moves `frame` against the world, in words, and the numbers that decide.

        Of six joints that turn it is a "spherical wrist" or "spherical shoulder", where the last or the first three
        axes meet in a point, "three parallel axes", or else "general"; `almost` says what it would be but for rounding,
        by a share of its size, or an angle [rad], of 2e-3 at most.  Of other chains it says how many joints turn and
        slide.  Raises FrameNotFound for an unknown frame.
        """
        from poise.model.kinematic_class import kinematic_class

        return kinematic_class(self.tree, self.frame(frame))

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
        self, q: ArrayLike, world: "World | None" = None, *, min_distance: float = 0.0, self_collision: bool = True
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
        from poise.model.parts import between

        return Model(**between(self, self._own_frames(), base, tip))

    def lock(self, values: Mapping[str, ArrayLike] | None = None, /, **joints: ArrayLike) -> "Model":
        """The model with the named joints fixed at the given positions; joints that mimic them are fixed too.

        Raises JointNotFound for an unknown joint, ValueError for a position outside the joint's limits.
        """
        from poise.model.parts import locked

        return Model(**locked(self, self._own_frames(), {**(values or {}), **joints}))

    def _locked_at(self, positions: Mapping[str, ArrayLike]) -> "Model":
        """It with joints fixed at positions that need not be within their limits; itself without any."""
        if not positions:
            return self
        from poise.model.parts import locked

        return Model(**locked(self, self._own_frames(), positions, limits=False))

    def with_shapes(
        self, shapes: "Mapping[str, LinkShape | Sequence[LinkShape]]", disabled: Iterable[tuple[str, str]] | None = None
    ) -> "Model":
        """The model with these shapes on its links, in the links' frames, in place of all that it has.

        To add some, name those that it has too: `model.with_shapes({**model.shapes, "hand": (*model.shapes["hand"],
        tool)})`.
        `disabled` are pairs of links that need never be looked at; None: those that it has.  Raises FrameNotFound for
        an unknown link, TypeError for what is no shape, ValueError for what is no pair.
        """
        from poise.model.changes import shaped

        return self._with(**shaped(self, shapes, disabled))

    def with_frame(self, name: str, *, link: str, origin: SE3 | ArrayLike = _I) -> "Model":
        """The model with one more frame, `name`, at the pose `origin` in `link`, which may be any frame: a tool.

        Raises ModelError for a name that is there already, FrameNotFound for an unknown `link`.
        """
        from poise.model.changes import another_frame

        return self._with(frames=[*self._own_frames(), another_frame(self, name, link, origin)])

    def with_loops(
        self,
        loops: "Iterable[LoopLike]",
        *,
        joints: Mapping[str, str] | None = None,
        actuated: Sequence[str] = (),
    ) -> "Model":
        """The model with these loops more: each a `Loop`, or two names and perhaps a kind, `("rod", "plate", "hinge")`.

        A name is a frame's, or a joint's for the link that it moves.  `joints` are those that are of another kind than
        the file says, by name or pattern: `{"ball_*": "spherical", "knee": "universal"}`.  A universal joint becomes
        two hinges, about x and then y of its frame, or about what its kind says, as "universal_zx"; neither it nor a
        ball has limits.  `actuated` are the joints that have motors, the group of that name.
        Raises FrameNotFound and JointNotFound for unknown names, ValueError and ModelError for what is no loop.
        """
        from poise.model.looped import looped

        return looped(self, loops, joints, actuated)

    def close(
        self,
        positions: "Mapping[str, float] | ArrayLike",
        *,
        actuated: Sequence[str] | None = None,
        q0: ArrayLike | None = None,
    ) -> "Assembly":
        """Forward kinematics of a mechanism: where all joints stand with its motors at `positions`, loops closed.

        `positions` are by name, or one for each of the `actuated` joints, which are the group of that name unless they
        are given.  It is the assembly of `q0`, or of `home`, wherever motors that are led from there pass no dead
        point, else another.  Raises JointNotFound for an unknown name, ValueError where nothing says which joints have
        motors, and for a model without loops.
        """
        from poise.model.closing import Closer, start_of

        closer = Closer(self, actuated)
        return closer.near(closer.positions(positions), start_of(self, q0))

    def assemblies(
        self,
        positions: "Mapping[str, float] | ArrayLike",
        *,
        actuated: Sequence[str] | None = None,
        q0: ArrayLike | None = None,
        starts: int = 200,
        seed: int = 0,
    ) -> Array:
        """(k, nq) the ways in which the mechanism can be put together with its motors at `positions`, see `close`.

        They are those that `starts` random configurations lead to, within the limits, the nearest to `q0` first: there
        may be others.  Rods that only turn about themselves do not tell two apart.
        """
        from poise.model.closing import assemblies

        return assemblies(self, positions, actuated, q0, starts, seed)

    def mechanism(self, q: ArrayLike, *, actuated: Sequence[str] | None = None) -> "Mechanism":
        """What its motors move at a closed `q` (nq,), with which forces, and whether there is a dead point.

        Raises JointNotFound for an unknown name, ValueError where nothing says which joints have motors.
        """
        from poise.model.mechanism import Mechanism

        return Mechanism(self, q, actuated)

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
        from poise.model.changes import limited, refuse_narrower

        limits, velocity = {} if limits is None else limits, {} if velocity is None else velocity
        made = self._with(joints=limited(self, limits, velocity))
        refuse_narrower(made, limits, velocity)
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

    def with_payload(
        self, mass: float, *, link: str, centre: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> "Model":
        """The model with `mass` [kg] more on `link`, which may be any frame, at `centre` (3,) [m] in it.

        Its `inertia` (3, 3) [kg m^2] is about its centre, along the axes of `link`; without, it is a point.  The centre
        of mass moves, and the inertia of the link grows.  Raises FrameNotFound for an unknown `link`, ValueError for a
        mass that is not a finite number above 0.
        """
        from poise.model.changes import loaded

        return self._with(**loaded(self, mass, link, centre, inertia))

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

    def _carried(self) -> dict[str, Any]:
        """What a model has besides its joints, links and frames, as its constructor takes it."""
        return {
            "home": self.home,
            "groups": dict(self.groups),
            "postures": dict(self.postures),
            "end_effectors": dict(self.end_effectors),
            "masses": dict(self.masses),
            "inertias": dict(self.inertias),
            "shapes": dict(self.shapes),
            "visuals": dict(self.visuals),
            "disabled": self.disabled,
            "loops": self.loops,
            "still": self.still,
            "joint_costs": dict(self.joint_costs),
        }

    def _moving(self, still: frozenset[str], joint_costs: Mapping[str, float]) -> "Model":
        """The model whose joints `still` nothing moves, at these costs; all else is shared with it."""
        made = object.__new__(Model)
        vars(made).update(
            {name: value for name, value in vars(self).items() if name not in ("tree", "_free", "_standing", "_costs")}
        )
        vars(made).update(still=still, joint_costs=MappingProxyType(dict(joint_costs)), queries={})
        return made

    # Details -----------------------------------------------------------------------------------------------------

    def _own_frames(self) -> list[Frame]:
        """The frames that are neither a link's nor the world's."""
        return [frame for frame in self._frames.values() if frame.name != frame.link]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from poise.model.notebook import html_of

        return html_of(self)

    def __repr__(self) -> str:
        loops = f", {len(self.loops)} loop{'s' * (len(self.loops) > 1)}" if self.loops else ""
        return f"Model({self.name!r}, {len(self.joints)} joints, nq={self.nq}, nv={self.nv}{loops})"

    def __str__(self) -> str:
        from poise.model.notebook import table_of

        return table_of(self)


def a_model(model: Any) -> Model:
    """The model; raises TypeError for what is none, such as the name of a robot."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        raise InvalidType(
            "not-a-model", f"model must be a Model, got {model!r}: load it first, pz.load({os.fspath(model)!r})"
        )
    raise InvalidType(
        "not-a-model", f"model must be a Model, as pz.load or pz.ModelBuilder makes one, got {type(model).__name__}"
    )


class _Named(dict[str, Any]):
    """Things by name, where one that is not there is a NameNotFound with the nearest names."""

    __slots__ = ("_noun", "_owner")

    def __init__(self, things: Mapping[str, Any], noun: str, owner: str) -> None:
        super().__init__(things)
        self._noun, self._owner = noun, owner

    def __missing__(self, name: str) -> NoReturn:
        raise NameNotFound(name, self, owner=self._owner, noun=self._noun)


@cache
def _nearest() -> "Callable[..., Proximity | Proximities]":
    """`poise.model.proximity.nearest`, which is imported when it is first asked for: to look it up takes a while."""
    from poise.model.proximity import nearest

    return nearest
