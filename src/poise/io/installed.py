"""Robots of an installed `example-robot-data`, by name; the package is found on disk and never imported.

A robot is called by the stem of its URDF where only one folder has it, and by the name of its folder, without
`_description` or `_data`, where that holds one robot.  `_NICKNAMES` go before both: they are those of the package's own
loader, and a few for robots that have long stems only.
"""

import sys
from pathlib import Path

_PACKAGE = Path("share", "example-robot-data", "robots")
_NICKNAMES = {
    "allegro": "allegro_hand_description/allegro_right_hand",
    "anymal": "anymal_b_simple_description/anymal",
    "anymal_b": "anymal_b_simple_description/anymal",
    "anymal_c": "anymal_c_simple_description/anymal",
    "anymal_kinova": "anymal_b_simple_description/anymal-kinova",
    "b1_z1": "b1_description/b1-z1",
    "g1": "g1_description/g1_29dof_rev_1_0",
    "g1_with_hands": "g1_description/g1_29dof_with_hand_rev_1_0",
    "solo8": "solo_description/solo",
    "talos": "talos_data/talos_reduced",
    "talos_arm": "talos_data/talos_left_arm",
    "talos_box": "talos_data/talos_reduced_box",
    "talos_full": "talos_data/talos_full_v2",
    "talos_full_box": "talos_data/talos_full_v2_box",
    "ur10": "ur_description/ur10_robot",
    "ur10_limited": "ur_description/ur10_joint_limited_robot",
    "ur3": "ur_description/ur3_robot",
    "ur3_limited": "ur_description/ur3_joint_limited_robot",
    "ur5": "ur_description/ur5_robot",
    "ur5_limited": "ur_description/ur5_joint_limited_robot",
}
"""Folder and stem by name."""


def installed_robots() -> dict[str, Path]:
    """The URDF of every installed robot by name, in the order of the names; empty if there are none."""
    files = _files()
    by_stem: dict[str, list[Path]] = {}
    by_folder: dict[str, list[Path]] = {}
    for key, file in files.items():
        folder = key.partition("/")[0].removesuffix("_description").removesuffix("_data")
        by_stem.setdefault(file.stem, []).append(file)
        by_folder.setdefault(folder, []).append(file)
    names = {name: found[0] for name, found in by_folder.items() if len(found) == 1}
    names |= {name: found[0] for name, found in by_stem.items() if len(found) == 1}
    names |= {name: files[key] for name, key in _NICKNAMES.items() if key in files}
    return dict(sorted(names.items()))


def _files() -> dict[str, Path]:
    """Every installed URDF as folder/stem, from the first place that has the package."""
    # Wheels of the robotics stack keep their files under cmeel.prefix; conda keeps them under the prefix itself.
    places = [Path(entry, "cmeel.prefix") for entry in sys.path if entry] + [Path(sys.prefix)]
    for place in places:
        robots = place / _PACKAGE
        if robots.is_dir():
            return {f"{file.parts[-3]}/{file.stem}": file for file in sorted(robots.glob("*/*/*.urdf"))}
    return {}
