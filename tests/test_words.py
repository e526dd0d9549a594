"""One meaning a word: those that had several stand in identifiers for one alone, or for none."""

import ast
import re

import pytest
from support.arrows import MODULES

MEANINGS = {
    "room": {"Method.room and w.room, what a method works in": r"room"},
    "apart": {"motions whose frames are so many apart": r"apart", "shapes, of a session": r"keep_apart|_apart"},
    "kept": {"objects and distances that a motion keeps": r"Kept|kept", "a CollisionLimit that holds": r"is_kept"},
    "held": {"joints that a limit holds": r"held|held_by|_HELD"},
    "given": {"what the caller gave": r"given|_given|as_given|given_starts", "a code": r"GIVEN_UP"},
    "law": {"how an operator's hand is controlled": r"law|Law|_add_control_law", "laws of tasks": r"_law"},
}
"""By word, the identifiers that it may stand in, by what they mean."""


def defined() -> set[str]:
    """Every name that the package defines: functions, classes, arguments, variables and attributes."""
    found = set()
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


@pytest.mark.parametrize("word", MEANINGS)
def test_a_word_has_few_meanings(word: str) -> None:
    allowed = re.compile("|".join(MEANINGS[word].values()))
    named = {name for name in defined() if re.search(rf"(^|_){word}(_|$)", name, re.I)}
    assert not {name for name in named if not allowed.fullmatch(name)}
