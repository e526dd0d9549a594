"""poise: inverse kinematics for Python.

Load a model, state tasks, solve; the answer is certified by forward kinematics and keeps every joint limit.

>>> import poise as pz
>>> arm = pz.load("panda")
>>> goal = pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0, 0]))
>>> pz.solve(arm, goal).success
True
"""

from poise.common.lazy import attach

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
