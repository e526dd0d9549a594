from poise.calibration.measurements import Measurements as Measurements
