"""What must hold of an answer or a step: limits, shapes, ranges, loops; and the status that says so."""
