"""The faces of other libraries, a file each: what they are called with, and poise behind it.

A program changes one import, as from `ikpy.chain` to `poise_compat.ikpy`.  Signatures, units and defaults are those of
the original; what steered a search that is not made here is taken and decides nothing.  Joint limits are kept.  Where
the original says no more than an array, the `Solution` behind it is at hand as `solution`.  See the page "Coming from
another library" of the documentation.
"""
