"""Whole paths: `solve_path` and `plan`, from candidates to a timed motion."""
