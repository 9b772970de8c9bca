"""From what a user names to sources: paths, globs, URLs, standard input, data in memory."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InvalidInputError
from neardup.files.formats import file_source, first_suffix
from neardup.files.inputs import Inputs
from neardup.files.locations import Archives, Found, files_named, path_of
from neardup.files.memory import (
    DatasetSource,
    arrow_source,
    is_arrow,
    is_dataset,
    refusal,
    rows_source,
)
from neardup.files.streams import StandardInput, is_url, reading
from neardup.options.groups import InputOptions

if TYPE_CHECKING:
    from neardup.files.rows import Source

STANDARD_INPUT = "-"

_DEFAULTS = InputOptions()


def resolve_paths(paths: Sequence[str], options: InputOptions = _DEFAULTS) -> Inputs:
    """Find the files that the arguments of a command name.

    Parameters
    ----------
    paths
        Files, folders, globs (``**`` for any depth), URLs, or ``-`` for standard input. A file
        whose ending means no format is text. Of a folder, all files of known formats at any depth
        are taken, others are passed over; nothing hidden and no output of neardup is looked at. An
        archive is a folder with its members.
    options
        What files hold. Standard input is JSON lines, or with ``lines`` a text, unless they
        choose a format.

    Returns
    -------
    One source a file, in the order of the arguments and sorted within each; a file that is named
    twice is taken once. Names are the paths below the deepest folder that has all the files.
    """
    if not paths or not all(paths):
        message = "expected at least one input, got none; name a file or a folder"
        raise InvalidInputError(message)
    archives = Archives(options)
    found = [
        Found([path])
        if path == STANDARD_INPUT
        else archives.opened_in(files_named(path, options), path)
        for path in paths
    ]
    unique = _unique(location for one in found for location in one.files)
    locations = list(unique.values())
    others = _unique(location for one in found for location in one.passed_over)
    passed_over = [path_of(others[place]) for place in others.keys() - unique.keys()]
    for location in locations:
        _check_name(location)
    names = _names(locations, _name_of_standard_input(options))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = f"two inputs would both be called {twice!r}; rename one of them"
        raise InvalidInputError(message)
    sources = (
        _spooled_standard_input(name, options)
        if location == STANDARD_INPUT
        else file_source(location, name, options)
        for location, name in zip(locations, names, strict=True)
    )
    return Inputs(sources, passed_over)


def resolve_inputs(data: Any, options: InputOptions = _DEFAULTS) -> Inputs:
    """Find the sources that a Python caller names or hands over.

    Parameters
    ----------
    data
        A path, as a string or Path (see ``resolve_paths``), or a list of Path objects; or the
        rows themselves: an Arrow table or anything that speaks Arrow (pandas, Polars, DuckDB), a
        ``pyarrow.dataset.Dataset``, a list of strings, each a text, or a list of dictionaries,
        each a row. Other iterables are read to their end first.
    options
        What files hold.
    """
    if isinstance(data, str | Path):
        return resolve_paths([os.fspath(data)], options)
    if is_arrow(data):
        return Inputs([_in_memory(arrow_source(data), options)])
    if is_dataset(data):
        return Inputs([_in_memory(DatasetSource(data), options)])
    if isinstance(data, Mapping | bytes) or not isinstance(data, Iterable):
        raise InvalidInputError(refusal(data))
    items = list(data)
    if items and all(isinstance(item, Path) for item in items):
        return resolve_paths([os.fspath(item) for item in items], options)
    return Inputs([_in_memory(rows_source(items), options)])


def _in_memory(rows: Source, options: InputOptions) -> Source:
    """Return the source of rows in memory, whose texts may be HTML."""
    if options.input_format != "html":
        return rows
    from neardup.files.pages.columns import HtmlColumnSource

    return HtmlColumnSource(rows, options)


def _unique(locations: Iterable[str]) -> dict[str, str]:
    """Return locations by what they lead to.

    The same file may come as a relative and as an absolute path; the first stands.
    """
    unique: dict[str, str] = {}
    for location in locations:
        unique.setdefault(location if is_url(location) else _absolute(location), location)
    return unique


def _name_of_standard_input(options: InputOptions) -> str:
    is_text = options.lines and options.input_format == "auto"
    return "stdin" + first_suffix("text" if is_text else options.input_format)


def _check_name(location: str) -> None:
    """File names go into ids and tables, which hold Unicode only."""
    try:
        location.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(location).decode("utf-8", "backslashreplace")
        message = f"the file name is not valid UTF-8, rename it: {shown}"
        raise InvalidInputError(message) from None


def _absolute(path: str) -> str:
    """Complete a path without following links: in some caches all names lead to one folder."""
    return os.path.normpath(Path.cwd() / path)


def _names(locations: list[str], standard_input: str) -> list[str]:
    """Name every file by its path below the deepest folder that has them all."""
    files = [location for location in locations if location != STANDARD_INPUT]
    parts = {file: _parts(file) for file in files}
    shared = 0
    while len({path[: shared + 1] for path in parts.values()}) == 1 and all(
        len(path) > shared + 1 for path in parts.values()
    ):
        shared += 1
    names = {file: "/".join(parts[file][shared:]) for file in files}
    return [names.get(location, standard_input) for location in locations]


def _parts(location: str) -> tuple[str, ...]:
    """Split a path or a URL into folders and a file name that are safe in an output path."""
    if is_url(location):
        protocol, _, path = path_of(location).partition("://")
        return (protocol, *(part for part in path.split("/") if part not in ("", ".", "..")))
    local = Path(_absolute(location))
    return tuple(part for part in local.parts if part != local.anchor)


def _spooled_standard_input(name: str, options: InputOptions) -> Source:
    """Copy standard input to a temporary file, because jobs read their input more than once."""
    folder = tempfile.mkdtemp(prefix="neardup-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, name)
    with reading("standard input"), path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
    return file_source(StandardInput(path), name, options)


def as_documents(queries: Any) -> Any:
    """Take a string for a single text."""
    if not isinstance(queries, str):
        return queries
    # Not Path.exists, which fails on what cannot be a name.
    if os.path.exists(queries):
        message = (
            f"queries is taken for a text, but {queries!r} is also the name of a file or folder; "
            f"write Path({queries!r}) to look for what is in it, [{queries!r}] to look for the text"
        )
        raise InvalidInputError(message)
    return [queries]
