"""Linear algebra of small systems: rotations, factorisations, singular values, active sets."""
