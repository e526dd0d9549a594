"""Kernels compiled ahead of time: a library for each target, its headers and SDK, and the extension around calls."""
