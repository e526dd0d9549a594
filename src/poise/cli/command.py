"""What the settings of every command have in common, and what is said of words that they do not understand."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence, Set
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from tyro.conf import Positional, arg

from poise.errors import NameNotFound

Base = Literal["fixed", "planar", "floating"]
"""As `poise.model.builder.Base`, whose module would import NumPy before the help is printed."""
_Settings = TypeVar("_Settings")
_HELP: Final = ("-h", "--help")
_POSITIONAL: Final = get_args(Positional[int])[1]
_COUNTS: Final = {1: "one number", 2: "two numbers", 3: "three numbers", 4: "four numbers", 6: "six numbers"}


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


def arranged(kinds: Mapping[str, type[Any]], words: Sequence[str]) -> list[str]:
    """The words with those of no option before the options, for tyro takes what follows an option for its values.

    Raises NameNotFound for a command or an option that there is not, ValueError for values that an option cannot be
    and for words that are too many or too few.  It says in a line, with the nearest name, what tyro would say in a box;
    what this passes over, tyro finds.
    """
    if not words or set(words) & {*_HELP, "--version"}:
        return list(words)
    first = words[0]
    if first not in kinds:
        if first.startswith("-"):
            if not first.startswith("--tyro-"):
                raise NameNotFound(first, ["--help", "--version"], owner="poise", noun="option")
            return list(words)
        raise NameNotFound(first, kinds, owner="poise", noun="command")
    options = _options(kinds[first])
    begin = next((i for i, word in enumerate(words) if _is_option(word)), len(words))
    alone, stated, endless = list(words[1:begin]), list[list[str]](), list[str]()
    for word, values in _stated(words[begin:]):
        name, equals, value = word.partition("=")
        name = name.replace("_", "-")
        if name.startswith("--tyro-"):
            stated.append([word, *values])
            continue
        if name not in options:
            raise NameNotFound(name, [o for o in options if o.startswith("--")], owner=f"poise {first}", noun="option")
        hint, metavar = options[name]
        _refuse_values(name, hint, metavar, [value] if equals else values)
        taken = 0 if equals else _taken(hint, values)
        stated.append([word, *values[:taken]])
        alone += values[taken:]
        if get_args(hint)[:2] == (str, Ellipsis):
            endless = stated[-1]
    lacking = sum(needed for _, needed in _places(kinds[first])) - len(alone)
    if 0 < lacking < len(endless) - 1:  # an option of any number of words leaves its last ones to what is needed
        alone += endless[-lacking:]
        del endless[-lacking:]
    _refuse_number(first, kinds[first], alone, {word.partition("=")[0].replace("_", "-") for word, *_ in stated})
    return [first, *alone, *(word for option in stated for word in option)]


def _places(kind: Any) -> list[tuple[str, bool]]:
    """The words that stand without an option, as the help calls them, and whether each is needed."""
    hints = get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if _POSITIONAL in get_args(hints[field.name])]
    return [(field.name.upper(), field.default is dataclasses.MISSING) for field in fields]


def _refuse_number(command: str, kind: Any, alone: Sequence[str], stated: Set[str]) -> None:
    """Raises ValueError for words without an option, `alone`, that are too many, and for what is missing."""
    places = _places(kind)
    if len(alone) > len(places):
        takes = " ".join(name for name, _ in places) or "options only"
        raise ValueError(f"poise {command} takes {takes}; got {' '.join(alone)}")
    missing = [name for name, needed in places[len(alone) :] if needed]
    for field in dataclasses.fields(kind):
        names = _names(kind, field)
        if field.default is dataclasses.MISSING and field.name.upper() not in dict(places) and not stated & set(names):
            missing.append(names[0])
    if missing:
        raise ValueError(f"poise {command} needs {' and '.join(missing)}; `poise {command} --help` tells more")


def _taken(hint: Any, values: Sequence[str]) -> int:
    """How many of the words after an option are its own."""
    parts = get_args(hint)
    if hint is bool:
        return 0
    if get_origin(hint) is not tuple:
        return 1
    return len(values) if parts[-1] is Ellipsis else len(parts)


def _options(kind: Any) -> dict[str, tuple[Any, str]]:
    """The type and the word for its values of every option, by each of its names."""
    hints, out = get_type_hints(kind, include_extras=True), dict[str, tuple[Any, str]]()
    for field in dataclasses.fields(kind):
        stated = hints[field.name]
        hint, *notes = get_args(stated) if get_origin(stated) is Annotated else [stated]
        if _POSITIONAL in notes:
            continue
        metavar = next((note.metavar for note in notes if getattr(note, "metavar", None)), "")
        for each in _names(kind, field):
            out[each] = (_without_none(hint), metavar)
    return out


def _names(kind: Any, field: dataclasses.Field[Any]) -> list[str]:
    """The names of an option, the longest first."""
    name, notes = field.name.replace("_", "-"), get_args(get_type_hints(kind, include_extras=True)[field.name])
    aliases = [alias for note in notes for alias in getattr(note, "aliases", None) or ()]
    return [f"--no-{name}" if field.default is True else f"--{name}", *aliases]


def _without_none(hint: Any) -> Any:
    kept = [each for each in get_args(hint) if each is not NoneType]
    return kept[0] if isinstance(hint, UnionType) and len(kept) == 1 else hint


def _stated(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Every option with the words that follow it, up to the next one."""
    at = [i for i, word in enumerate(words) if _is_option(word)]
    for i, end in zip(at, [*at[1:], len(words)], strict=False):
        yield words[i], list(words[i + 1 : end])


def _is_option(word: str) -> bool:
    return word[:1] == "-" and not _is_value(word)


def _is_value(word: str) -> bool:
    """Whether a word that begins with a dash is no option: a number, or several with commas."""
    return word == "-" or not (word[1:2] == "-" or word[1:2].isalpha()) or _number(word)


def _number(word: str, kind: type[Any] = float) -> bool:
    try:
        kind(word)
    except ValueError:
        return False
    return True


def _refuse_values(name: str, hint: Any, metavar: str, values: Sequence[str]) -> None:
    """Raises ValueError where the words after an option are not what it takes; others may follow them."""
    got = f"got {' '.join(values)}" if values else "got nothing"
    if hint is bool:
        return
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        if not values or values[0] not in parts:
            raise ValueError(f"{name} is one of {', '.join(parts)}; {got}")
    elif get_origin(hint) is tuple and parts[0] is float:
        endless = parts[-1] is Ellipsis
        wanted = values if endless else values[: len(parts)]
        if not wanted or not all(map(_number, wanted)) or not (endless or len(wanted) == len(parts)):
            count = "numbers" if endless else _COUNTS.get(len(parts), f"{len(parts)} numbers")
            raise ValueError(f"{name} takes {count}, {metavar or 'one after the other'}; {got}")
    elif hint in (int, float):
        if not values or not _number(values[0], hint):
            raise ValueError(f"{name} takes a {'whole number' if hint is int else 'number'}; {got}")
    elif not values:
        raise ValueError(f"{name} takes {metavar or 'a word'}; got nothing")
