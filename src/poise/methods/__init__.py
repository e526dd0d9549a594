"""Methods: each proposes the next step of the joints, and has a file in this folder, of which it is a public class."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
