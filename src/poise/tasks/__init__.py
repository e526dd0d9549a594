"""What to achieve: one task a file, with its rows, weights, units and errors."""
