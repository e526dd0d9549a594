"""The stages in which requirements of a step are given up: ranges first, then accelerations and jerks."""

ALL, NO_RANGES, NO_ACCELERATION, LOOPS_OPEN = range(4)
"""What holds: all; all but ranges; all but ranges, accelerations and jerks; nothing, loops being open at the start."""
