"""Options taken from files and from the environment, where the command line does not have them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.cli.configuration import VARIABLES, ConfigurationFile
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.options.commands import COMMANDS
from neardup.options.kinds import (
    Address,
    Documents,
    Flag,
    Location,
    Share,
    ShareOrCount,
    Tokenizer,
    Whole,
)
from neardup.options.option import Option

_TRUTH = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}

# The names of a command, or the first of them for all commands that have these; () for all.
Scope = tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """The value of an option, and where it was found."""

    value: Any
    source: str


@dataclass(frozen=True)
class _Entry:
    """What stands somewhere for an option; ``label`` is how messages call it."""

    scope: Scope
    key: str
    value: Any
    source: str
    label: str

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable of the environment, which is its own source."""
        return self.label == self.source


def key_of(option: Option) -> str:
    """Return what an option is called in a file: as on the command line, without hyphens before."""
    return option.spelling[-1].removeprefix("--")


# Flags of one run, by which it replaces something.
_OF_A_RUN = ("overwrite", "fresh")


def is_configurable(option: Option) -> bool:
    """Whether an option may stand elsewhere than on the command line.

    What a run reads, writes and replaces, whoever starts it names; temporary files are no output.
    """
    reads_or_writes = isinstance(option.kind, Address | Documents | Location)
    return option.name == "work" or not (reads_or_writes or option.name in _OF_A_RUN)


def read_settings(
    command: Scope, options: Iterable[Option], files: Iterable[ConfigurationFile]
) -> dict[str, Setting]:
    """Return what is set for a command, by the names that its options have in Python.

    The environment goes before files, the last of them before the first; in each of them what is
    for the command goes before what is for all.
    """
    by_key = {key_of(option): option for option in options}
    settings: dict[str, Setting] = {}
    # The scopes that the command is in, its own last.
    scopes = [command[:length] for length in range(len(command) + 1)]
    for entries in (*(list(_walk(file, (), file.table)) for file in files), _environment()):
        for scope in scopes:
            for entry in entries:
                option = by_key.get(entry.key)
                if option is not None and entry.scope == scope:
                    settings[option.name] = Setting(_checked(option, entry), entry.source)
    return settings


def _options_in(scope: Scope) -> dict[str, Option] | None:
    """Return the options of all commands in a scope, by their keys; None if there is none."""
    commands = [
        options for name, options in COMMANDS.items() if tuple(name.split())[: len(scope)] == scope
    ]
    if not commands:
        return None
    return {key_of(option): option for options in commands for option in options}


def _walk(file: ConfigurationFile, scope: Scope, table: dict[str, Any]) -> Iterator[_Entry]:
    known = _options_in(scope) or {}
    seen = set()
    for written, value in table.items():
        key = written.replace("_", "-")
        inner = (*scope, written)
        label = ".".join((*file.prefix, *inner))
        if isinstance(value, dict) and _options_in(inner) is not None:
            yield from _walk(file, inner, value)
            continue
        if key not in known:
            problem = _unknown_key(label, scope, key, value)
            raise InvalidInputError(problem, path=file.path)
        if not is_configurable(known[key]):
            raise InvalidInputError(_refused(label, known[key]), path=file.path)
        if key in seen:
            message = f"{label} is there twice, with a hyphen and with an underscore"
            raise InvalidInputError(message, path=file.path)
        seen.add(key)
        is_path = isinstance(value, str) and value not in Tokenizer.names
        if isinstance(known[key].kind, Tokenizer) and is_path:
            # From where the file is.
            value = str(Path(file.path).parent / value)
        yield _Entry(scope, key, value, file.path, label)


def _environment() -> list[_Entry]:
    """Return what is set by variables: NEARDUP_OPTION, or NEARDUP_COMMAND_OPTION for one command.

    Others that begin like those of a command are errors; the rest may be anything.
    """
    entries = []
    for variable, text in os.environ.items():
        if not variable.startswith(VARIABLES) or not text:
            continue
        readings = [
            (scope, variable.removeprefix(_variable(scope)).lower().replace("_", "-"))
            for scope in _scopes()
            if variable.startswith(_variable(scope))
        ]
        for scope, key in readings:
            option = (_options_in(scope) or {}).get(key)
            if option is not None:
                if not is_configurable(option):
                    raise InvalidInputError(_refused(variable, option))
                entries.append(_Entry(scope, key, text, variable, variable))
                break
        else:
            if readings[0][0]:
                raise InvalidInputError(_unknown(variable, *readings[0]))
    return entries


def _scopes() -> list[Scope]:
    """Return all scopes, those for fewest commands first."""
    names = [tuple(name.split()) for name in COMMANDS]
    scopes = {name[:length] for name in names for length in range(len(name) + 1)}
    return sorted(scopes, key=lambda scope: -len(scope))


def _variable(scope: Scope) -> str:
    return VARIABLES + "".join(f"{name.upper()}_" for name in scope)


def _read(option: Option, text: str) -> Any:
    """Return what a variable holds as a value of the option's type; as it is if it is none."""
    if isinstance(option.kind, Flag):
        return _TRUTH.get(text.lower(), text)
    if isinstance(option.kind, Whole):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _checked(option: Option, entry: _Entry) -> Any:
    """Return the value as the command line hands it on."""
    value = _read(option, entry.value) if entry.is_variable else entry.value
    path = None if entry.is_variable else entry.source
    if isinstance(option.kind, Flag) and not isinstance(value, bool):
        message = f"{entry.label} must be true or false, got {value!r}"
        raise InvalidInputError(message, path=path)
    values = value if option.is_repeatable and isinstance(value, list) else [value]
    try:
        checked = [option.kind.checked(entry.label, one) for one in values]
    except InvalidParameterError as error:
        raise InvalidInputError(str(error), path=path) from None
    if isinstance(option.kind, Share | ShareOrCount):
        # As it would be typed.
        checked = [str(one) for one in checked]
    return tuple(checked) if option.is_repeatable else checked[0]


def _refused(label: str, option: Option) -> str:
    return f"{label} is for the command line only; write {option.spelling[-1]} there"


def _unknown_key(label: str, scope: Scope, key: str, value: Any) -> str:
    """Say what is wrong with a key of a file that is no option."""
    commands = {found[len(scope)] for found in _scopes() if found[: len(scope)] == scope != found}
    if key in commands:
        return f"{label} must be a table, got {value!r}"
    if isinstance(value, dict):
        return f"{label} is no command; {_advice(key, commands, 'neardup --help')}"
    return _unknown(label, scope, key)


def _unknown(label: str, scope: Scope, key: str) -> str:
    known = _options_in(scope) or {}
    keys = [name for name, option in known.items() if is_configurable(option)]
    owner = " ".join(("neardup", *scope))
    listed = f"{owner} --help" if " ".join(scope) in COMMANDS else "neardup COMMAND --help"
    return f"{label} is no option of `{owner}`; {_advice(key, keys, listed)}"


def _advice(word: str, known: Iterable[str], listed: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), 1)
    return f"did you mean {close[0]}?" if close else f"`{listed}` lists them"
