"""What the methods share: clamps, damping, filters of singular values, criteria, one update."""
