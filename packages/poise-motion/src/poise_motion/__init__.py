"""The motion of a skeleton carried to a robot, body and hands; its names are those of poise, as `poise.retarget`."""
