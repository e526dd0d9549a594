"""A human hand's motion on a robot's hand."""

from poise.retargeting.hand_files import load_hand_retargeter as load_hand_retargeter
from poise.retargeting.hands import HandRetargeter as HandRetargeter
from poise.retargeting.hands import Pinch as Pinch
