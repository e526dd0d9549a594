"""mink's mocap bodies that are moved by keys."""

from poise_compat.mink.contrib.keyboard_teleop import keycodes as keycodes
from poise_compat.mink.contrib.keyboard_teleop.teleop_mocap import TeleopMocap as TeleopMocap
