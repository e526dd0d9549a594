"""A classical method's settings as numbers: their places in one array, and what its codes mean.

The array is `SETTINGS` numbers, then the largest change of each active velocity in one update (0: none is stated),
then the posture (nq,) that a null-space term pulls to, then what lies in the way (see `methods.criteria`) or, for
bounded steps, the limits of each coordinate, which hold or not.
"""

from typing import Final

METHOD: Final = 0
RULE: Final = 1
RULE_A: Final = 2
RULE_B: Final = 3
RULE_C: Final = 4
FILTER: Final = 5
FILTER_A: Final = 6
FILTER_B: Final = 7
MAX_STEP: Final = 8
"""ClampMaxAbs of the step [rad or m]; infinite: none."""
CLAMP: Final = 9
MAX_ERROR: Final = 10
"""ClampMag of a position block [m]."""
MAX_TURN: Final = 11
"""ClampMag of a rotation block [rad]."""
AT_TARGET: Final = 12
"""1: Jacobian columns are taken at the target instead of the effector."""
NULL: Final = 13
"""1: there is a null-space term; the gains of those that are not there are 0."""
REST_GAIN: Final = 14
OPTION: Final = 15
OPTION_A: Final = 16
OPTION_B: Final = 17
DROP: Final = 19
"""Singular values that are zero in every pose, the rows being more than the directions of motion."""
PACED: Final = 18
"""1: the largest changes behind the settings count."""
CENTRE_GAIN: Final = 20
LIMIT_GAIN: Final = 21
LIMIT_LONGEST: Final = 22
"""What the distance from limits asks of a joint at most [rad or m]."""
MANIPULABILITY_GAIN: Final = 23
CLEARANCE_GAIN: Final = 24
STIFFNESS: Final = 25
"""K_p of positions."""
TURN_STIFFNESS: Final = 26
"""K_p of rotations."""
POTENTIAL_GAIN: Final = 27
SETTINGS: Final = 28

TRANSPOSE, DAMPED, COLUMNS, ORTHOGONAL, FILTERED, SELECTIVE, HALLEY, HYBRID, CCD, FABRIK, BFGS, LBFGS = range(12)
BOUNDED, LEXICOGRAPHIC, PROJECTED, DAS, PAIRWISE, EXTENDED, JUDGED = range(12, 19)
"""METHOD; see `poise.kernels.methods.routines`."""
CONSTANT, NAKAMURA, ESTIMATED, ESTIMATED_TWO, SMALLEST, CHAN = range(6)
SUGIHARA, TRUST, MAX_NORM, RATE, GAIN, CURVATURE = range(6, 12)
"""RULE."""
TRUNCATED, SMOOTH, GAUSSIAN, JPARSE = range(4)
"""FILTER."""
NO_CLAMP, FIXED, ADAPTIVE, RELEASED = range(4)
"""CLAMP."""
SICILIANO_SLOTINE, CHIAVERINI, BAERLOCHER_BOULIC = range(3)
"""OPTION of PROJECTED."""
LU, STACKED = range(2)
"""OPTION of PAIRWISE."""
