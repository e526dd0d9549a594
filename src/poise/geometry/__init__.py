"""Shapes, clouds, height maps and meshes, the shapes fitted around meshes, and the world that holds them."""
