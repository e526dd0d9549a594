"""A robot of poise in MuJoCo: links with masses, a position servo at each joint, and soles that touch a floor."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

import poise as pz


class Simulated:
    """A model that falls unless its servos hold it: torque = stiffness (command - q) - damping dq/dt, up to `most`."""

    def __init__(
        self,
        model: pz.Model,
        q: Any,
        masses: Mapping[str, tuple[float, Any]],
        *,
        stiffness: float,
        damping: float,
        most: float,
        soles: Mapping[str, Any] | None = None,
        dt: float = 0.001,
    ) -> None:
        """`masses` are kg and the centre in the link's frame, `soles` the corners of a foot in the link's."""
        spec = mujoco.MjSpec()
        spec.option.timestep = dt
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], friction=[1.0, 0.005, 0.0001])
        bodies = {model.joints[0].parent: spec.worldbody}
        for joint in model.joints:
            place = joint.origin
            body = bodies[joint.child] = bodies[joint.parent].add_body(name=joint.child, pos=place.xyz, quat=place.wxyz)
            if joint.kind == "floating":
                body.add_freejoint(name=joint.name)
            elif joint.nq == 1:
                slides = joint.kind == "prismatic"
                kind = mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE
                body.add_joint(name=joint.name, type=kind, axis=joint.axis, armature=0.05)
                motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                motor.gainprm[0], motor.biastype = stiffness, mujoco.mjtBias.mjBIAS_AFFINE
                motor.biasprm[:3] = [0.0, -stiffness, -damping]
                motor.forcelimited, motor.forcerange = True, [-most, most]
            if joint.child in masses:
                mass, centre = masses[joint.child]
                body.explicitinertial = True
                body.mass, body.ipos, body.inertia = mass, centre, np.full(3, mass * 0.05**2)
            for corner in (soles or {}).get(joint.child, ()):
                body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.005, 0, 0], pos=corner, mass=0.0)
        self.model, self._sim = model, spec.compile()
        self.data = mujoco.MjData(self._sim)
        self._free = 7 if model.joints[0].kind == "floating" else 0
        self._places = [(self._sim.joint(name).qposadr[0], model.index(name).start) for name in self._hinges]
        if self._free:
            self.data.qpos[:7] = q[:7]
        for there, here in self._places:
            self.data.qpos[there] = q[here]
        self.command = np.array(q, dtype=float)
        mujoco.mj_forward(self._sim, self.data)

    @property
    def _hinges(self) -> list[str]:
        return [joint.name for joint in self.model.joints if joint.nq == 1]

    @property
    def q(self) -> Any:
        """(nq,) where the robot is."""
        out = np.empty(self.model.nq)
        out[: self._free] = self.data.qpos[: self._free]
        for there, here in self._places:
            out[here] = self.data.qpos[there]
        return out

    def go(self, command: Any, seconds: float, torques: Any = None) -> Any:
        """(nq,) where the robot is after so long, its servos at `command` (nq,), with `torques` (nv,) beside them."""
        for name in self._hinges:
            self.data.actuator(name).ctrl[:] = command[self.model.index(name).start]
            if torques is not None:
                self.data.joint(name).qfrc_applied[:] = torques[self.model.velocity_index(name)]
        mujoco.mj_step(self._sim, self.data, nstep=round(seconds / self._sim.opt.timestep))
        return self.q
