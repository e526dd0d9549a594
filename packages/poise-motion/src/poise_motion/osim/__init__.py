"""Models of OpenSim, `.osim`: their joints as joints that turn, slide and follow, their markers as frames."""
