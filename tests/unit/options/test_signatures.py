"""Declarations of options are sound, and signatures, docstrings and the page say what they say."""

from __future__ import annotations

import inspect
import re
import typing
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

import pytest

import neardup
from docs.reference import CommandLine
from neardup.options.choices import (
    ColumnNames,
    Data,
    DataOrIndex,
    Number,
    Progress,
    TokenizerChoice,
)
from neardup.options.commands import COMMANDS, grouped
from neardup.options.kinds import (
    Address,
    ByteSize,
    Choice,
    Columns,
    CountOrPercent,
    Delimiter,
    Documents,
    Encoding,
    Flag,
    FunctionOrFlag,
    Host,
    Kind,
    Location,
    NameOrNumber,
    OneOf,
    PathOrUrl,
    Seconds,
    Share,
    ShareOrCount,
    Switch,
    Text,
    Tokenizer,
    Whole,
)
from neardup.options.option import REQUIRED, Options
from tests.docs.pages import page
from tests.functions import CLASSES, FUNCTIONS, TAKING

PAGES = CommandLine(page("docs/command-line.md")).pages()

# The types of what each kind of values takes, without None.
TYPES: dict[type[Kind], tuple[Any, ...]] = {
    Whole: (int,),
    OneOf: (int,),
    ByteSize: (int | str,),
    CountOrPercent: (int | str,),
    Share: (Number,),
    ShareOrCount: (Number,),
    Seconds: (float,),
    Flag: (bool,),
    Switch: (bool,),
    Text: (str,),
    NameOrNumber: (str | int,),
    Address: (str,),
    Columns: (ColumnNames,),
    Delimiter: (str,),
    Documents: (Data, DataOrIndex),
    Encoding: (str,),
    FunctionOrFlag: (Progress,),
    Host: (str,),
    Location: (str | Path, Path),
    PathOrUrl: (str | Path,),
    Tokenizer: (str | Path, TokenizerChoice),
}


def classes_of_options() -> list[type[Options]]:
    """List all classes of options, also those of the arguments of functions."""

    def below(kind: type[Options]) -> typing.Iterator[type[Options]]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    return list(dict.fromkeys(below(Options)))


def parts_of(annotation: Any) -> tuple[set[Any], set[Any]]:
    """Part a type: the strings of all its ``Literal``, and all else."""
    values, rest = set(), set()
    is_union = typing.get_origin(annotation) in (typing.Union, UnionType, typing.Literal)
    for part in typing.get_args(annotation) if is_union else (annotation,):
        if isinstance(part, str):
            values.add(part)
        elif typing.get_origin(part) is typing.Literal:
            values |= set(typing.get_args(part))
        else:
            rest.add(part)
    return values, rest


def test_functions__are_all_there():
    plain = {"choose_banding", "connect"}
    public = {name for name in neardup.__all__ if inspect.isfunction(getattr(neardup, name))}
    assert public - plain == {name for name in FUNCTIONS if "." not in name}
    for name, kind in CLASSES.items():
        assert {f"{name}.{each}" for each in ("create", "open", "add", "search", "compact")} <= {
            each for each in TAKING if hasattr(kind, each.rpartition(".")[2])
        }


def test_classes__types_and_kinds_agree():
    of_functions = {function.takes for function in TAKING.values()}
    for kind in classes_of_options():
        for option in kind.known.values():
            where = (kind.__name__, option.name, option.type)
            if option.type is Any:
                continue
            values, rest = parts_of(option.type)
            assert option.default is not None or NoneType in rest, where
            if kind in of_functions:
                assert option.default is None or NoneType not in rest, where
            if isinstance(option.kind, Choice):
                assert values == set(option.kind.values), where
            elif option.help:
                rest -= {NoneType}
                assert any(rest == parts_of(each)[1] for each in TYPES[type(option.kind)]), where


def test_classes__defaults_and_texts_are_sound():
    """Help is a sentence; a default is a value of the option, and then nothing else is usual."""
    known = {id(option): option for kind in classes_of_options() for option in kind.known.values()}
    known |= {id(option): option for options in COMMANDS.values() for option in options}
    for option in known.values():
        assert option.described.endswith("."), option.name
        if option.default is REQUIRED or not option.help:
            continue
        assert option.help.endswith("."), option.name
        assert not (option.usual and option.default is not None), option.name
        if option.default is not None:
            assert option.checked(option.default) == option.default, option.name


def test_functions__signatures_and_docstrings():
    for name, function in TAKING.items():
        parameters = inspect.signature(function).parameters
        text = inspect.getdoc(function) or ""
        entries = re.search(r"(?s)\nParameters\n-+\n(.*?)(?:\n\n\w+\n-+\n|$)", text)
        assert entries is not None, name
        headings = re.findall(r"(?m)^(\w+(?:, \w+)*)$", entries[1])
        named = [word for line in headings for word in line.split(", ")]
        own = {"self", "cls"} & parameters.keys()
        assert named == [each for each in parameters if each not in own], name
        for option in function.takes.known.values():
            parameter = parameters[option.name]
            is_named = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            assert is_named == (option.name not in function.takes.positional), (name, option.name)
            has_default = parameter.default is not inspect.Parameter.empty
            assert has_default == (option.default is not REQUIRED), (name, option.name)
            assert parameter.default == option.default or not has_default


def described_options(command: str) -> dict[str, str]:
    """Give the options that the page shows for a command, with what it says of them."""
    shown = PAGES[f"neardup-{command.replace(' ', '-')}.md"]
    block = shown.split(f"$ neardup {command} --help\n")[1]
    # Lines end behind hyphens, too.
    block = re.sub(r"(?<=\w-)\n +(?=\w)", "", block)
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


@pytest.mark.parametrize("command", COMMANDS)
def test_page__says_what_the_table_says(command):
    shown = described_options(command)
    for option in COMMANDS[command]:
        text = shown[option.spelling[-1]]
        assert " ".join(option.help.split()) in text
        assert re.findall(r"\[default: (.+)\]", text) == [option.shown_default] * bool(
            option.shown_default
        ), option.name
        assert ("[required]" in text) == option.is_required, option.name
        if isinstance(option.kind, Choice):
            assert f"[{'|'.join(option.kind.values)}]" in text, option.name
