"""Poses of frames, Jacobians, centre of mass and manipulability of a tree."""
