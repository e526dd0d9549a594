"""What rounding leaves of what must hold: one number for all requirements, and one for what has come to its limit.

What counts as at a limit, which is more, is `AT_LIMIT` of `poise.kernels.machine.layout`."""

ROUNDING = 1e-12
"""A requirement that is broken by no more than this holds: [rad or m], or as a share of its size where it has one, such
as a speed or a sum of joints.  Each product or sum of doubles is off by up to 1.1e-16 of its size: a step has some
hundreds, and some thousands have room."""
LAST_DIGIT = 1e-15
"""How far from a limit one sum of doubles leaves what has come to it [rad or m]: the last digit of a number up to 4."""
