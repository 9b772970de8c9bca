"""Where the public names are written down agrees, and results are results."""

from __future__ import annotations

import ast
import inspect
import operator
import re
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neardup
from neardup.options.option import Options
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
WITHOUT_RESULT |= {"similarity", "extract", "iter_pairs"}


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
    # Of the errors the docstring names the module.
    marked = set(re.findall(r"``(\w+)``", neardup.__doc__)) - {"jobs", "cli", "kernels"}
    assert marked == neardup._HOMES.keys()


@each_of("name", [name for name in CLASSES if name not in WITHOUT_RESULT])
def test_function__returns_a_public_result(name):
    function = operator.attrgetter(name)(neardup)
    returned = function.__globals__[inspect.signature(function).return_annotation]
    assert issubclass(returned, Result)
    assert getattr(neardup, returned.__name__) is returned


def public_members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class as functions, and its fields' types."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        found = getattr(found, "fget", None) or getattr(found, "func", None) or found
        found = getattr(found, "__func__", found)
        if inspect.isfunction(found) and (not name.startswith("_") or name == "__getitem__"):
            yield f"{kind.__name__}.{name}", found


def hints_of(found: Any) -> dict[str, Any]:
    """Evaluate the annotations of a function or class, those imported for type checkers as well."""
    namespace = {name: getattr(neardup.types, name) for name in neardup.types.__all__}
    namespace |= {name: getattr(neardup, name) for name in neardup.__all__}
    import pandas
    import polars
    import pyarrow

    namespace |= {"pa": pyarrow, "pd": pandas, "pl": polars, "Path": Path}
    for each in getattr(found, "__mro__", ()):
        namespace |= {k: v for k, v in vars(sys.modules[each.__module__]).items() if k[0] != "_"}
    return typing.get_type_hints(found, None, namespace)


def classes_in(hint: Any) -> Iterator[type]:
    """Yield the classes of neardup that a type is made of."""
    for each in (hint, *typing.get_args(hint)):
        if each is not hint:
            yield from classes_in(each)
        elif isinstance(each, type) and each.__module__.startswith("neardup."):
            yield each


def public_classes() -> dict[type, str]:
    """List the classes that users can name."""
    return {
        found: name
        for module in (neardup, neardup.types)
        for name in module.__all__
        if isinstance(found := getattr(module, name), type)
        and not isinstance(found, types.GenericAlias)
    }


def test_types__every_class_that_users_meet_has_a_public_name():
    named = public_classes()
    met: dict[str, set[type]] = {}
    functions = [getattr(neardup, name) for name in neardup.__all__]
    for function in filter(inspect.isfunction, functions):
        met[function.__name__] = {
            each for hint in hints_of(function).values() for each in classes_in(hint)
        }
    for kind in named:
        for name, member in public_members(kind):
            met[name] = {each for hint in hints_of(member).values() for each in classes_in(hint)}
        fields = {name: hint for name, hint in hints_of(kind).items() if name[0] != "_"}
        for name in typing.get_type_hints(Options):
            # How options know themselves.
            fields.pop(name, None)
        met |= {f"{kind.__name__}.{name}": set(classes_in(hint)) for name, hint in fields.items()}
    nameless = {name: found - named.keys() for name, found in met.items() if found - named.keys()}
    assert nameless == {}
