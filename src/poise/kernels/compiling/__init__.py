"""All that needs Numba: kernels compiled when they are asked for and not in the package's library, and a user's own.

Nothing here is imported before that.
"""
