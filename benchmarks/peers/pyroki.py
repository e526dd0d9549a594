"""PyRoki on JAX's CPU: its pose cost with analytic derivatives, and the Levenberg-Marquardt of jaxls, in single
precision, for jaxls mixes up its whole numbers when JAX is set to double."""

import io
from typing import Any

import jax
import jaxlie
import jaxls
import numpy as np
import pyroki
import yourdfpy
from jax import numpy as jnp
from judge import Array
from loguru import logger
from robots import Robot

from peers.pool import restarted

SIZE = 100
"""Problems of one call of what was compiled."""
STEPS = 20
ASKED = 1e-4
"""The tolerance [m] and [rad]: single precision reaches no 1e-6."""


class PyRoki:
    """A compiled batch of solves with a cost for limits, whose answers are clipped to the limits."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        logger.disable("jaxls"), logger.disable("pyroki")
        self.robot, accepted = robot, max(tolerance, ASKED)
        arm = pyroki.Robot.from_urdf(yourdfpy.URDF.load(io.BytesIO(robot.bare().encode()), load_meshes=False))
        names = list(arm.joints.actuated_names)
        self.order = [names.index(name) for name in robot.judge.names]
        self.back = np.argsort(self.order)
        tip = jnp.array(arm.links.names.index(robot.tips[0]), dtype=jnp.int32)
        lower, upper = robot.judge.lower[self.back], robot.judge.upper[self.back]

        def solve(matrix: Any, q0: Any) -> Any:
            target, variable = jaxlie.SE3.from_matrix(matrix), arm.joint_var_cls(0)
            costs = [
                pyroki.costs.pose_cost_analytic_jac(arm, variable, target, tip, pos_weight=1.0, ori_weight=1.0),
                pyroki.costs.limit_cost(arm, variable, weight=10.0),
            ]
            found = (
                jaxls.LeastSquaresProblem(costs, [variable])
                .analyze()
                .solve(
                    initial_vals=jaxls.VarValues.make([variable.with_value(q0)]),
                    verbose=False,
                    linear_solver="dense_cholesky",
                    termination=jaxls.TerminationConfig(max_iterations=STEPS, early_termination=False),
                    trust_region=jaxls.TrustRegionConfig(lambda_initial=0.01),
                )
            )
            q = jnp.clip(found[variable], lower, upper)
            reached = jaxlie.SE3(arm.forward_kinematics(q)[tip])
            left = target.inverse() @ reached
            apart = jnp.maximum(jnp.linalg.norm(left.translation()), jnp.linalg.norm(left.rotation().log()))
            return q, apart <= accepted

        self.compiled = jax.jit(jax.vmap(solve))

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """The arrays themselves."""
        return targets[:, 0], starts

    def solve(self, targets: Array, starts: Array) -> Array:
        """Its answers, with restarts."""
        return restarted(self.call, self.robot, targets, starts, SIZE)

    def call(self, targets: Array, starts: Array) -> tuple[Array, Array]:
        """One compiled call."""
        q, good = self.compiled(targets, starts[:, self.back])
        judge = self.robot.judge
        # What is rounded to single precision may be beyond a limit.
        return np.clip(np.asarray(q, dtype=np.float64)[:, self.order], judge.lower, judge.upper), np.asarray(good)

    def unpack(self, answer: Array) -> Array:
        """The answers themselves."""
        return answer
