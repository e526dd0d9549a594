"""Poses, Jacobians and centres of mass of installed robots equal Pinocchio's."""

import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.common.array import Array
from poise.common.errors import ModelError, ModelWarning
from poise.io.urdf import read_urdf
from poise.model.model import Model

pin = pytest.importorskip("pinocchio")


def robots() -> dict[str, Path]:
    """The URDF files that example-robot-data installs, by their path among its robots."""
    try:
        root = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
    except PackageNotFoundError:
        return {}
    return {str(file.relative_to(root)): file for file in sorted(root.rglob("*.urdf"))}


FILES = robots()
REFUSED = {
    "ur_description/urdf/ur3.urdf": "has no <link>",
}
"""Files that are no kinematic tree; Pinocchio does not take them either."""
BACKWARD = {
    "alex_description/urdf/alex_psyonic_hands.urdf",
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_full_v2_box.urdf",
}
"""Files in which a joint mimics one that Pinocchio has not met yet, or that is not there.

It takes them with independent joints only.
"""
HUMANOIDS = (
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "icub_description/robots/icub.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos_data/robots/talos_reduced.urdf",
)
EXACT = {"rtol": 0.0, "atol": 1e-12}
pytestmark = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")


@cache
def ours(name: str, base: str = "fixed") -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what a reader passes over is not the matter here
        return read_urdf(FILES[name], base=base)  # type: ignore[arg-type]


