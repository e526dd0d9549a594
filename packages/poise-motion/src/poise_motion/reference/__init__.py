"""The targets: where the robot's parts, and the objects beside it, shall be in each frame."""
