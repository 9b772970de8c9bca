"""Options taken from ``neardup.toml``, where the command line does not have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import InvalidInputError, InvalidParameterError, ReadError
from neardup.options.kinds import (
    Address,
    Documents,
    Flag,
    Location,
    Share,
    ShareOrCount,
    Tokenizer,
)
from neardup.options.option import Option

_NAME = "neardup.toml"
_REPOSITORIES = (".git", ".hg")

# The words of a command, or the first of them for all commands that begin so; () for all.
Scope = tuple[str, ...]
# The options of all commands, by the words of a command and by name.
Commands = Mapping[str, Mapping[str, Option]]


class ConfigurationFile(NamedTuple):
    """A file with options: its path from the working directory, and its content."""

    path: str
    table: dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """The value of an option, and the file in which it was found."""

    value: Any
    source: str


@dataclass(frozen=True)
class _Entry:
    """A value in the file; ``label`` is the name that messages give it."""

    scope: Scope
    key: str
    value: Any
    label: str


def find_file() -> ConfigurationFile | None:
    """Read the nearest ``neardup.toml``; None if there is none.

    It is looked for in the working directory and, within a repository, in all folders above it up
    to the repository's root: anybody may have put a file above that.
    """
    for depth, folder in enumerate(_folders()):
        path = folder / _NAME
        if path.is_file():
            shown = str(Path(*[".."] * depth, _NAME))
            return ConfigurationFile(shown, _parse(path, shown))
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


def _parse(path: Path, shown: str) -> dict[str, Any]:
    # Most runs have no such file.
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ReadError(str(error.strerror), path=shown) from None
    except UnicodeDecodeError:
        message = "not UTF-8 text, as TOML is"
        raise InvalidInputError(message, path=shown) from None
    except tomllib.TOMLDecodeError as error:
        message = f"not valid TOML: {error}"
        raise InvalidInputError(message, path=shown) from None


def key_of(option: Option) -> str:
    """Return the name of an option in a file: without the leading hyphens."""
    return option.spelling[-1].removeprefix("--")


def is_configurable(option: Option) -> bool:
    """Whether an option may be set in a file.

    Inputs, outputs and replacements are named on the command line; --work is not an output.
    """
    reads_or_writes = isinstance(option.kind, Address | Documents | Location)
    return option.name == "work" or not (reads_or_writes or option.name == "overwrite")


def read_settings(
    command: Scope, options: Iterable[Option], file: ConfigurationFile, commands: Commands
) -> dict[str, Setting]:
    """Return the options that a file sets for a command, by their names in Python.

    An option of the command goes before the same option for all commands.
    """
    by_key = {key_of(option): option for option in options}
    settings: dict[str, Setting] = {}
    # The scopes that the command is in, its own last.
    scopes = [command[:length] for length in range(len(command) + 1)]
    entries = list(_walk(file, (), file.table, commands))
    for scope in scopes:
        for entry in entries:
            option = by_key.get(entry.key)
            if option is not None and entry.scope == scope:
                settings[option.name] = Setting(_checked(option, entry, file.path), file.path)
    return settings


def _options_in(scope: Scope, commands: Commands) -> dict[str, Option] | None:
    """Return the options of all commands in a scope by key; None without such a command."""
    members = [
        options for name, options in commands.items() if tuple(name.split())[: len(scope)] == scope
    ]
    if not members:
        return None
    return {key_of(option): option for options in members for option in options.values()}


def _walk(
    file: ConfigurationFile, scope: Scope, table: dict[str, Any], commands: Commands
) -> Iterator[_Entry]:
    known = _options_in(scope, commands) or {}
    seen = set()
    for written, value in table.items():
        key = written.replace("_", "-")
        inner = (*scope, written)
        label = ".".join(inner)
        if isinstance(value, dict) and _options_in(inner, commands) is not None:
            yield from _walk(file, inner, value, commands)
            continue
        if key not in known:
            problem = _unknown_key(label, scope, key, value, commands)
            raise InvalidInputError(problem, path=file.path)
        if not is_configurable(known[key]):
            flag = known[key].spelling[-1]
            message = f"{label} is for the command line only; write {flag} there"
            raise InvalidInputError(message, path=file.path)
        if key in seen:
            message = f"{label} is there twice, with a hyphen and with an underscore"
            raise InvalidInputError(message, path=file.path)
        seen.add(key)
        is_path = isinstance(value, str) and value not in Tokenizer.names
        if isinstance(known[key].kind, Tokenizer) and is_path:
            # From where the file is.
            value = str(Path(file.path).parent / value)
        yield _Entry(scope, key, value, label)


def _scopes(commands: Commands) -> set[Scope]:
    """Return the scopes of all commands."""
    names = [tuple(name.split()) for name in commands]
    return {name[:length] for name in names for length in range(len(name) + 1)}


def _checked(option: Option, entry: _Entry, path: str) -> Any:
    """Return the value as the command line hands it on."""
    value = entry.value
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


def _unknown_key(label: str, scope: Scope, key: str, value: Any, commands: Commands) -> str:
    """Return the message about a key of a file that is not an option."""
    scopes = _scopes(commands)
    names = {found[len(scope)] for found in scopes if found[: len(scope)] == scope != found}
    if key in names:
        return f"{label} must be a table, got {value!r}"
    if isinstance(value, dict):
        return f"{label} is not a command; {_advice(key, names, 'neardup --help')}"
    known = _options_in(scope, commands) or {}
    keys = [name for name, option in known.items() if is_configurable(option)]
    owner = " ".join(("neardup", *scope))
    listed = f"{owner} --help" if " ".join(scope) in commands else "neardup COMMAND --help"
    return f"{label} is not an option of `{owner}`; {_advice(key, keys, listed)}"


def _advice(word: str, known: Iterable[str], listed: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), 1)
    return f"did you mean {close[0]}?" if close else f"`{listed}` lists them"
