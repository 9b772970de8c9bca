"""Where the public names are written down agrees, and results are results."""

from __future__ import annotations

import ast
import inspect
import operator
import re
from pathlib import Path

import neardup
from neardup.results import Result
from tests.each import each_of
from tests.functions import CLASSES

SOURCE = ast.parse(Path(neardup.__file__).read_text(encoding="utf-8"))

# They return the index, or say how much they have changed in it, or numbers and plain rows.
WITHOUT_RESULT = {
    f"{kind}.{name}"
    for kind in ("PassageIndex", "DocumentIndex")
    for name in ("create", "open", "add", "compact")
} | {"open_index", "report", "review", "DocumentIndex.query", "DocumentIndex.insert_if_new"}
WITHOUT_RESULT |= {"similarity", "extract"}


def imported(statements: list[ast.stmt]) -> dict[str, str]:
    """Give the names that statements import from neardup, with their modules."""
    return {
        alias.name: str(statement.module)
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("neardup.")
        for alias in statement.names
    }


def imported_for_types(source: ast.Module) -> dict[str, str]:
    """Give the names that a module imports for type checkers, with their modules."""
    [for_types] = [statement for statement in source.body if isinstance(statement, ast.If)]
    assert ast.unparse(for_types.test) == "TYPE_CHECKING"
    return imported(for_types.body)


def test_public_names__are_the_same_wherever_they_are_listed():
    assert imported_for_types(SOURCE) == neardup._HOMES
    eager = imported(SOURCE.body).keys() - {"load_name"}
    assert {*eager, *neardup._HOMES, "types"} == set(neardup.__all__)
    types = ast.parse(Path(neardup.types.__file__).read_text(encoding="utf-8"))
    assert imported_for_types(types) == neardup.types._HOMES
    assert neardup.types.__all__ == dir(neardup.types) == sorted(neardup.types._HOMES)
    assert set(re.findall(r"``(\w+)``", neardup.__doc__)) == neardup._HOMES.keys()
    assert len(neardup.__all__) <= 40
    assert len(neardup.types.__all__) <= 20


@each_of("name", [name for name in CLASSES if name not in WITHOUT_RESULT])
def test_function__returns_a_public_result(name):
    function = operator.attrgetter(name)(neardup)
    returned = function.__globals__[inspect.signature(function).return_annotation]
    assert issubclass(returned, Result)
    assert getattr(neardup.types, returned.__name__, neardup.Sketches) is returned
