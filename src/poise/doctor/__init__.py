"""What is wrong with a robot's file, or with a recording of its joints, and how to mend it."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
