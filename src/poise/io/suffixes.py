"""What is in a file, by the suffix of its name."""

from typing import Final

ROBOT_SUFFIXES: Final = (".urdf", ".xacro", ".xml", ".mjcf")
GLTF_SUFFIXES: Final = (".glb", ".gltf", ".vrm")
SKELETON_SUFFIXES: Final = (".bvh", *GLTF_SUFFIXES)
"""And their motions."""
STORAGE_SUFFIXES: Final = (".mot", ".sto")
"""Those of OpenSim."""
TABLE_SUFFIXES: Final = (".csv", ".npz", *STORAGE_SUFFIXES)
"""Numbers by name, and no skeleton; but an .npz may be another's."""
EXTRA_SUFFIXES: Final = (".npz", ".osim", ".pkl", ".fbx", ".usd", ".usda", ".usdc", ".usdz", ".amc", ".asf")
"""What the extra `motion` brings readers for."""
