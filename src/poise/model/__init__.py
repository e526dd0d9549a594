"""The kinematic tree: joints, frames, loops, limits, masses; and what is computed from it without solving."""
