"""What functions answer with: no program makes one of these itself, but it may name them as types."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
