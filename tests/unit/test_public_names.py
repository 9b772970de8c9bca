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
from tests.functions import FUNCTIONS

SOURCE = ast.parse(Path(neardup.__file__).read_text(encoding="utf-8"))

# They return the index, or say how much they have changed in it, or numbers and plain rows.
WITHOUT_RESULT = {
    f"{kind}.{name}"
    for kind in ("PassageIndex", "DocumentIndex")
    for name in ("create", "open", "add", "compact")
} | {"open_index", "report", "DocumentIndex.query", "DocumentIndex.insert_if_new"}
WITHOUT_RESULT |= {"similarity", "extract"}


def imported(statements: list[ast.stmt]) -> dict[str, str]:
    """Give the names that statements import from neardup, with their modules."""
    return {
        alias.name: str(statement.module)
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("neardup.")
        for alias in statement.names
    }


def test_public_names__are_the_same_wherever_they_are_listed():
    [for_types] = [statement for statement in SOURCE.body if isinstance(statement, ast.If)]
    assert ast.unparse(for_types.test) == "TYPE_CHECKING"
    assert imported(for_types.body) == neardup._HOMES
    assert {*imported(SOURCE.body), *neardup._HOMES} == set(neardup.__all__)
    # Of the errors the docstring names the module.
    marked = set(re.findall(r"``(\w+)``", neardup.__doc__)) - {"jobs", "cli", "kernels"}
    assert marked == neardup._HOMES.keys()


@each_of("name", [name for name in FUNCTIONS if name not in WITHOUT_RESULT])
def test_function__returns_a_public_result(name):
    function = operator.attrgetter(name)(neardup)
    returned = function.__globals__[inspect.signature(function).return_annotation]
    assert issubclass(returned, Result)
    assert getattr(neardup, returned.__name__) is returned
