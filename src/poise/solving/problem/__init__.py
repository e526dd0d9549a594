"""A model and its tasks packed as one array of numbers, and the workspace of a call."""
