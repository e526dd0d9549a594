"""Which SRDF goes with a robot."""

import os
from pathlib import Path
from typing import Final, TypeAlias

Srdf: TypeAlias = str | os.PathLike[str] | None
"""The file of an SRDF, `BESIDE` for the one that stands beside the robot's file, None for none."""
BESIDE: Final = "beside"


def chosen_srdf(srdf: Srdf, urdf: Path | None) -> Path | None:
    """The file that is meant; beside a text, which has no place, there is none."""
    if srdf == BESIDE:
        return None if urdf is None else find_srdf(urdf)
    return None if srdf is None else Path(srdf).expanduser()


def find_srdf(urdf: Path) -> Path | None:
    """The SRDF next to a URDF or in `../srdf`: the one of its name, or else of the longest start of its name.

    `solo12.urdf` takes `solo.srdf` if there is no `solo12.srdf`; `solos.urdf` does not.
    """
    urdf = urdf.absolute()
    stem = urdf.name.removesuffix(".xacro").removesuffix(".urdf")
    near = [
        path
        for folder in (urdf.parent, urdf.parent.parent / "srdf")
        for path in sorted(folder.glob("*.srdf"))
        if stem.startswith(path.stem) and not stem[len(path.stem) :][:1].isalpha()
    ]
    return max(near, key=lambda path: len(path.stem), default=None)
