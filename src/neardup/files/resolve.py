"""Resolve inputs to sources: paths, globs, URLs, standard input, data in memory."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InvalidInputError
from neardup.files.formats import file_source, first_suffix, has_rows
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
from neardup.files.rows import WrappedSource
from neardup.files.streams import StandardInput, is_url, reading
from neardup.options.groups import InputOptions
from neardup.options.kinds import Documents

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
        whose ending is of no format is text. In a folder, all files of known formats at any depth
        are inputs, others are passed over; hidden files and outputs of neardup are ignored. An
        archive is a folder with its members.
    options
        Options of the formats. Standard input is JSON lines, or with ``document`` line a text,
        unless they choose a format.

    Returns
    -------
    One source a file, or a folder where its files are one document, in the order of the arguments
    and sorted within each; a file that is named twice is taken once. Names are the paths below the
    folder that is named, and of several folders or files below the deepest one that has them all.
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
    named = {
        location: path
        for path, one in reversed(list(zip(paths, found, strict=True)))
        for location in one.files
    }
    others = _unique(location for one in found for location in one.passed_over)
    passed_over = [path_of(others[place]) for place in others.keys() - unique.keys()]
    for location in locations:
        _check_name(location)
    folders = _document_folders(named, options) if options.document == "folder" else {}
    roots = [
        _root(location, named[location], folders.get(location))
        for location in locations
        if location != STANDARD_INPUT
    ]
    shared = _common(roots)
    names = _names(locations, shared, _name_of_standard_input(options))
    sources = [
        _spooled_standard_input(name, options)
        if location == STANDARD_INPUT
        else file_source(location, name, options)
        for location, name in zip(locations, names, strict=True)
    ]
    if options.document == "folder":
        located = dict(zip(locations, sources, strict=True))
        binary = _binary_files(located, named) if options.input_format == "text" else []
        passed_over += map(path_of, binary)
        if len(binary) == len(located):
            Found(passed_over=passed_over).sorted_if_any(", ".join(map(repr, paths)), options)
        for location in binary:
            del located[location]
        sources = _joined(located, folders, shared)
    _check_different(sources)
    return Inputs(sources, passed_over)


def resolve_inputs(data: Any, options: InputOptions = _DEFAULTS) -> Inputs:
    """Find the sources that a Python caller names or hands over.

    Parameters
    ----------
    data
        A path, as a string or Path (see ``resolve_paths``), or a list of Path objects; or the
        rows themselves: an Arrow table or an object with an Arrow interface (pandas, Polars,
        DuckDB), a ``pyarrow.dataset.Dataset``, a list of strings, each a text, or a list of
        dictionaries, each a row. Other iterables are read to their end first.
    options
        Options of the formats.
    """
    if isinstance(data, str | Path):
        return resolve_paths([os.fspath(data)], options)
    if is_arrow(data):
        return Inputs([_in_memory(arrow_source(data), options)])
    if is_dataset(data):
        return Inputs([_in_memory(DatasetSource(data), options)])
    if isinstance(data, Mapping | bytes) or not isinstance(data, Iterable):
        raise InvalidInputError(refusal(data))
    items = list(Documents().checked("data", data))
    if items and all(isinstance(item, Path) for item in items):
        return resolve_paths([os.fspath(item) for item in items], options)
    return Inputs([_in_memory(rows_source(items), options)])


def told_apart(
    others: Sequence[Source], own: Sequence[Source], an_id: str | None = None
) -> Sequence[Source]:
    """Name the files of another collection so that none is called as another file of one's own.

    Parameters
    ----------
    others
        The other collection. Its names stay unless ``own`` has one of them. Then they become the
        paths below the deepest folder of the files of both, or a folder above it:
        ``folio/henry_v.txt`` if an own file is ``henry_v.txt``.
    own
        The first collection, whose names never change.
    an_id
        An id of the other collection in a table of both: names stay if they could not have made
        this id, such as one of an index or of a column.
    """
    places = {source.name: _parts(source.origin) for source in own if source.origin is not None}
    files = [
        (source, _parts(source.origin))
        for source in others
        if source.origin is not None and not isinstance(source.origin, StandardInput)
    ]

    def are_apart(names: Sequence[str]) -> bool:
        named = zip(names, files, strict=True)
        return all(places.get(name, parts) == parts for name, (_, parts) in named)

    if are_apart([source.name for source, _ in files]):
        return others
    names: list[str] = []
    for start in range(_common([*places.values(), *(parts for _, parts in files)]), -1, -1):
        names = ["/".join(parts[start:]) for _, parts in files]
        if are_apart(names):
            break
    if an_id is None or any(an_id == name or an_id.startswith(f"{name}:") for name in names):
        for name, (source, _) in zip(names, files, strict=True):
            _rename(source, name)
    return others


def _rename(source: Source, name: str) -> None:
    source.name = name
    if isinstance(source, WrappedSource):
        _rename(source.inner, name)


def _in_memory(rows: Source, options: InputOptions) -> Source:
    """Return the source of rows in memory, whose texts may be HTML."""
    if options.input_format != "html":
        return rows
    from neardup.files.pages.columns import HtmlColumnSource

    return HtmlColumnSource(rows, options)


def _unique(locations: Iterable[str]) -> dict[str, str]:
    """Return locations by their real path.

    The same file may come as a relative and as an absolute path, and by links; the first stands.
    """
    unique: dict[str, str] = {}
    for location in locations:
        unique.setdefault(location if is_url(location) else os.path.realpath(location), location)
    return unique


def _name_of_standard_input(options: InputOptions) -> str:
    is_text = options.document == "line" and options.input_format == "auto"
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


def _check_different(sources: Sequence[Source]) -> None:
    """Raise if two sources, or documents of two, would have one name."""
    names: dict[str, Source] = {}
    for source in sources:
        if names.setdefault(source.name, source) is not source:
            message = f"two inputs would both be called {source.name!r}; rename one of them"
            raise InvalidInputError(message)
    for name, source in names.items():
        file, _, row = name.rpartition(":")
        if source.is_one_row and row.isdecimal() and file in names:
            message = f"a row of {file!r} would be called {name!r}, as another input; rename one"
            raise InvalidInputError(message)


# The folders whose files are one document, by their parts.


def _document_folders(
    named: Mapping[str, str], options: InputOptions
) -> dict[str, tuple[str, ...]]:
    """Return the folder of each file that is put together with the others there.

    Arguments are entries: the entries of the one named folder, several folders, the matches of a
    pattern, or files. A folder is a document with all files below it. Files are the document of
    their folder, unless other entries there are folders; a named table stays a table.

    Raises
    ------
    InvalidInputError
        If a file of a folder has several documents.
    """
    folders: dict[str, tuple[str, ...]] = {}
    files: dict[str, tuple[str, ...]] = {}
    named_folders = {
        path
        for location, path in named.items()
        if _is_walked(location, path) and _is_below(_parts(location), _argument(path))
    }
    for location, path in named.items():
        if location == STANDARD_INPUT:
            continue
        is_walked = _is_walked(location, path)
        if has_rows(path_of(location), options):
            if not is_walked:
                continue
            message = (
                "each of its rows is a document, and document folder (--document folder) makes one "
                "of a folder's files; leave it out, name the files by a pattern such as "
                f"'{os.path.join(path, '**', '*.txt')}', or read all as text with input_format "
                "text (--input-format text)"
            )
            raise InvalidInputError(message, path=location)
        parts = _parts(location)
        depth = len(_argument(path)) + (named_folders == {path})
        if is_walked and len(parts) > depth:
            folders[location] = parts[:depth]
        else:
            files[location] = parts[:-1]
    parents = {folder[:-1] for folder in folders.values()}
    return folders | {each: folder for each, folder in files.items() if folder not in parents}


def _is_walked(location: str, path: str) -> bool:
    """Return whether a file is below a folder, or an archive, that an argument names or matches."""
    if location == STANDARD_INPUT or "**" in path:
        return False
    return len(_parts(location)) > len(_argument(path))


def _argument(path: str) -> tuple[str, ...]:
    """Return the parts of a path, a pattern or a URL that is named."""
    return _parts(path.removeprefix("file://"))


def _is_below(parts: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    return len(parts) > len(folder) and parts[: len(folder)] == folder


def _binary_files(sources: Mapping[str, Source], named: Mapping[str, str]) -> list[str]:
    """Return the files below folders that are no text: images, or programs that were compiled."""
    from neardup.files.plain import TextFileSource

    return [
        location
        for location, source in sources.items()
        if _is_walked(location, named[location])
        and isinstance(source, TextFileSource)
        and source.is_binary
    ]


def _joined(
    sources: Mapping[str, Source], folders: Mapping[str, tuple[str, ...]], shared: int
) -> list[Source]:
    """Put the sources of files together that are in a folder, where the first of them stands."""
    from neardup.files.folders import FolderSource

    locations: dict[Sequence[str], list[str]] = {}
    for location in sources:
        locations.setdefault(folders.get(location, (location,)), []).append(location)
    joined = []
    for folder, members in locations.items():
        if folders.get(members[0]) is None:
            joined.append(sources[members[0]])
            continue
        below = {each: "/".join(_parts(each)[len(folder) :]) for each in members}
        members.sort(key=below.__getitem__)
        origin = members[0]
        for _ in _parts(origin)[len(folder) :]:
            origin = os.path.dirname(origin)
        files, names = [sources[each] for each in members], [below[each] for each in members]
        joined.append(FolderSource(origin or os.curdir, "/".join(folder[shared:]), files, names))
    return joined


def written_document(
    path: str, name: str, documents: Iterable[str], options: InputOptions
) -> Source:
    """Return the source of a file, or of a folder that was one document, where it was written.

    ``documents`` are the names of all documents that were: some may lie in the folder.
    """
    from neardup.files.folders import FolderSource

    found = files_named(path, options.but(input_format="text")).files
    if found == [path]:
        return file_source(path, name, options)
    inner = [f"{each}/" for each in documents if each.startswith(f"{name}/")]
    below = ["/".join(_parts(each)[len(_parts(path)) :]) for each in found]
    own = {
        each: file_source(location, each, options)
        for location, each in zip(found, below, strict=True)
        if not f"{name}/{each}/".startswith(tuple(inner))
    }
    names = sorted(own)
    return FolderSource(path, name, [own[each] for each in names], names)


def _root(location: str, named: str, document: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Return the parts of the folder that was named, or of the one that has a file that was.

    If that is a ``document`` itself, it is the folder above, so that the document has a name.
    """
    folder, parts = _parts(named), _parts(location)
    root = folder if _is_below(parts, folder) else parts[:-1]
    return root if document is None else root[: len(document) - 1]


def _common(paths: Sequence[Sequence[str]]) -> int:
    """Return how many parts all paths begin with."""
    are_same = (len(set(parts)) == 1 for parts in zip(*paths, strict=False))
    return sum(1 for _ in takewhile(bool, are_same))


def _names(locations: Sequence[str], shared: int, standard_input: str) -> list[str]:
    """Name every file by its path without the parts that all share."""
    return [
        standard_input if location == STANDARD_INPUT else "/".join(_parts(location)[shared:])
        for location in locations
    ]


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
    # Not Path.exists, which fails on invalid names.
    if os.path.exists(queries):
        message = (
            f"queries is taken for a text, but {queries!r} is also the name of a file or folder; "
            f"write Path({queries!r}) to look for what is in it, [{queries!r}] to look for the text"
        )
        raise InvalidInputError(message)
    return [queries]
