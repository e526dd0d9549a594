"""What a camera sees, as an obstacle of a world."""

from poise.geometry.clouds import PointCloud as PointCloud
