"""What the settings of every command have in common."""

import dataclasses
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform

from tyro.conf import arg
from tyro.constructors import PrimitiveConstructorSpec

Base = Literal["fixed", "planar", "floating"]
"""As `poise.model.builder.Base`, whose module would import NumPy before the help is printed."""
_Settings = TypeVar("_Settings")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def command(kind: type[_Settings]) -> type[_Settings]:
    """Make a class the settings of a command: a frozen dataclass, of whose fields tyro makes options.

    Its help names the defaults that tell something: not None, nothing, yes and no, of which the text of the field says
    what they mean.
    """
    for name, hint in kind.__annotations__.items():
        default = getattr(kind, name, 0)
        if default is None or default == "" or default == () or isinstance(default, bool):
            kind.__annotations__[name] = Annotated[hint, arg(help_behavior_hint="")]
    return dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(kind)


def numbers(metavar: str) -> PrimitiveConstructorSpec[Any]:
    """For an option that takes as many numbers as `metavar` has words, where tyro by itself would take all words."""
    return PrimitiveConstructorSpec(
        nargs=len(metavar.split()),
        metavar=metavar,
        instance_from_str=lambda words: tuple(map(float, words)),
        is_instance=lambda value: isinstance(value, tuple),
        str_from_instance=lambda value: [str(number) for number in value or ()],
    )
