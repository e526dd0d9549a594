"""What packages beside poise are written with: checks of arguments that refuse as poise does, and what faces stand on.

The page "A package of your own" of the documentation says how a package is found by `poise`.
"""

from poise.common.array import Array as Array
from poise.common.array import ArrayLike as ArrayLike
from poise.common.checks import finite as finite
from poise.common.checks import finite_positive as finite_positive
from poise.common.checks import not_negative as not_negative
from poise.common.checks import one_of as one_of
from poise.common.checks import positive as positive
from poise.common.checks import whole as whole
from poise.common.errors import nearest_names as nearest_names
from poise.common.lazy import optional as optional
from poise.io.from_mujoco import FromMuJoCo as FromMuJoCo
from poise.model.dh import add_rows as add_rows
from poise.solving.methods.least_squares import least_squares as least_squares
