"""A human hand's landmarks on a robot's hand, and fingers that follow beside a body."""
