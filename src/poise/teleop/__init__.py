"""What stands between an operator's device and a Tracker: small parts, and the `Stream` that puts them in a row."""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
