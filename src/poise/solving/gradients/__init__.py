"""The derivative of an answer by its targets, posture, weights and placements."""
