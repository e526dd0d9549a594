"""Experiments of papers, repeated: their problems, what was measured, and a verdict on each published claim."""
