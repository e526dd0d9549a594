"""The robots that an operator begins with: those of Das, Slotine and Sheridan 1988."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, final

from poise.geometry.shapes import Capsule
from poise.model.model import Model
from poise.robots import das
from poise.robots.planar import planar

_THICK: Final = 0.04
"""Of a link [links]."""


@final
@dataclass(frozen=True, slots=True)
class Robot:
    """A model, what is guided, and where it begins."""

    model: Model
    frame: str
    start: tuple[float, ...]


def ten_links() -> Robot:
    """The planar arm of ten unit links, section 2.4, from the start of `poise reproduce das`."""
    return Robot(_thick(planar(10)), "tool", das.START)


def truck() -> Robot:
    """A vehicle, which slides along x and y, with three unit links on it, as in `poise reproduce das`; appendix B."""
    return Robot(_thick(das.truck()), "tool", das.PARKED)


ROBOTS: Final[Mapping[str, Callable[[], Robot]]] = MappingProxyType({"ten-links": ten_links, "truck": truck})
"""By the names that a command line takes."""


def _thick(model: Model) -> Model:
    """With a capsule along each unit link, `link1` and on."""
    capsule = Capsule((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), _THICK)
    return model.with_shapes({link: capsule for link in model.links if link.startswith("link") and link != "link0"})
