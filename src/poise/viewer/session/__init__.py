"""What is looked at, without a browser: robot, targets, obstacles, and what leads the one to the others."""
