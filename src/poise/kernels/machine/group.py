"""What a file of `poise.kernels.machine.groups` declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Sections of a workspace that some kernels alone read and write: `w.braking.state` is `state` of `braking`."""

    users: tuple[str, ...]
    """The files and folders of the package in which these kernels stand."""
    sections: Mapping[str, str]
    """Of each section how many rows there are, n being active velocities and nq numbers of q, and of what."""
