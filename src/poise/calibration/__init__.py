"""What is otherwise of a robot than its file says, from where its frames were measured: `poise.calibrate`."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
