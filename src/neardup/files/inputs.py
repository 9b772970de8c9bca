"""Resolve a user's paths, globs, URLs, standard input and data."""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakSet

from neardup.errors import InvalidInputError, ReadError
from neardup.files.archives import unpack
from neardup.files.destinations import is_remote_output
from neardup.files.folders import FolderSource, document_folders, joined_documents
from neardup.files.formats import (
    KNOWN_SUFFIXES,
    file_source,
    format_of,
    is_archive,
    is_readable,
    missing_extras,
)
from neardup.files.memory import arrow_source, is_arrow, rows_source
from neardup.files.rows import Source
from neardup.files.streams import (
    Copied,
    NamedFile,
    ending_of,
    is_remote,
    is_url,
    parts_of,
    path_of,
    reading,
)
from neardup.options.groups import InputOptions
from neardup.options.kinds import Documents

STANDARD_INPUT = "-"
_PIPED = "standard input"

# Endings that a message names, the most frequent ones.
_MOST_ENDINGS = 8

_DEFAULTS = InputOptions()


class Inputs(tuple["Source", ...]):
    """The sources of a collection in order, and its folders' ignored files.

    ``passed_over`` counts by ending the files of folders that were not read, because their endings
    mean no format, or because they are pipes, devices or sockets.
    """

    passed_over: Mapping[str, int]

    def __new__(cls, sources: Iterable[Source], passed_over: Iterable[str] = ()) -> Inputs:
        """Return the sources, with the paths of ignored files counted."""
        made = super().__new__(cls, sources)
        made.passed_over = Counter(map(_shown_ending, passed_over))
        return made

    def changed(self, change: Callable[[Source], Source]) -> Inputs:
        """Return other sources in the places of these."""
        made = Inputs(map(change, self))
        made.passed_over = self.passed_over
        return made


def _shown_ending(location: str) -> str:
    """Return a file name's ending, escaped as valid Unicode."""
    if _is_special(location):
        return "(pipe, device or socket)"
    return ending_of(location).encode("utf-8", "backslashreplace").decode()


def origins_of(*collections: Iterable[Source]) -> list[str | None]:
    """Return all files' paths and URLs, None for memory data."""
    return [file.origin for sources in collections for each in sources for file in each.files]


def passed_over(*collections: Sequence[Source]) -> dict[str, int]:
    """Count collections' ignored files by ending, most frequent first."""
    counts: Counter[str] = Counter()
    for sources in collections:
        if isinstance(sources, Inputs):
            counts.update(sources.passed_over)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def list_endings(counts: Mapping[str, int]) -> str:
    """Format the counts of ignored files by ending."""
    shown = [f"{ending or 'without ending'} {number:,}" for ending, number in counts.items()]
    if len(shown) > _MOST_ENDINGS:
        shown[_MOST_ENDINGS:] = [f"and {len(shown) - _MOST_ENDINGS} more endings"]
    total = sum(counts.values())
    return f"{total:,} {'file' if total == 1 else 'files'} passed over: {', '.join(shown)}"


# From the arguments of a user to sources.


def resolve_inputs(data: Any, options: InputOptions = _DEFAULTS) -> Inputs:
    """Return the sources of paths or data from Python.

    ``data`` is a path, as a string or Path (see ``resolve_paths``), or a list of Path objects; or
    the rows themselves: an Arrow table or an object with an Arrow interface (pandas, Polars,
    DuckDB), a list of strings, each a text, or a list of dictionaries, each a row. Other iterables
    are read to their end first.
    """
    if isinstance(data, str | Path):
        try:
            return resolve_paths([os.fspath(data)], options)
        except ReadError as error:
            if isinstance(data, str) and " " in data:
                error.args = (f"{error.in_both}; a string is a path, put texts into a list",)
            raise
    rows: Source
    if is_arrow(data):
        rows = arrow_source(data)
    elif (
        isinstance(data, Mapping | bytes)
        or not isinstance(data, Iterable)
        or getattr(data, "shape", None) == ()
    ):
        message = (
            "expected a path, a list of strings or dictionaries, or an Arrow table, got "
            f"{type(data).__name__}"
        )
        raise InvalidInputError(message)
    else:
        items = list(Documents().checked("data", data))
        if items and all(isinstance(item, Path) for item in items):
            return resolve_paths([os.fspath(item) for item in items], options)
        rows = rows_source(items)
    return Inputs([rows])


