"""What pages of a package of your own are written with: a server, what is played in it, and what files keep of it.

The page "A package of your own" says how `view` finds such a page.
"""

from poise.common.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
