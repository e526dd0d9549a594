"""The literature: BibTeX of what the methods cite, and the experiments and whatever else packages bring."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from poise.common.beside import EXPERIMENTS, REFERENCES, brought, owner, points
from poise.common.errors import InvalidValue, MissingExtra, ReferenceNotFound
from poise.methods.damping import RULES
from poise.methods.registry import METHODS


@cache
def entries() -> Mapping[str, str]:
    """The BibTeX entry of each key; in the file a blank line stands between two entries."""
    text = files("poise.methods").joinpath("references.bib").read_text(encoding="utf-8")
    found = {}
    for entry in re.split(r"\n\s*\n", text.strip()):
        head = re.match(r"@\w+\{([^,\s]+),", entry)
        if head is None:
            raise InvalidValue("wrong-format", f"references.bib has an entry without a key: {entry.splitlines()[0]!r}")
        found[head[1]] = entry
    return MappingProxyType(found)


def title(key: str) -> str:
    """The title of an entry, without the braces that keep its capitals."""
    found = re.search(r"^\s*title\s*=\s*\{(.*)\},?$", entries()[key], re.MULTILINE)
    return found[1].replace("{", "").replace("}", "") if found else ""


def citable() -> dict[str, tuple[str, ...]]:
    """The keys of all that can be cited: methods, damping rules and what packages bring by their names, every key by
    itself."""
    named = {name: method.references for name, method in METHODS.items()}
    named |= {name: rule.references for name, rule in RULES.items() if rule.references}
    for _, cited in brought(points(REFERENCES)):
        named |= cited()
    return named | {key: (key,) for key in entries()}


def cite(name: str) -> tuple[str, ...]:
    """The BibTeX entries of a method, a damping rule, an experiment or another name that a package brings, or a key.

    Raises ReferenceNotFound with the nearest names, of what a package brings with the nearest keys, and with what
    installs the experiments where they are not.
    """
    known = citable()
    if name not in known:
        there = any(owner(point) == EXPERIMENTS[0] for point in points(REFERENCES))
        more = "" if there else str(MissingExtra("the name of an experiment", *EXPERIMENTS))
        raise ReferenceNotFound(name, known, owner="poise", more=more)
    for key in known[name]:
        if key not in entries():
            raise ReferenceNotFound(key, entries(), owner="poise")
    return tuple(entries()[key] for key in known[name])
