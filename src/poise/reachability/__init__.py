"""Where a frame can go: how many orientations it reaches at each point of a grid, and how well it moves there."""
