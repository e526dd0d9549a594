"""What must hold of a step, stage by stage: what stands last gives way first."""

ALL, NO_RANGES, NO_ACCELERATION, LOOPS_OPEN = range(4)
"""All; all but ranges; all but ranges, accelerations and jerks; nothing, for loops are open where it begins."""
