"""Orientations that inertial sensors on a body measured, and the motion that they say: what `poise-motion` does."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
