"""One search for one problem, from arrays to a `Solution`, and what is tried where the eight lanes find none."""
