"""pink's task about a wheel that rolls, and slips along its axle."""

from typing import final

from poise.extending import Array
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.tasks.rolling_task import RollingTask


@final
class OmniwheelTask(RollingTask):
    """The same of a wheel that slips along its axle, the y axis of the floor."""

    def compute_error(self, configuration: Configuration) -> Array:
        """(2,) along x and z."""
        return super().compute_error(configuration)[[0, 2]]

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(2, nv) likewise."""
        return super().compute_jacobian(configuration)[[0, 2]]
