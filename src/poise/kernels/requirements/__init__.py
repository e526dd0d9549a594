"""What must hold of a step: joint limits, braking, shapes, ranges, loops; and the nearest step that keeps them."""
