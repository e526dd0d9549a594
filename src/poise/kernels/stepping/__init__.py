"""The loops around a method's step, and the projection of any step onto what must hold."""
