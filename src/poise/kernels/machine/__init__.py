"""What kernels are written with, in plain Python: decorators, the layout of memory, views of it, lanes."""