def as_documents(queries: Any) -> Any:
    """Return a single string as a list of one text."""
    return [queries] if isinstance(queries, str) else queries


def resolve_paths(paths: Sequence[str], options: InputOptions = _DEFAULTS) -> Inputs:
    """Return the sources of files, folders, globs, archives and URLs.

    A named file whose ending is of no format is text. In a folder, all files of known formats at
    any depth are inputs, others are passed over; hidden files and outputs of neardup are ignored.

    Sources are in the order of the arguments and sorted within each; a file that is named twice is
    taken once. Names are the paths below the folder that is named, and of several folders or files
    below the deepest one that has them all.
    """
    if not paths or not all(paths):
        message = "expected at least one input, got none; name a file or a folder"
        raise InvalidInputError(message)
    by_path: dict[str, NamedFile] = {}
    others: dict[str, str] = {}
    opened: dict[str, tuple[list[Copied], list[str]]] = {}
    for path in paths:
        found, rest = ([path], []) if path == STANDARD_INPUT else _files_of(path, options, opened)
        for location in found:
            _check_name(location)
            by_path.setdefault(_real_path(location), NamedFile(location, path))
        others |= {_real_path(location): path_of(location) for location in rest}
    not_read = [others[path] for path in others.keys() - by_path.keys()]
    files = [file for file in by_path.values() if file.location != STANDARD_INPUT]
    folders = document_folders(files, options) if options.document == "folder" else {}
    shared = _common([_root(file, folders.get(file.location)) for file in files])
    sources = {
        file: _copied_standard_input(options)
        if file.location == STANDARD_INPUT
        else file_source(file.location, "/".join(file.parts[shared:]), options)
        for file in by_path.values()
    }
    joined = list(sources.values())
    if options.document == "folder":
        # A folder of texts may have images and programs in it.
        binary = [file for file, source in sources.items() if file.is_walked and _is_binary(source)]
        not_read += [path_of(file.location) for file in binary]
        if len(binary) == len(sources):
            raise _no_files(", ".join(paths), not_read, options)
        for file in binary:
            del sources[file]
        joined = joined_documents(sources, folders, shared)
    _check_different(joined)
    return Inputs(joined, not_read)


def _is_binary(source: Source) -> bool:
    from neardup.files.plain import TextFileSource

    return isinstance(source, TextFileSource) and source.is_binary


def _real_path(location: str) -> str:
    """Return one path for all names of a file, or its URL."""
    return location if is_url(location) else os.path.realpath(location)


def _check_name(location: str) -> None:
    """Raise for non-Unicode file names, as ids contain them."""
    try:
        location.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(location).decode("utf-8", "backslashreplace")
        message = f"the file name is not valid UTF-8, rename it: {shown}"
        raise InvalidInputError(message) from None


def _check_different(sources: Sequence[Source]) -> None:
    """Raise if two sources share a name."""
    names: set[str] = set()
    for source in sources:
        if source.name in names:
            message = f"two inputs would both be called {source.name!r}; rename one of them"
            raise InvalidInputError(message)
        names.add(source.name)


# Streams that were standard input.
_HAS_BEEN_READ: WeakSet[BinaryIO] = WeakSet()


