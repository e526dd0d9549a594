"""The paths of TORM and CppFlow."""
