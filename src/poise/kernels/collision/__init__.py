"""How far shapes are from each other, and how deep in."""
