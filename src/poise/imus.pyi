from poise_motion.markers.fitting import fit_orientations as fit_orientations
from poise_motion.markers.orientations import Orientations as Orientations
from poise_motion.markers.orientations import load_orientations as load_orientations
from poise_motion.markers.sensors import place_sensors as place_sensors
