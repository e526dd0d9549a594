"""Functions of coordinates in an `.osim`, as a `JointFunction`."""

from typing import Final

import numpy as np

from poise import JointFunction
from poise.extending import Element
from poise_motion.osim.document import number, numbers

_KINDS: Final = (
    "Constant",
    "LinearFunction",
    "MultiplierFunction",
    "SimmSpline",
    "NaturalCubicSpline",
    "natCubicSpline",
    "PiecewiseLinearFunction",
    "PiecewiseLinear",
    "PolynomialFunction",
    "Polynomial",
)
_WRAPPERS: Final = ("function", "coupled_coordinates_function")
IDENTITY: Final = JointFunction.polynomial([0.0, 1.0])
ZERO: Final = JointFunction.polynomial([0.0])


def function_in(element: Element) -> JointFunction | None:
    """The function in an element, or in its `function`; None without one.  Raises ModelError for an unknown kind."""
    for child in element.children:
        if child.tag in _WRAPPERS and child.children:
            return function_of(child.children[0])
        if child.tag in _KINDS:
            return function_of(child)
        if child.attributes.get("name") == "function":
            return function_of(child)
    return None


def function_of(element: Element, scale: float = 1.0) -> JointFunction:
    """`scale` times what an element says."""
    while element.tag == "MultiplierFunction":
        inner = element.child("function")
        if inner is None or not inner.children:
            raise element.error(f"{element.label} multiplies no function; give it one in <function>")
        element, scale = inner.children[0], scale * number(element, "scale", 1.0)
    if element.tag not in _KINDS:
        kinds = ", ".join(_KINDS[:5])
        raise element.error(f"{element.label} is a function of a kind that is not read; those are {kinds} and the like")
    try:
        if element.tag == "Constant":
            return JointFunction.polynomial([scale * number(element, "value", 0.0)])
        if element.tag == "LinearFunction":
            slope, offset = numbers(element, "coefficients", 2)
            return JointFunction.polynomial([scale * offset, scale * slope])
        if element.tag in ("PolynomialFunction", "Polynomial"):
            return JointFunction.polynomial(scale * np.array(numbers(element, "coefficients")[::-1]))
        x, y = np.array(numbers(element, "x")), scale * np.array(numbers(element, "y"))
        if element.tag in ("PiecewiseLinearFunction", "PiecewiseLinear"):
            return JointFunction.piecewise_linear(x, y)
        return JointFunction.simm_spline(x, y)  # OpenSim reads its older natural splines so too
    except ValueError as error:
        raise element.error(f"{element.label}: {error}") from None
