"""A human hand's motion on a robot's hand."""

from poise.retargeting.hands.hand_files import load_hand_retargeter as load_hand_retargeter
from poise.retargeting.hands.hands import HandRetargeter as HandRetargeter
from poise.retargeting.hands.hands import Pinch as Pinch
