"""The `<visual>` elements of a URDF: solids and meshes with the colour of their `<material>`.

Textures are passed over.  A visual that cannot be drawn is no reason to refuse a robot: it is passed over, and noted.
"""

from collections.abc import Callable

from poise.common.errors import ModelError
from poise.geometry.visuals import Visual
from poise.io.collisions import HERE, solid
from poise.io.elements import Element
from poise.io.notes import Notes
from poise.spatial import SE3

Colour = tuple[float, ...]


def named_colours(root: Element, notes: Notes) -> dict[str, Colour]:
    """The colours of the robot's materials by name; the first of each name, wherever it is written, holds."""
    colours: dict[str, Colour] = {}
    inline = (material for link in root.all("link") for v in link.all("visual") for material in v.all("material"))
    for material in (*root.all("material"), *inline):
        name, colour = material.attributes.get("name", ""), _colour(material, notes)
        if name and colour:
            colours.setdefault(name, colour)
    return colours


def link_visuals(
    link: Element, pose: Callable[[Element], SE3], find: Callable[[str], str], colours: dict[str, Colour], notes: Notes
) -> list[Visual]:
    """What is drawn of a link, in its frame; `pose` reads an `<origin>`, `find` says where the file of a mesh is."""
    drawn = []
    for visual in link.all("visual"):
        try:
            geometry, origin, material = (visual.child(tag) for tag in ("geometry", "origin", "material"))
            place = HERE if origin is None else pose(origin)
            colour = None if material is None else _own_or_named(material, colours, notes)
            for element in [] if geometry is None else geometry.children:
                shape = solid(element, place, find)
                if shape is None:
                    notes.add(f"unknown tag <{element.tag}> in <geometry>", element.line)
                else:
                    drawn.append(Visual(shape, colour))
        except ValueError as error:  # a ModelError is one
            reason = error.message if isinstance(error, ModelError) else str(error)
            notes.add("a <visual> that cannot be drawn is passed over", visual.line, reason)
    return drawn


def _own_or_named(material: Element, colours: dict[str, Colour], notes: Notes) -> Colour | None:
    return _colour(material, notes) or colours.get(material.attributes.get("name", ""))


def _colour(material: Element, notes: Notes) -> Colour | None:
    """Red, green, blue and alpha from 0 to 1, or None for a material without a colour."""
    for colour in material.all("color"):
        try:
            return tuple(min(max(number, 0.0), 1.0) for number in colour.numbers("rgba", 4))
        except ModelError as error:
            notes.add("a <color> that is none is passed over", colour.line, error.message)
    return None
