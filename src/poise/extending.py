"""What packages beside poise are written with; the page "A package of your own" says what each name does.

What is taken is imported then, and no more, so that a package which checks an argument does not wait for the solver.
"""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
