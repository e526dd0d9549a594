"""What must hold of a step, stage by stage: what stands last gives way first."""

RANGED, RATED, AT_LEAST, OPEN = range(4)
"""All; all but ranges; all but ranges, accelerations and jerks; nothing, for loops are open where it begins."""
