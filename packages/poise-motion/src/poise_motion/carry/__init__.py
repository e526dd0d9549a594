"""A motion carried to a robot, with a map and contacts that are edited while one looks."""
