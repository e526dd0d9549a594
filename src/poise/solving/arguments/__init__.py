"""What `solve` and `Tracker` are given: checked, with defaults filled in, as numbers."""
