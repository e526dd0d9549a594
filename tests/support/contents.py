"""What a value holds, in plain tuples that compare."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from poise.model.model import Model
from poise.spatial import SE3, SO3


def contents(value: Any) -> Any:
    """All that `value` holds, to the last bit, and whether each array in it can be written."""
    match value:
        case np.ndarray():
            return value.shape, value.dtype.str, value.tobytes(), value.flags.writeable
        case SE3():
            return SE3, contents(value.array)
        case SO3():
            return SO3, contents(value.wxyz)
        case Model():
            given = (value.name, value.joints, value.links, [value.frame(name) for name in value.frames])
            numbers = (value.lower, value.upper, value.velocity, value.home, value.neutral, value.mass)
            return Model, contents((*given, *numbers, value.groups, value.postures, value.masses))
        case BaseException():
            return type(value), str(value), contents(value.args), contents(vars(value))
        case Mapping():
            return type(value), [(contents(key), contents(item)) for key, item in value.items()]
        case list() | tuple():
            return type(value), [contents(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), [(field.name, contents(getattr(value, field.name))) for field in fields(value)]
    return value
