"""A named frame fixed to a link, and the frame that every tree stands in."""

from dataclasses import dataclass, field
from typing import Final, final

from poise.spatial import SE3

WORLD: Final = "world"
"""The frame that every tree stands in."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A named frame fixed to a link: a site, a tool centre point."""

    name: str
    link: str
    origin: SE3 = field(default_factory=SE3.identity)
    """Pose of the frame in the link."""
