"""A human hand's motion on a robot's hand."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
