"""Options from the nearest ``neardup.toml``, checked wherever they are in the file."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from neardup.errors import InvalidInputError, InvalidParameterError, ReadError
from neardup.options.kinds import Address, Documents, Flag, Location, TokenizerName
from neardup.options.option import Option

FILE = "neardup.toml"
_REPOSITORIES = (".git", ".hg")

# The words of a command, or the first of them for all commands that begin so; () for all.
Scope = tuple[str, ...]


@cache
def all_options() -> Mapping[str, Mapping[str, Option]]:
    """Return the options of all commands, by command and name."""
    from neardup.cli import COMMANDS

    commands: dict[str, Mapping[str, Option]] = {}
    members: Mapping[str, Any]
    for name, (module, _) in COMMANDS.items():
        command = getattr(importlib.import_module(module), name)
        members = (
            {f"{name} {each}": below for each, below in command.commands.items()}
            if isinstance(command, click.Group)
            else {name: command}
        )
        for words, each in members.items():
            commands[words] = {entry.name: entry for entry in each.entries}
    return commands


def find_file() -> Path | None:
    """Return the path of the nearest ``neardup.toml``, relative to the working directory.

    It is in the working directory or, within a repository, in a folder above it up to the
    repository's root: anybody may have put a file above that.
    """
    for depth, folder in enumerate(_folders()):
        if (folder / FILE).is_file():
            return Path(*[".."] * depth, FILE)
    return None


def _folders() -> list[Path]:
    try:
        here = Path.cwd()
    except OSError:  # It has been removed.
        return []
    folders = [here, *here.parents]
    for number, folder in enumerate(folders, 1):
        if any((folder / name).exists() for name in _REPOSITORIES):
            return folders[:number]
    return [here]


def read_settings(command: Scope, path: Path) -> dict[str, Any]:
    """Return a file's values for a command's options, by name, as click takes defaults.

    A value for the command goes before one for all commands.
    """
    own = _options_in(command)
    settings: dict[str, Any] = {}
    try:
        entries = list(_entries(_parse(path), ()))
        for scope, key, label, value in sorted(entries, key=lambda entry: len(entry[0])):
            if command[: len(scope)] == scope and key in own:
                settings[own[key].name] = _checked(own[key], label, value, path)
    except InvalidParameterError as error:
        raise InvalidInputError(str(error), path=str(path)) from None
    return settings


def _parse(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ReadError(str(error.strerror), path=str(path)) from None
    except UnicodeDecodeError:
        message = "not UTF-8 text, as TOML is"
        raise InvalidInputError(message, path=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        message = f"not valid TOML: {error}"
        raise InvalidInputError(message, path=str(path)) from None


def key_of(option: Option) -> str:
    """Return an option's spelling without the leading hyphens."""
    return option.spelling[-1].removeprefix("--")


def is_configurable(option: Option) -> bool:
    """Return whether an option may be set in a file.

    Inputs, outputs and replacements are named on the command line; --work is not an output.
    """
    reads_or_writes = isinstance(option.kind, Address | Documents | Location)
    return option.name == "work" or not (reads_or_writes or option.name == "overwrite")


def _options_in(scope: Scope) -> Mapping[str, Option]:
    return {
        key_of(option): option
        for name, options in all_options().items()
        if tuple(name.split())[: len(scope)] == scope
        for option in options.values()
    }


def _entries(table: dict[str, Any], scope: Scope) -> Iterator[tuple[Scope, str, str, Any]]:
    """Yield the scope, key, label and value of each line, recursively."""
    known = _options_in(scope)
    for written, value in table.items():
        key, label = written.replace("_", "-"), ".".join((*scope, written))
        if isinstance(value, dict) and _options_in((*scope, written)):
            yield from _entries(value, (*scope, written))
            continue
        if key not in known:
            raise InvalidParameterError(_unknown(label, scope, key, value))
        if not is_configurable(known[key]):
            flag = known[key].spelling[-1]
            message = f"{label} is for the command line only; write {flag} there"
            raise InvalidParameterError(message)
        yield scope, key, label, value


def _checked(option: Option, label: str, value: Any, path: Path) -> Any:
    """Return a value as click takes it, a list for a repeatable option."""
    if isinstance(option.kind, Flag) and not isinstance(value, bool):
        message = f"{label} must be true or false, got {value!r}"
        raise InvalidParameterError(message)
    if isinstance(option.kind, TokenizerName) and str(value).endswith(".json"):
        # From the folder of the file.
        value = str(path.parent / str(value))
    values = value if option.is_repeatable and isinstance(value, list) else [value]
    for each in values:
        option.kind.checked(label, each)
    return values if option.is_repeatable else value


def _unknown(label: str, scope: Scope, key: str, value: Any) -> str:
    from difflib import get_close_matches

    owner, kind = " ".join(("neardup", *scope)), "an option"
    names = [name for name, option in _options_in(scope).items() if is_configurable(option)]
    if isinstance(value, dict):
        commands = (tuple(name.split()) for name in all_options())
        depth, kind = len(scope), "a command"
        names = [name[depth] for name in commands if name[:depth] == scope and name[depth:]]
    close = get_close_matches(key, names, 1)
    advice = f"did you mean {close[0]}?" if close else f"`{owner} --help` lists them"
    return f"{label} is not {kind} of `{owner}`; {advice}"
