"""Residuals of tasks and their Jacobians: what the rows of all tasks have in common."""
