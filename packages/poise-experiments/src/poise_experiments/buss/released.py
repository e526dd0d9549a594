"""Numbers to compare with: those printed in the paper, and those of the program released with it.

The program's totals were measured again with the program itself and with an independent script, over 400 + 2000 steps;
both agree to all digits where the run is not chaotic.  Its times are of g++ -O3 on a 2.5 GHz Xeon.
"""

from typing import Final

TOTALS: Final = {
    "y": {"JT": 1067.8, "pinv": 1025.4, "DLS": 904.495476, "DLS'": 892.635355},
    "double_y": {"JT": 5380.0, "pinv": 4186.2, "DLS": 3957.689304},
}
JITTERS: Final = {
    "y": {"JT": 0.071, "pinv": 0.149, "DLS": 0.0048, "DLS'": 0.0047},
    "double_y": {"JT": 0.324, "pinv": 0.76, "DLS": 0.0159},
}
SELECTIVE_GAIN: Final = {"y": 0.04, "double_y": 0.12}
"""By how much the total of SDLS is below that of DLS."""
THRESHOLDS: Final = {"Y, DLS": (0.40, 0.45), "double Y, DLS": (0.85, 0.90), "double Y, DLS'": (0.35, 0.40)}
"""lambda where the jitter falls."""
SHAKING: Final = (0.35, 0.437, 2.4)
"""A lambda at which DLS shakes on the double Y: lambda, mean error, jitter."""
STEP_TIMES: Final = {
    "y": {"JT": 0.14, "DLS": 0.91, "SDLS": 3.6},
    "double_y": {"JT": 1.0, "DLS": 5.9, "SDLS": 27.0},
}
"""Time of a step alone [us]."""
KINEMATICS_TIMES: Final = {"y": 1.2, "double_y": 10.0}
"""Time of the forward kinematics and the Jacobian [us]."""
PAPER_TIMES: Final = {"y": {"JT": 1.1, "DLS": 2.2}, "double_y": {"JT": 6.5, "DLS": 18.5}}
"""The table of Buss 2004, section 8: microseconds on a 2.8 GHz Pentium."""
PAPER_SIZES: Final = {"y": (7, 6, 7), "double_y": (16, 12, 16)}
"""Links, and rows and columns of the Jacobian, in the text of the same section."""
