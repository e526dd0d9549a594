"""Methods: each proposes the next step of the joints; one is a file of this room, and its class a name of it."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
