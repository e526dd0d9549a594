"""pink's task that moves little."""

from typing import final

from poise.compat.pink.configuration import Configuration
from poise.compat.pink.tasks.joint_velocity_task import JointVelocityTask
from poise.spatial import Array


@final
class DampingTask(JointVelocityTask):
    """Move little, whatever its target."""

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) nothing."""
        return self.lacking(configuration, configuration.tangent.zeros)
