"""Signatures, option classes and the page of the command line say what the table says."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup
import neardup.jobs
from neardup.options import choices, table
from neardup.options.encodings import Delimiter, Encoding
from neardup.options.groups import grouped
from neardup.options.jobs import COMMANDS, FUNCTIONS
from neardup.options.kinds import (
    ByteSize,
    Choice,
    Columns,
    Conditions,
    CountOrPercent,
    Flag,
    FunctionOrFlag,
    Kind,
    Location,
    OneOf,
    Positive,
    Seconds,
    Share,
    ShareOrCount,
    Switch,
    Text,
    Tokenizer,
    Whole,
    exact_fraction,
)
from neardup.options.option import CheckedOptions, Option

PAGE = Path(__file__).parents[3] / "docs/command-line.md"

# What a function works on, which is no option.
MATERIAL = {
    *("cls", "self", "data", "left", "right", "a", "b", "text_a", "text_b"),
    *("sketches", "other", "folder", "queries", "pairs"),
    *("id", "ids", "text", "tokens", "start", "result", "inputs"),
}
NUMBER = "str | float | Decimal | Fraction"
ANNOTATIONS: dict[type[Kind], tuple[str, ...]] = {
    Whole: ("int",),
    OneOf: ("int",),
    ByteSize: ("int | str",),
    CountOrPercent: ("int | str",),
    Share: (NUMBER,),
    ShareOrCount: (NUMBER,),
    Positive: ("float",),
    Seconds: ("float",),
    Flag: ("bool",),
    Switch: ("bool",),
    Text: ("str",),
    Columns: ("str | Sequence[str]",),
    Conditions: ("str | Sequence[str]",),
    Delimiter: ("str",),
    Encoding: ("str",),
    FunctionOrFlag: ("Progress",),
    Location: ("str | Path",),
    Tokenizer: ("str | Path", "str | Path | TokenFunction"),
}


def option_classes() -> list[type[CheckedOptions]]:
    """List the classes of options of all jobs, but those that are only there to be extended."""
    for module in pkgutil.walk_packages(neardup.jobs.__path__, "neardup.jobs."):
        importlib.import_module(module.name)
    importlib.import_module("neardup.service.serve")

    def below(options: type[CheckedOptions]) -> Iterator[type[CheckedOptions]]:
        for child in options.__subclasses__():
            yield child
            yield from below(child)

    unique = dict.fromkeys(below(CheckedOptions))
    return [found for found in unique if "known" in vars(found) or not found.__subclasses__()]


def function_of(name: str) -> Callable[..., Any]:
    found: Any = neardup
    for part in name.split("."):
        found = getattr(found, part)
    return found


def parameters_of(name: str) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function_of(name)).parameters
    return {
        name: found
        for name, found in parameters.items()
        # Values of the user's own columns are no options.
        if name not in MATERIAL and found.kind is not inspect.Parameter.VAR_KEYWORD
    }


def choices_in(annotation: str) -> set[str]:
    """Collect the strings of all ``Literal`` in an annotation."""

    def collect(found: Any) -> set[str]:
        if isinstance(found, str):
            return {found}
        return {value for part in typing.get_args(found) for value in collect(part)}

    return collect(eval(annotation, {**vars(typing), **vars(choices)}))


def is_default(option: Option, default: Any) -> bool:
    if option.default is None:
        is_empty = default is None or (option.is_repeatable and default == ())
        return is_empty or str(default) == option.usual
    if isinstance(option.kind, Share):
        return exact_fraction("", default) == exact_fraction("", option.default)
    return type(default) is type(option.default) and default == option.default


EACH = [
    pytest.param(name, option, id=f"{name}-{option.name}")
    for name, options in FUNCTIONS.items()
    for option in options
]


def test_functions__are_all_listed():
    public = {name for name in neardup.__all__ if inspect.isfunction(getattr(neardup, name))} - {
        "choose_banding",
        # Of a service, which has options of its own.
        "connect",
    }
    assert public == {name for name in FUNCTIONS if "." not in name}
    methods = {
        f"{kind.__name__}.{name}"
        for kind in (neardup.PassageIndex, neardup.DocumentIndex)
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_") and set(parameters_of(f"{kind.__name__}.{name}"))
    }
    # Where documents begin and how many are shown is no option of a job.
    methods -= {"DocumentIndex.documents", "PassageIndex.documents"}
    assert methods == {name for name in FUNCTIONS if "." in name}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function__has_the_options_of_the_table(name):
    listed = [option.name for option in FUNCTIONS[name]]
    assert len(set(listed)) == len(listed)
    assert parameters_of(name).keys() == set(listed)


@pytest.mark.parametrize(("name", "option"), EACH)
def test_function__default(name, option):
    default = parameters_of(name)[option.name].default
    assert is_default(option, default), (default, option.default, option.usual)


@pytest.mark.parametrize(("name", "option"), EACH)
def test_function__annotation(name, option):
    parameter = parameters_of(name)[option.name]
    if parameter.annotation == "Any":
        return
    # An option says by None that something else decides.
    plain = parameter.annotation.removesuffix(" | None")
    assert (plain != parameter.annotation) == (parameter.default is None)
    if isinstance(option.kind, Choice):
        assert choices_in(plain) == set(option.kind.values)
    else:
        assert plain in ANNOTATIONS[type(option.kind)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function__docstring_names_every_parameter(name):
    function = function_of(name)
    text = inspect.getdoc(function) or ""
    lines = re.findall(r"(?m)^(\w+(?:, \w+)*)$", text)
    lines += re.findall(r"(?m)^(\w+(?:, [*\w]+)*)$", text)
    headings = {word.lstrip("*") for line in lines for word in line.split(", ")}
    marked = set(re.findall(r"``(\w+)``", text))
    assert inspect.signature(function).parameters.keys() - {"self"} <= headings | marked


@pytest.mark.parametrize("options", option_classes())
def test_option_class__fields(options: type[CheckedOptions]):
    """Each field is in the table, with the same default."""
    listed = {option.name: option for option in options.known}
    for field in dataclasses.fields(options):
        assert is_default(listed[field.name], field.default), field.name


def test_table__each_name_once():
    names = [option.name for option in vars(table).values() if isinstance(option, Option)]
    assert len(names) == len(set(names))
    used = {
        option.name for part in (COMMANDS, FUNCTIONS) for all_ in part.values() for option in all_
    }
    assert used == set(names)


@pytest.mark.parametrize("job", [*COMMANDS.values(), *FUNCTIONS.values()])
def test_table__values_that_it_names_are_valid(job):
    for option in job:
        assert option.help.endswith(".")
        assert not (option.usual and option.default is not None)
        if option.default is not None:
            assert option.checked(option.default) == option.default


def described_options(command: str) -> dict[str, str]:
    """Give the options that the page shows for a command, with what it says of them."""
    block = PAGE.read_text(encoding="utf-8").split(f"$ neardup {command} --help\n")[1]
    # A part with options begins with a heading at the margin, other parts are indented.
    parts = re.split(r"\n\n(?=\w+:\n)", block.split("```")[0])[1:]
    entries = [e for part in parts for e in re.split(r"(?m)^  (?=-)", part.split("\n\n")[0])[1:]]
    return {re.findall(r"--[a-z][a-z-]*", entry)[0]: " ".join(entry.split()) for entry in entries}


@pytest.mark.parametrize("command", COMMANDS)
def test_page__has_the_options_of_each_command(command):
    shown = described_options(command)
    del shown["--help"]
    listed = [option for part in grouped(COMMANDS[command]).values() for option in part]
    assert list(shown) == [option.spelling[-1] for option in listed]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        pytest.param(command, option, id=f"{command}-{option.name}")
        for command, options in COMMANDS.items()
        for option in options
    ],
)
def test_page__says_what_the_table_says(command, option):
    text = described_options(command)[option.spelling[-1]]
    assert " ".join(option.help.split()) in text
    assert re.findall(r"\[default: (.+)\]", text) == [option.shown_default] * bool(
        option.shown_default
    )
    assert ("[required]" in text) == option.is_required
    if isinstance(option.kind, Choice):
        assert f"[{'|'.join(option.kind.values)}]" in text
