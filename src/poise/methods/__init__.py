"""Methods: each proposes the next step of the joints; each has a file in this folder, whose classes this package exports."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
