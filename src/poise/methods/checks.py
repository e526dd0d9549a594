"""Checks of settings, which name the argument."""

import math

import numpy as np


def positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)) or not value > 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a positive number")


def finite_positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number and not infinite."""
    positive(name, value)
    if value == math.inf:
        raise ValueError(f"{name} is infinite; it must be a finite number")


def not_negative(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not number or not 0.0 <= value < math.inf:
        raise ValueError(f"{name} is {value!r}; it must be a finite number, 0 or more")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")
