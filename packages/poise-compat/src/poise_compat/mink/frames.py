"""Bodies, geoms and sites by name."""

from typing import Any

from poise.extending import nearest_names
from poise_compat.mink.constants import FRAME_TO_COUNT_ATTR, SUPPORTED_FRAMES
from poise_compat.mink.exceptions import InvalidFrame, InvalidMocapBody, UnsupportedFrame


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


def mocap_number(model: Any, mocap_name: str) -> int:
    """The number of a mocap body; raises InvalidMocapBody for another body."""
    number = int(model.body(mocap_name).mocapid[0])
    if number < 0:
        raise InvalidMocapBody(f'body {mocap_name!r} is no mocap body; write mocap="true" in its element')
    return number
