"""The configuration of a robot's hand that is nearest to a human hand's landmarks, frame by frame."""
