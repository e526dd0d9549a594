"""Buss 2004, Buss and Kim 2005: a Y and a double Y that follow targets in and out of reach."""
