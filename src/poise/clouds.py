"""What a camera sees, and what is known of the ground, as obstacles of a world."""

from poise.geometry.clouds import PointCloud as PointCloud
from poise.geometry.height_map import HeightMap as HeightMap
from poise.model.picture import without_robot as without_robot
