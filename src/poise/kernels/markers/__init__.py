"""The configuration of a body whose markers are nearest to measured ones, frame by frame."""
