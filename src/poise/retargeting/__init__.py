"""The motion of a skeleton carried to a robot, body and hands."""
