from poise.solving.tracking.landmark_descent import Pinch as Pinch
from poise_motion.hands.hand_files import load_hand_retargeter as load_hand_retargeter
from poise_motion.hands.hands import HandRetargeter as HandRetargeter
