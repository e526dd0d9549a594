"""What is drawn: robots, skeletons, obstacles, handles, motions and ghosts."""
