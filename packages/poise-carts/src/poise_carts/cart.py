"""The kinds of carts: what their wheels let a planar base do, and what that is to a Tracker."""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import poise as pz
from poise.extending import Array, ArrayLike, Limits, LimitsLike, a_model, finite, finite_positive, positive, whole
from poise_carts.arcs import moved
from poise_carts.wheel import Wheel


@final
@dataclass(frozen=True, slots=True)
class Cart:
    """The wheels of a base that moves on a plane, a planar joint of a model, and how it may go.

    The joint's own x axis leads forwards and its y axis to the left.  Of a cart that does not go sideways the origin is
    in the middle of the axle that is not steered, where it never moves across.
    """

    wheels: tuple[Wheel, ...]
    curvature: float = math.inf
    """The largest curvature of its way [1/m]; infinite for one that turns on the spot."""
    sideways: bool = False
    """Whether it goes sideways too, and turns as it likes."""
    joint: str | None = None
    """The planar joint; None: the only one of the model."""

    def __post_init__(self) -> None:
        if not self.wheels:
            raise pz.InvalidValue("empty", "wheels is empty; a cart has one at least")
        for wheel in self.wheels:
            if not isinstance(wheel, Wheel):
                raise pz.InvalidType("wrong-type", f"wheels must be Wheel, got {wheel!r}")
        names = [wheel.name for wheel in self.wheels]
        if len(set(names)) < len(names):
            raise pz.InvalidValue("inconsistent", f"wheels are called {', '.join(names)}; each must have its own name")
        positive("curvature", self.curvature)

    @classmethod
    def differential(cls, *, track: float, radius: float, speed: float, joint: str | None = None) -> "Cart":
        """Two wheels `track` [m] apart, driven each for itself, with a `radius` [m], up to a `speed` [rad/s].

        Castors follow, and ask for nothing.  Raises ValueError for a number that is not above 0, as all kinds do.
        """
        side = 0.5 * _above_0("track", track)
        return cls((Wheel("left", 0.0, side, radius, speed), Wheel("right", 0.0, -side, radius, speed)), joint=joint)

    @classmethod
    def ackermann(
        cls, *, wheelbase: float, track: float, radius: float, speed: float, steer: float, joint: str | None = None
    ) -> "Cart":
        """A car: a rear axle at the origin, and two steered wheels `wheelbase` [m] before it, both `track` [m] wide.

        `steer` [rad] is the most that a wheel in the middle of the front axle would be steered; the inner one is
        steered a little more.  Raises ValueError likewise, and for a `steer` of pi/2 or more.
        """
        ahead, side = _above_0("wheelbase", wheelbase), 0.5 * _above_0("track", track)
        if not _above_0("steer", steer) < 0.5 * math.pi:
            raise pz.InvalidValue(
                "out-of-range", f"steer is {steer} rad; it must be below pi/2: a tricycle may be steered by pi/2"
            )
        rear = (Wheel("rear_left", 0.0, side, radius, speed), Wheel("rear_right", 0.0, -side, radius, speed))
        front = (("front_left", side), ("front_right", -side))
        steered = (Wheel(name, ahead, y, radius, speed, steered=True) for name, y in front)
        return cls((*rear, *steered), math.tan(steer) / ahead, joint=joint)

    @classmethod
    def tricycle(
        cls, *, wheelbase: float, track: float, radius: float, speed: float, steer: float = 0.5 * math.pi,
        joint: str | None = None,
    ) -> "Cart":  # fmt: skip
        """A rear axle at the origin, `track` [m] wide, and one steered wheel `wheelbase` [m] before it.

        `steer` [rad] is the most that it is steered; with pi/2, as by default, the cart turns on the spot.
        """
        ahead, side = _above_0("wheelbase", wheelbase), 0.5 * _above_0("track", track)
        if _above_0("steer", steer) > 0.5 * math.pi:
            raise pz.InvalidValue("out-of-range", f"steer is {steer} rad; it must be pi/2 at most")
        curvature = math.inf if steer == 0.5 * math.pi else math.tan(steer) / ahead
        rear = (Wheel("rear_left", 0.0, side, radius, speed), Wheel("rear_right", 0.0, -side, radius, speed))
        return cls((*rear, Wheel("front", ahead, 0.0, radius, speed, steered=True)), curvature, joint=joint)

    @classmethod
    def omni(cls, *, distance: float, radius: float, speed: float, wheels: int = 3, joint: str | None = None) -> "Cart":
        """So many omniwheels on a circle, each `distance` [m] from the origin, which roll along the circle; the first
        is ahead."""
        far, count = _above_0("distance", distance), wheels
        whole("wheels", count, 3)
        around = [2.0 * math.pi * k / count for k in range(count)]
        made = (
            Wheel(
                f"omni_{k + 1}", far * math.cos(a), far * math.sin(a), radius, speed,
                heading=a + 0.5 * math.pi, rollers=0.5 * math.pi,
            )
            for k, a in enumerate(around)
        )  # fmt: skip
        return cls(tuple(made), sideways=True, joint=joint)

    @classmethod
    def mecanum(
        cls, *, wheelbase: float, track: float, radius: float, speed: float, joint: str | None = None
    ) -> "Cart":
        """Four wheels with rollers at 45 degrees, whose axes make an X seen from above, around the origin."""
        x, y = 0.5 * _above_0("wheelbase", wheelbase), 0.5 * _above_0("track", track)
        places = (("front_left", x, y), ("front_right", x, -y), ("rear_left", -x, y), ("rear_right", -x, -y))
        made = (Wheel(name, a, b, radius, speed, rollers=math.copysign(0.25 * math.pi, a * b)) for name, a, b in places)
        return cls(tuple(made), sideways=True, joint=joint)

    # Motions ------------------------------------------------------------------------------------------------------

    def rates(self, twist: ArrayLike) -> Array:
        """(..., wheels) how fast each wheel turns [rad/s] with twists (..., 3) of the base along its own axes:
        forwards, to the left [m/s], turning left [rad/s]."""
        at = _twists(twist)
        return np.stack([wheel.rate(at) for wheel in self.wheels], axis=-1)

    def steers(self, twist: ArrayLike) -> Array:
        """(..., wheels) to where each wheel is steered with these twists [rad]; the heading of one that is not."""
        at = _twists(twist)
        return np.stack([wheel.steer(at) for wheel in self.wheels], axis=-1)

    def twist(self, model: pz.Model, q: ArrayLike, v: ArrayLike) -> Array:
        """(..., 3) the twists of the base along its own axes, at configurations q (..., nq) with velocities v
        (..., nv)."""
        joint = self.base(model)
        turn = finite("q", q, model.nq)[..., model.index(joint.name)][..., 2]
        x, y, w = np.moveaxis(finite("v", v, model.nv)[..., model.velocity_index(joint.name)], -1, 0)
        return np.stack([np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x, w], axis=-1)

    # Models -------------------------------------------------------------------------------------------------------

    def base(self, model: pz.Model) -> pz.Joint:
        """The planar joint of a model; raises ValueError where there is none, or several and none is named."""
        a_model(model)
        if self.joint is not None:
            joint = model.joint(self.joint)
            if joint.kind is not pz.JointKind.PLANAR:
                raise pz.InvalidValue(
                    "not-supported", f"a cart moves by a planar joint, and {joint.name!r} is {joint.kind.value}"
                )
            return joint
        planar = [joint for joint in model.joints if joint.kind is pz.JointKind.PLANAR]
        if len(planar) != 1:
            raise pz.InvalidValue(
                "no-such-part",
                f"{model.name} has {len(planar)} planar joints, and a cart moves by one: load the robot with "
                'base="planar", or name the joint of the cart',
            )
        return planar[0]

    def mounted(self, model: pz.Model) -> pz.Model:
        """The model with a frame at the hub of each wheel, `cart_<wheel>`, which `limits` bound.

        Raises ValueError where a frame of that name is elsewhere, such as that of another cart.
        """
        link = self.base(model).child
        for wheel in self.wheels:
            name, hub = _frame(wheel), pz.SE3.from_parts([wheel.x, wheel.y, 0.0])
            if name not in model.frames:
                model = model.with_frame(name, link=link, origin=hub)
            elif model.frame(name).link != link or not np.array_equal(model.frame(name).origin.xyz, hub.xyz):
                raise pz.InvalidValue(
                    "inconsistent",
                    f"the frame {name!r} of {model.name} is not at the hub of {wheel.name!r}: mount the cart on a "
                    "robot without another's wheels",
                )
        return model

    def limits(self) -> list[pz.ToolSpeedLimit]:
        """What keeps the speeds of all wheels, in `limits=` of a Tracker, a path or a plan of a `mounted` model.

        A hub is bounded whichever way it goes.  That is the speed of the wheel where it has no rollers, and less than
        wheels with rollers could do: an omniwheel goes sideways without turning.
        """
        speeds = sorted({wheel.hub_speed for wheel in self.wheels})
        return [
            pz.ToolSpeedLimit([_frame(wheel) for wheel in self.wheels if wheel.hub_speed == most], linear=most)
            for most in speeds
        ]

    def limits_with(self, limits: LimitsLike) -> list[Any]:
        """They and what `limits=` of a call says; raises ValueError where that lets joints leave theirs."""
        given = Limits.of(limits)
        if not given.positions:
            raise pz.InvalidValue("not-supported", "limits=False is not for a path that is driven: leave it out")
        return [*self.limits(), *(given.as_given if isinstance(given.as_given, list) else ())]

    def rolling(self, model: pz.Model) -> list[pz.RollingTask]:
        """What keeps the base from slipping sideways in a Tracker, as a task before all others; empty for a cart that
        goes sideways."""
        if self.sideways:
            return []
        return [pz.RollingTask(self.base(model).child, radius=self.wheels[0].radius, weight=(0.0, 1.0, 0.0))]

    def rolled(self, model: pz.Model, q0: ArrayLike, q1: ArrayLike) -> Array:
        """(nq,) where a step of a Tracker from q0 to q1 (nq,) leads when the base rolls: as far forwards and as far
        round as in the step, on an arc, and round no more than the cart can be steered."""
        before, after = finite("q0", q0, model.nq), finite("q1", q1, model.nq).copy()
        at = model.index(self.base(model).name)
        x, y, turn = after[at] - before[at]
        if not self.sideways:
            ahead = math.cos(before[at][2]) * x + math.sin(before[at][2]) * y
            most = abs(ahead) * self.curvature if ahead else (math.inf if math.isinf(self.curvature) else 0.0)
            after[at] = moved(before[at], [ahead], [float(np.clip(turn, -most, most))])
        return after


def a_cart(cart: Any) -> Cart:
    """The cart; raises TypeError for what is none."""
    if isinstance(cart, Cart):
        return cart
    raise pz.InvalidType(
        "wrong-type", f"cart must be a Cart, as Cart.differential(...) makes one, got {type(cart).__name__}"
    )


def _twists(twist: ArrayLike) -> Array:
    at = finite("twist", twist)
    if at.shape[-1:] != (3,):
        raise pz.ShapeError(f"twist must have shape (..., 3), forwards, to the left and turning, got {at.shape}")
    return at


def _above_0(name: str, value: float) -> float:
    finite_positive(name, value)
    return float(value)


def _frame(wheel: Wheel) -> str:
    return f"cart_{wheel.name}"
