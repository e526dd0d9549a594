"""Measured markers: their files, and the configurations of a body that are nearest to them."""
