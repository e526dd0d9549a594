"""Soch and Lorencz 2005: an ellipse that is followed from a singular start."""
