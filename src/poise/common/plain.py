"""Results as JSON has them: plain numbers, texts and lists, and null for a number that JSON does not have."""

import json
import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Tables, lists and arrays with what JSON has in them; None for NaN and for what is infinite."""
    match value:
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case np.ndarray():
            return plain(value.tolist())
        case list() | tuple():
            return [plain(item) for item in value]
        case float() | np.floating():
            return float(value) if math.isfinite(value) else None
        case _:
            return value


def to_json(value: dict[str, Any], indent: int | None = None) -> str:
    """`value` as JSON."""
    return json.dumps(plain(value), allow_nan=False, indent=indent)
