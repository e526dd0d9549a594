"""The step a frame with which the robot follows its targets, and what holds it back on the way."""
