"""Sections of the conditions of optimality at an answer, which gradients differentiate; KKT: Karush, Kuhn and Tucker.

There are c conditions: rows of tasks, sides, sums, two shapes each, swing and twist of balls.
"""

from typing import Final

from poise.kernels.machine.group import Group

KKT: Final = Group(
    ("kernels/gradients",),
    {
        "residual": "c, what each lacks",
        "rows": "c packed rows, their Jacobian",
        "multiplier": "c, what each pulls with",
        "active": "c, 1 where it holds",
        "missed": "c, 1 where what is left is to be least",
        "posture_hessian": "n, squares of the weights of the posture, where it counts",
        "residual_sensitivity": "n x c, what q does where conditions lack more",
        "gradient_sensitivity": "n x n, what it does where it is pulled",
        "contact": "two each, shapes that are as near as they may be; -1 behind the last",
        "stationary": "nq, where the answer rests",
        "releasable": "n and c, of limits and conditions, see `poise.kernels.gradients.holding`",
        "limit_side": "n, -1 or 1 where a limit holds a joint, 2 where both do, which are one",
        "moving": "n, 1 for what may move",
        "hessian": "n x n, of the Lagrangian: H Z, a row a direction",
        "active_left": "c packed rows, u_i of the conditions that hold",
        "active_right": "c packed rows, sigma_i v_i",
        "active_sigma": "c, sigma_i",
        "null_rows": "n packed rows, of their null space",
        "inner_left": "n packed rows, of the Hessian within it",
        "inner_right": "n packed rows",
        "inner_sizes": "n",
        "lagrangian_gradient": "n, the gradient of the Lagrangian",
        "residual_change": "c, what a condition lacked on one side",
        "gradient_change": "n, the pull there",
        "stationary_start": "nq, where the search for that began",
        "perturbed": "nq, where it is looked around",
        "towards_posture": "nq, the nearest to a posture among the configurations where what is missed is least",
        "posture_step": "n, a step there that leaves what is missed as it is",
        "flat_rows": "n packed rows, the directions in which that is flat, orthonormal in the weights of the posture",
    },
)
