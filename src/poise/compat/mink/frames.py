"""Bodies, geoms and sites by name."""

from typing import Any

from poise.compat.mink.constants import FRAME_TO_COUNT_ATTR, SUPPORTED_FRAMES
from poise.compat.mink.exceptions import InvalidFrame, UnsupportedFrame
from poise.errors import nearest_names


def number_of(model: Any, frame_name: str | int, frame_type: str) -> int:
    """The number of a frame; raises InvalidFrame."""
    if frame_type not in SUPPORTED_FRAMES:
        raise UnsupportedFrame(f"frame_type is {frame_type!r}; it must be 'body', 'geom' or 'site'")
    count = int(getattr(model, FRAME_TO_COUNT_ATTR[frame_type]))
    names = [getattr(model, frame_type)(i).name for i in range(count)] if isinstance(frame_name, str) else []
    if frame_name in names:
        return names.index(str(frame_name))
    if isinstance(frame_name, str) or not 0 <= frame_name < count:
        near = nearest_names(frame_name, names)
        raise InvalidFrame(f"the model has no {frame_type} {frame_name!r}" + (f"; did you mean {near}?" * bool(near)))
    return int(frame_name)
