"""drake: `DifferentialInverseKinematicsSystem`, one quadratic programme a step (C++)."""

from typing import Any

import numpy as np
from judge import Array
from pydrake.common.value import Value
from pydrake.math import RigidTransform
from pydrake.multibody.inverse_kinematics import DifferentialInverseKinematicsSystem
from pydrake.multibody.math import SpatialVelocity
from pydrake.planning import (
    CollisionCheckerParams,
    DofMask,
    JointLimits,
    RobotDiagramBuilder,
    SceneGraphCollisionChecker,
)
from pydrake.systems.framework import BusValue
from scenes import HAND, Scene, urdf_with_shapes

SEEN = 0.05
"""Pairs that are nearer than this and what is asked are constrained [m]."""
MARGIN = 1e-3
"""From a joint's limit, where its speed begins to be taken back; at the limit it is 0 [rad]."""
SPEED = 100.0
"""Of the hand, more than it ever has [m/s, rad/s]."""


class Guarded:
    """Its velocity times dt."""

    def __init__(self, scene: Scene) -> None:
        kind = DifferentialInverseKinematicsSystem
        builder = RobotDiagramBuilder()
        text = urdf_with_shapes(scene, obstacles=True, capsule="drake")
        text = text.replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" ', 1)
        (arm,) = builder.parser().AddModelsFromString(text, "urdf")
        plant = builder.plant()
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("panda_link0"))
        plant.Finalize()
        apart = CollisionCheckerParams()
        apart.model, apart.robot_model_instances = builder.Build(), [arm]
        apart.edge_step_size = 0.1
        checker = SceneGraphCollisionChecker(apart)
        filter_pairs(checker, scene)
        recipe = kind.Recipe()
        config = kind.LeastSquaresCost.Config()
        recipe.AddIngredient(kind.LeastSquaresCost(config))
        config = kind.CollisionConstraint.Config()
        config.safety_distance, config.influence_distance = scene.asked, scene.asked + SEEN
        recipe.AddIngredient(kind.CollisionConstraint(config))
        config = kind.JointVelocityLimitConstraint.Config()
        config.min_margin, config.influence_margin = 0.0, MARGIN
        recipe.AddIngredient(kind.JointVelocityLimitConstraint(config, JointLimits(plant)))
        world = plant.world_frame().scoped_name().get_full()
        most = SpatialVelocity(np.full(3, SPEED), np.full(3, SPEED))
        self.system = kind(recipe, world, checker, DofMask.MakeFromModel(plant, arm), scene.dt, 1.0, most)
        self.context = self.system.CreateDefaultContext()
        self.hand = plant.GetFrameByName(HAND).scoped_name().get_full()
        self.q, self.dt = scene.start.copy(), scene.dt

    def pack(self, goal: Array) -> tuple[Any, ...]:
        """The pose by the name of its frame."""
        bus = BusValue()
        bus.Set(self.hand, Value(RigidTransform(goal)))
        return (Value(bus),)

    def step(self, goal: Any) -> None:
        """One velocity."""
        context = self.context
        self.system.get_input_port_position().FixValue(context, self.q)
        self.system.get_input_port_nominal_posture().FixValue(context, self.q)
        self.system.get_input_port_desired_cartesian_poses().FixValue(context, goal)
        self.q = self.q + self.dt * self.system.get_output_port_commanded_velocity().Eval(context)

    def last(self) -> Array:
        """What it went."""
        return self.q.copy()


def filter_pairs(checker: Any, scene: Scene) -> None:
    """Leave out the pairs of links that need no look."""
    plant = checker.plant()
    bodies = {name: plant.GetBodyByName(name).index() for name in {link for link, _ in scene.capsules.values()}}
    for pair in scene.arm.disabled:
        a, b = (bodies.get(name) for name in pair)
        if a is not None and b is not None:
            checker.SetCollisionFilteredBetween(a, b, True)
