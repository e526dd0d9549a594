"""A method bound to a problem: the case that it is told of, the posture and the obstacles that it heeds."""