class Twin:
    """Pinocchio's model of a file beside ours."""

    def __init__(self, name: str, *, floating: bool = False) -> None:
        self.ours = ours(name, "floating" if floating else "fixed")
        root = [pin.JointModelFreeFlyer()] if floating else []
        self.theirs: Any = pin.buildModelFromUrdf(str(FILES[name]), *root, mimic=name not in BACKWARD)
        self.data: Any = self.theirs.createData()
        # The first joint is the world, the next a free root; a joint that mimics another has no velocity of its own.
        own = range(2 if floating else 1, self.theirs.njoints)
        self.joints = {self.theirs.names[i]: self.theirs.joints[i] for i in own if self.theirs.joints[i].nv}
        self.frames = {frame.name: i for i, frame in enumerate(self.theirs.frames) if frame.type == pin.FrameType.BODY}

    def configuration(self, q: Array) -> Array:
        """Our `q`, as Pinocchio has it; its turns without limits are a cosine and a sine."""
        named, out = self.ours.named(q), pin.neutral(self.theirs)
        for name, joint in self.joints.items():
            x = named[name]
            out[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(x), np.sin(x)) if joint.nq == 2 else x
        if "root.x" in named:
            x, y, z, qw, qx, qy, qz = q[self.ours.index("root")]
            out[:7] = x, y, z, qx, qy, qz, qw
        return out

    def velocities(self, q: Array) -> Array:
        """(their nv, our nv) matrix that takes our velocities at `q` to Pinocchio's."""
        out = np.zeros((self.theirs.nv, self.ours.nv))
        for name, joint in self.joints.items():
            source, function = self.ours.follows(self.ours.joint(name))
            out[joint.idx_v, self.ours.velocity_index(source).start] = function.derivative(0.0)
        if "root" in self.ours.joint_names:
            # Theirs lies along the axes of the base, ours along the world's.
            back = self.ours.pose(self.ours.links[0], q).rotation.matrix().T
            root = self.ours.velocity_index("root").start
            out[0:3, root : root + 3] = out[3:6, root + 3 : root + 6] = back
        return out

    def check(self, q: Array) -> None:
        """Every link's pose and Jacobian."""
        spread = self.velocities(q)
        pin.framesForwardKinematics(self.theirs, self.data, self.configuration(q))
        if self.theirs.nv:  # Pinocchio crashes on Jacobians without columns
            pin.computeJointJacobians(self.theirs, self.data, self.configuration(q))
        for link in self.ours.links:
            frame = self.frames[link]
            theirs = np.zeros((6, 0))
            if self.theirs.nv:
                theirs = pin.getFrameJacobian(self.theirs, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            np.testing.assert_allclose(
                self.ours.pose(link, q).matrix(), self.data.oMf[frame].homogeneous, **EXACT, err_msg=link
            )
            np.testing.assert_allclose(self.ours.jacobian(link, q), theirs @ spread, **EXACT, err_msg=link)

    def check_mass(self, q: Array) -> None:
        """The centre of mass and its Jacobian; theirs leaves out what is fixed to the world."""
        still, moving = self.theirs.inertias[0], pin.computeTotalMass(self.theirs)
        np.testing.assert_allclose(self.ours.mass, still.mass + moving, rtol=1e-12)
        centre, jacobian = np.zeros(3), np.zeros((3, self.theirs.nv))
        if moving:
            centre = pin.centerOfMass(self.theirs, self.data, self.configuration(q))
            jacobian = pin.jacobianCenterOfMass(self.theirs, self.data, self.configuration(q))
        expected = (still.mass * still.lever + moving * centre) / self.ours.mass
        np.testing.assert_allclose(self.ours.centre_of_mass(q), expected, **EXACT)
        expected = moving / self.ours.mass * jacobian @ self.velocities(q)
        np.testing.assert_allclose(self.ours.centre_of_mass_jacobian(q), expected, **EXACT)
        if moving:
            torques = pin.computeGeneralizedGravity(self.theirs, self.data, self.configuration(q)) @ self.velocities(q)
            np.testing.assert_allclose(self.ours.gravity_torques(q), torques, rtol=0.0, atol=1e-12 * 9.81 * moving)


@pytest.mark.parametrize("name", HUMANOIDS)
def test_torques_at_rest_under_wrenches_are_those_of_inverse_dynamics(name: str) -> None:
    twin = Twin(name, floating=True)
    q = twin.ours.sample(seed=2)
    rng, outside = np.random.default_rng(0), [pin.Force.Zero() for _ in range(twin.theirs.njoints)]
    wrenches = {link: 20.0 * rng.normal(size=6) for link in rng.choice(twin.ours.links[1:], 3, replace=False)}
    pin.framesForwardKinematics(twin.theirs, twin.data, twin.configuration(q))
    for link, wrench in wrenches.items():
        frame = twin.theirs.frames[twin.frames[link]]
        turned = pin.SE3(twin.data.oMf[twin.frames[link]].rotation.T, np.zeros(3)).act(pin.Force(wrench))
        outside[frame.parentJoint] += frame.placement.act(turned)
    rest = np.zeros(twin.theirs.nv)
    theirs = pin.rnea(twin.theirs, twin.data, twin.configuration(q), rest, rest, outside) @ twin.velocities(q)
    np.testing.assert_allclose(twin.ours.gravity_torques(q, wrenches=wrenches), theirs, rtol=0.0, atol=1e-10)


def test_there_are_robots_enough() -> None:
    assert len(FILES) - len(REFUSED) >= 20
    assert FILES.keys() >= REFUSED.keys() | BACKWARD | set(HUMANOIDS)


@pytest.mark.parametrize("name", sorted(FILES.keys() - REFUSED.keys()))
def test_poses_and_jacobians_of_every_link(name: str) -> None:
    twin = Twin(name)
    moving = {joint for joint in twin.ours.joint_names if twin.ours.joint(joint).nv}
    assert moving <= twin.joints.keys(), "a joint of ours that Pinocchio does not have would not be checked"
    for q in (twin.ours.home, *twin.ours.sample(3, seed=7)):
        twin.check(q)


@pytest.mark.parametrize("name", sorted(FILES.keys() - REFUSED.keys()))
def test_centres_of_mass(name: str) -> None:
    twin = Twin(name)
    assert twin.ours.mass
    for q in (twin.ours.home, *twin.ours.sample(3, seed=7)):
        twin.check_mass(q)


@pytest.mark.parametrize("name", HUMANOIDS)
def test_floating_humanoids(name: str) -> None:
    twin = Twin(name, floating=True)
    assert twin.ours.nv == twin.theirs.nv
    for q in (twin.ours.home, *twin.ours.sample(3, seed=11)):
        twin.check(q)
        twin.check_mass(q)


@pytest.mark.parametrize("name", sorted(REFUSED.keys() & FILES.keys()))
def test_what_is_no_tree_is_refused_by_both(name: str) -> None:
    with pytest.raises(ModelError, match=REFUSED[name]):
        ours(name)
    with pytest.raises(ValueError, match=r"mimic joint|valid URDF"):
        pin.buildModelFromUrdf(str(FILES[name]), mimic=True)
