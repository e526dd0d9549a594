"""The `Tracker`: one update a time step towards targets that move."""