def _copied_standard_input(options: InputOptions) -> Source:
    """Copy standard input to a temporary file for repeated reading."""
    if sys.stdin is None:
        message = "standard input is closed; name a file, or pipe one"
        raise ReadError(message)
    if sys.stdin.buffer in _HAS_BEEN_READ:
        message = "standard input can be read only once; name a file for one of the inputs"
        raise InvalidInputError(message)
    _HAS_BEEN_READ.add(sys.stdin.buffer)
    known = format_of("a.txt" if options.document == "line" else "a.jsonl", options)
    assert known is not None
    name = f"stdin{known.suffixes[0]}"
    folder = tempfile.mkdtemp(prefix="neardup-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, name)
    with reading("standard input"), path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
    return file_source(Copied(_PIPED, path), name, options)


# Names: paths below the folder that is named.


def _root(file: NamedFile, document: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the parts of the named folder, or file's folder.

    If that is a ``document`` itself, it is the folder above, so that the document has a name.
    """
    root = file.named if file.is_below else file.parts[:-1]
    return root if document is None else root[: len(document) - 1]


def _common(paths: Sequence[Sequence[str]]) -> int:
    """Return how many parts all paths begin with."""
    are_same = (len(set(parts)) == 1 for parts in zip(*paths, strict=False))
    return sum(1 for _ in takewhile(bool, are_same))


def name_apart(
    others: Sequence[Source], own: Sequence[Source], example_id: str | None = None
) -> Sequence[Source]:
    """Rename files of the other collection if ``own`` has files of the same names.

    The new names are paths below the deepest folder of both collections, such as
    ``folio/henry_v.txt`` beside an own ``henry_v.txt``; if they conflict as well, below a folder
    above it. ``example_id`` is an id of the other collection in a table. The old names stay if the
    new ones could not have made that id, because ids were those of a column or an index.
    """
    places = {source.name: parts_of(source.origin) for source in own if source.origin is not None}
    files = [
        (source, parts_of(source.origin))
        for source in others
        if source.origin is not None and source.origin != _PIPED
    ]

    def are_apart(names: Sequence[str]) -> bool:
        named = zip(names, files, strict=True)
        return all(places.get(name, parts) == parts for name, (_, parts) in named)

    if are_apart([source.name for source, _ in files]):
        return others
    names: list[str] = []
    shared = _common([*places.values(), *(parts for _, parts in files)])
    for start in range(shared, -1, -1):
        names = ["/".join(parts[start:]) for _, parts in files]
        if are_apart(names):
            break
    # An id that a file makes is <file> or <file>:<row>.
    if example_id is None or any(f"{example_id}:".startswith(f"{name}:") for name in names):
        for name, (source, _) in zip(names, files, strict=True):
            source.name = name
    return others


# From one argument to the files it names.


def _files_of(
    path: str, options: InputOptions, opened: dict[str, tuple[list[Copied], list[str]]]
) -> tuple[list[str], list[str]]:
    """Return an argument's input files, with members of archives, and others."""
    files: list[str] = []
    others: list[str] = []
    for location, is_named in sorted(set(_found(path))):
        name = path_of(location)
        is_input = is_named or is_archive(name) or is_readable(name, options)
        if not is_input or _is_special(location):
            others.append(location)
        elif not is_archive(name):
            files.append(location)
        else:
            if location not in opened:
                opened[location] = unpack(location, lambda name: is_readable(name, options))
            members, rest = opened[location]
            files += sorted(members)
            others += rest
    if not files:
        raise _no_files(path, others, options)
    return files, others


def _no_files(path: str, others: Iterable[str], options: InputOptions) -> InvalidInputError:
    """Return the error for an argument without input files."""
    if options.by_ending:
        message = (
            f"no file in {path!r} has the ending of a program's; name the language of all, such "
            "as tokenizer code:java (--tokenizer code:java)"
        )
        return InvalidInputError(message)
    message = f"no file of a known format in {path!r}; a name ends in one of {KNOWN_SUFFIXES}"
    if counts := passed_over(Inputs([], others)):
        advice = missing_extras(counts)
        if not advice and options.input_format == "auto":
            advice = ["input_format text (--input-format text) reads all files as text"]
        message = "; ".join([message, list_endings(counts), *advice])
    return InvalidInputError(message)


def _is_special(location: str) -> bool:
    """Return whether a path is a pipe, device or socket."""
    try:
        kind = os.stat(location).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)


def _found(path: str) -> Iterator[tuple[str, bool]]:
    """Yield an argument's files, and whether it names each one."""
    local = path.removeprefix("file://")
    if is_remote(local):
        with reading(path):
            yield from _found_at_url(path)
    # A file may have brackets in its name; a name that does not exist is a glob.
    elif glob.has_magic(local) and not os.path.lexists(local):
        yield from _matches(local)
    # Not Path.is_dir, which fails where it may not look.
    elif not os.path.isdir(local):
        yield _checked_file(local), True
    elif _is_output(local):
        message = f"{local!r} was written by neardup; name {os.path.join(local, 'kept')!r} in it"
        raise InvalidInputError(message)
    else:
        yield from _walk(local)


def _matches(pattern: str) -> Iterator[tuple[str, bool]]:
    """Yield the files that match a pattern, and those of matching folders."""
    matches = glob.glob(pattern, recursive=True)
    if not matches:
        message = f"no file matches the pattern {pattern!r}"
        raise InvalidInputError(message)
    is_link = cache(lambda path: os.path.islink(path) and os.path.isdir(path))
    n_named = len(list(takewhile(lambda part: not glob.has_magic(part), pattern.split("/"))))
    for match in matches:
        parts = match.split("/")
        if any(is_link("/".join(parts[:stop])) for stop in range(n_named + 1, len(parts) + 1)):
            continue
        if os.path.isdir(match):
            yield from _walk(match)
        elif _is_special(match):
            yield _normal(match), False
        else:
            yield _checked_file(match), not _is_any(pattern)


def _is_any(pattern: str) -> bool:
    """Return whether a pattern matches entire folders, as ``corpus/**`` does."""
    return pattern.rpartition("/")[2] == "**"


def _checked_file(path: str) -> str:
    """Return the path of a repeatedly readable file."""
    with reading(path):
        if not stat.S_ISREG(os.stat(path).st_mode):
            message = (
                "expected a regular file, which can be read more than once;"
                " send a pipe to standard input and name it -"
            )
            raise ReadError(message, path=path)
        Path(path).open("rb").close()
    return _normal(path)


def _normal(path: str) -> str:
    """Normalize a path, and keep ``./-`` distinct from standard input."""
    shortened = os.path.normpath(path)
    return os.path.join(os.curdir, shortened) if shortened == "-" else shortened


def _walk(folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the files of a folder, at any depth.

    Links to folders may lead in circles. Hidden folders and outputs of earlier runs are no input.
    """
    # One list and no recursion: trees may be deeper than Python's stack.
    below = [folder]
    while below:
        parent = below.pop()
        with reading(parent):
            entries = list(os.scandir(parent))
        for entry in entries:
            if entry.name.startswith("."):
                continue
            # Not its is_dir, which fails for a link to itself.
            if not os.path.isdir(entry.path):
                yield _normal(entry.path), False
            elif not (entry.is_symlink() or _is_output(entry.path)):
                below.append(entry.path)


def _is_output(folder: str) -> bool:
    """Return whether ``neardup dedup`` or ``neardup drop`` wrote a folder."""
    names = ("summary.json", "removed.parquet")
    return all(os.path.lexists(os.path.join(folder, name)) for name in names)


def _found_at_url(url: str) -> Iterator[tuple[str, bool]]:
    """Yield the files of a URL: itself, matches or contents."""
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url)
    if "*" in url:
        matches = system.glob(path, detail=True)
        files = [name for name, about in matches.items() if about["type"] != "directory"]
        if not files:
            message = f"no file matches the pattern {url!r}"
            raise InvalidInputError(message)
        yield from ((system.unstrip_protocol(name), not _is_any(url)) for name in files)
        return
    name = path_of(url)
    # A table in parts is a folder with the suffix of a file. One request finds out; over HTTP,
    # where folders cannot be listed, it is always a file.
    if format_of(name) is not None or is_archive(name):
        is_folder = system.info(path)["type"] == "directory"
    else:
        is_folder = system.isdir(path)
        if not is_folder and not system.exists(path):
            raise FileNotFoundError
    if not is_folder:
        yield url, True
        return
    if is_remote_output(system, path):
        message = f"{url!r} was written by neardup; name '{url.rstrip('/')}/kept' in it"
        raise InvalidInputError(message)
    yield from ((system.unstrip_protocol(name), False) for name in system.find(path))


def written_document(
    path: str, name: str, documents: Iterable[str], options: InputOptions
) -> Source:
    """Return the source of one of the written files or folder documents."""
    found = sorted(location for location, _ in _found(path))
    if found == [path]:
        return file_source(path, name, options)
    inner = tuple(f"{each}/" for each in documents if each.startswith(f"{name}/"))
    own = {}
    for location in found:
        below = "/".join(parts_of(location)[len(parts_of(path)) :])
        if not f"{name}/{below}/".startswith(inner):
            own[below] = file_source(location, below, options)
    names = sorted(own)
    return FolderSource(path, name, [own[each] for each in names], names)
