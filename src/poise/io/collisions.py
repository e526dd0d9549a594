"""The `<collision>` elements of a URDF: boxes, spheres, capsules, cylinders and meshes.

A cylinder with a sphere at either end is a capsule, see `poise.geometry.enclosing`.  Meshes are not opened here, only
looked for.
"""

from collections.abc import Callable, Iterator

from poise.geometry.enclosing import enclosed
from poise.geometry.meshes import LinkShape, MeshShape
from poise.geometry.shapes import Box, Capsule, Cylinder, Sphere
from poise.io.elements import Element
from poise.io.notes import Notes
from poise.spatial import SE3

HERE = SE3.identity()


def link_shapes(
    link: Element, pose: Callable[[Element], SE3], find: Callable[[str], str], notes: Notes
) -> tuple[LinkShape, ...]:
    """The shapes of a link, in its frame.

    `pose` reads an `<origin>`, `find` says where the file of a mesh is.  Raises ModelError for sizes that no solid has.
    """
    return enclosed(_parts(link, pose, find, notes))


def _parts(
    link: Element, pose: Callable[[Element], SE3], find: Callable[[str], str], notes: Notes
) -> Iterator[LinkShape]:
    for collision in link.all("collision"):
        geometry, origin = collision.child("geometry"), collision.child("origin")
        place = HERE if origin is None else pose(origin)
        for element in [] if geometry is None else geometry.children:
            part = solid(element, place, find)
            if part is None:
                notes.add(f"unknown tag <{element.tag}> in <geometry>", element.line)
            else:
                yield part


def solid(element: Element, place: SE3, find: Callable[[str], str]) -> LinkShape | None:
    """What a child of `<geometry>` is, at `place`; None for an unknown tag.  Raises as `link_shapes`."""
    match element.tag:
        case "box":
            return Box(place, _lengths(element, "size", 3))
        case "sphere":
            return Sphere(place.xyz, _length(element, "radius"))
        case "cylinder":
            return Cylinder(place, _length(element, "radius"), _length(element, "length"))
        case "capsule":
            half = 0.5 * _length(element, "length")
            return Capsule(place.act((0.0, 0.0, -half)), place.act((0.0, 0.0, half)), _length(element, "radius"))
        case "mesh":
            scale = element.numbers("scale", 3) if "scale" in element.attributes else (1.0, 1.0, 1.0)
            if not all(scale):
                raise element.error(f"{element.label} is scaled by 0, and no solid is left")
            return MeshShape(find(element.text("filename")), place, scale)
        case _:
            return None


def _length(element: Element, attribute: str) -> float:
    return _lengths(element, attribute, 1)[0]


def _lengths(element: Element, attribute: str, count: int) -> tuple[float, ...]:
    lengths = element.numbers(attribute, count)
    if any(length < 0.0 for length in lengths):
        raise element.error(f'{element.label} has {attribute}="{element.text(attribute)}"; no length may be negative')
    return lengths
