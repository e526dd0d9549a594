"""Strands along a path, the best sequence through candidates, the system of a whole path, least times, free ways."""
