"""pink's task that moves little."""

from typing import final

from poise.common.array import Array
from poise.compat.pink.configuration import Configuration
from poise.compat.pink.tasks.joint_velocity_task import JointVelocityTask


@final
class DampingTask(JointVelocityTask):
    """Move little, whatever its target."""

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) nothing."""
        return self.lacking(configuration, configuration.tangent.zeros)
