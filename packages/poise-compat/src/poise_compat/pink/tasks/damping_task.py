"""pink's task that moves little."""

from typing import final

from poise.extending import Array
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.tasks.joint_velocity_task import JointVelocityTask


@final
class DampingTask(JointVelocityTask):
    """Move little, whatever its target."""

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) nothing."""
        return self.lacking(configuration, configuration.tangent.zeros)
