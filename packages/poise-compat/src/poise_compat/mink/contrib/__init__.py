"""What mink has beside inverse kinematics."""

from poise_compat.mink.contrib.keyboard_teleop import TeleopMocap as TeleopMocap
from poise_compat.mink.contrib.keyboard_teleop import keycodes as keycodes
