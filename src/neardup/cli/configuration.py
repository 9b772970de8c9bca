"""Where options stand besides the command line: files that are looked for, and variables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import InvalidInputError, ReadError

OWN_FILE = "neardup.toml"
PROJECT_FILE = "pyproject.toml"
VARIABLES = "NEARDUP_"
_NO_OPTIONS = ("NEARDUP_CACHE_DIR", "NEARDUP_JIT", "NEARDUP_LEVEL")
_REPOSITORIES = (".git", ".hg")


class ConfigurationFile(NamedTuple):
    """A file with options: its path from the working directory, and the table that has them.

    ``prefix`` are the names of that table.
    """

    path: str
    prefix: tuple[str, ...]
    table: dict[str, Any]


def find_files() -> list[ConfigurationFile]:
    """Read the nearest ``pyproject.toml`` with a table for neardup, and ``neardup.toml``.

    They are looked for in the working directory and, within a repository, in all folders above it
    up to the repository's root: what lies above that, anybody may have put there.
    """
    folders = _folders()
    found = (
        next(_read_all(folders, PROJECT_FILE, ("tool", "neardup")), None),
        next(_read_all(folders, OWN_FILE, ()), None),
    )
    return [file for file in found if file is not None]


def has_variables() -> bool:
    """Whether the environment may hold options; where kernels are kept is none."""
    return any(name.startswith(VARIABLES) and name not in _NO_OPTIONS for name in os.environ)


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


def _read_all(
    folders: list[Path], name: str, prefix: tuple[str, ...]
) -> Iterator[ConfigurationFile]:
    for depth, folder in enumerate(folders):
        if (folder / name).is_file():
            shown = str(Path(*[".."] * depth, name))
            table = _table_at(prefix, _parse(folder / name, shown), shown)
            if table is not None:
                yield ConfigurationFile(shown, prefix, table)


def _parse(path: Path, shown: str) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ReadError(str(error.strerror), path=shown) from None
    except UnicodeDecodeError:
        message = "not UTF-8 text, as TOML is"
        raise InvalidInputError(message, path=shown) from None
    # Most projects' files have nothing for us; to see that takes less than to load the parser.
    if path.name == PROJECT_FILE and "neardup" not in text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"not valid TOML: {error}"
        raise InvalidInputError(message, path=shown) from None


def _table_at(prefix: tuple[str, ...], table: Any, path: str) -> dict[str, Any] | None:
    """Return the table with these names; None if there is none."""
    for depth, name in enumerate(prefix, 1):
        table = table.get(name)
        if table is None:
            return None
        if not isinstance(table, dict):
            message = f"{'.'.join(prefix[:depth])} must be a table, got {table!r}"
            raise InvalidInputError(message, path=path)
    found: dict[str, Any] = table
    return found
