from poise.retargeting.hands.hand_files import load_hand_retargeter as load_hand_retargeter
from poise.retargeting.hands.hands import HandRetargeter as HandRetargeter
from poise.solving.tracking.landmark_descent import Pinch as Pinch
