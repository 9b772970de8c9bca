"""From one argument to the files it names: a file, a folder, a glob, or a URL of these."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from neardup.errors import InvalidInputError, ReadError
from neardup.files.archives import is_archive, unpack
from neardup.files.binary import HEAD_BYTES, foreign_kind
from neardup.files.destinations import recover_above
from neardup.files.formats import KNOWN_SUFFIXES, format_of, is_readable, missing_extras
from neardup.files.inputs import Inputs, NoFile, list_endings, passed_over
from neardup.files.remote import check_is_complete, is_remote_output
from neardup.files.streams import is_remote, reading
from neardup.options.groups import InputOptions

# Folders made by ``save_to_disk`` of Hugging Face: which of their files hold rows.

_STATE = "state.json"
_OF_ONE, _OF_SEVERAL = {_STATE, "dataset_info.json"}, "dataset_dict.json"


def saved_rows(folder: str, files: Collection[str]) -> set[str] | None:
    """Return the files of a folder that hold the rows of a saved data set; None if it is none.

    Other files there describe it, or are caches of earlier work with other rows. A folder of
    several data sets has only folders, and the file that lists them.
    """
    if _OF_SEVERAL in files:
        return set()
    if not _OF_ONE.issubset(files):
        return None
    state = Path(folder, _STATE)
    with reading(str(state)):
        content = state.read_bytes()
    try:
        return {str(about["filename"]) for about in json.loads(content)["_data_files"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"expected the state of a saved data set, which names its files: {error!r}"
        raise InvalidInputError(message, path=str(state)) from None


# Files that mark an output of ``neardup dedup`` or ``neardup drop``.
_OUTPUT_FILES = ("summary.json", "removed.parquet")


@dataclass
class Found:
    """The files of an argument, and other files of its folders."""

    files: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)

    def take(self, location: str, options: InputOptions) -> None:
        """Sort a file of a folder by its name."""
        name = path_of(location)
        is_input = is_archive(name, options) or is_readable(name, options)
        (self.files if is_input else self.passed_over).append(location)

    def sorted_if_any(self, what: str, options: InputOptions) -> Found:
        """Return both in the order of their names."""
        if not self.files and options.by_ending:
            message = (
                f"no file in {what} has the ending of a program's; name the language with language "
                "(--language)"
            )
            raise InvalidInputError(message)
        if not self.files:
            message = f"no file of a known format in {what}; a name ends in one of {KNOWN_SUFFIXES}"
            if self.passed_over:
                counts = passed_over(Inputs([], self.passed_over))
                advice = missing_extras(counts)
                if not advice and any(map(_may_be_text, self.passed_over)):
                    advice = ["input_format text (--input-format text) reads all files as text"]
                message = "; ".join([message, list_endings(counts), *advice])
            raise InvalidInputError(message)
        return Found(sorted(set(self.files)), sorted(set(self.passed_over)))


def _may_be_text(location: str) -> bool:
    """Return whether a file that was passed over may be text, by its first bytes."""
    if isinstance(location, NoFile):
        return False
    with contextlib.suppress(OSError), open(location, "rb") as file:
        return foreign_kind(file.read(HEAD_BYTES)) is None
    return True


class Archives:
    """The archives among some inputs, each opened once.

    Parameters
    ----------
    options
        Options of the formats.
    """

    def __init__(self, options: InputOptions) -> None:
        self._options = options
        self._opened: dict[str, Found] = {}

    def opened_in(self, found: Found, path: str) -> Found:
        """Return the files that an argument names, members of archives in the place of these."""
        opened = Found(passed_over=list(found.passed_over))
        for location in found.files:
            if is_archive(path_of(location), self._options):
                members = self._members(location)
                opened.files += members.files
                opened.passed_over += members.passed_over
            else:
                opened.files.append(location)
        if not opened.files:
            opened.sorted_if_any(
                f"the archive {path!r}" if path in found.files else f"{path!r}", self._options
            )
        return opened

    def _members(self, location: str) -> Found:
        if location not in self._opened:

            def is_input(name: str) -> bool:
                return is_readable(name, self._options)

            unpacked = unpack(location, is_input)
            files: list[str] = sorted(unpacked.files)
            self._opened[location] = Found(files, sorted(unpacked.passed_over))
        return self._opened[location]


def files_named(path: str, options: InputOptions) -> Found:
    """Return the files that one argument names, sorted.

    A named file may have any ending; files of a folder need one of a known format, unless
    ``options`` choose a format for all.
    """
    if is_remote(path) and not path.startswith("file://"):
        return _expand_url(path, options)
    return _expand_local(path.removeprefix("file://"), options)


def path_of(location: str) -> str:
    """Return a URL without query and fragment."""
    if location.startswith(("http://", "https://")):
        return location.partition("#")[0].partition("?")[0]
    return location


def _expand_local(path: str, options: InputOptions) -> Found:
    recover_above(path)
    # A file may have brackets in its name; a name that does not exist is a glob.
    if not glob.has_magic(path) or os.path.lexists(path):
        return _files_below(path, options)
    try:
        matches = glob.glob(path, recursive=True)
    except RecursionError:
        message = f"folders are nested too deep for the pattern {path!r}; name the folder itself"
        raise InvalidInputError(message) from None
    if not matches:
        message = f"no file matches the pattern {path!r}"
        raise InvalidInputError(message)
    found = Found()
    is_link = cache(lambda path: os.path.islink(path) and os.path.isdir(path))
    for match in matches:
        if any(map(is_link, _folders_matched(path, match))):
            continue
        if _is_special(match):
            found.passed_over.append(NoFile(_normal(match)))
        elif Path(match).is_dir():
            _walk(match, options, found)
        elif _is_any(path):
            # "corpus/**" matches folders and each of their entries.
            found.take(_checked_file(match), options)
        else:
            found.files.append(_checked_file(match))
    return found.sorted_if_any(f"the folders that match {path!r}", options)


def _folders_matched(pattern: str, match: str) -> Iterator[str]:
    """Yield the folders on the way to a match that the pattern does not name, and the match."""
    n_named = len(list(takewhile(lambda part: not glob.has_magic(part), pattern.split("/"))))
    parts = match.split("/")
    yield from ("/".join(parts[:stop]) for stop in range(n_named + 1, len(parts) + 1))


def _is_any(pattern: str) -> bool:
    """Return whether a pattern stands for all files at any depth, as a folder does."""
    return pattern.rpartition("/")[2] == "**"


def _files_below(path: str, options: InputOptions) -> Found:
    """Return the file itself, or the files of known formats in a folder."""
    # Not Path.is_dir, which fails where it may not look.
    if not os.path.isdir(path):
        return Found([_checked_file(path)])
    _check_is_no_output(path)
    found = Found()
    _walk(path, options, found)
    return found.sorted_if_any(f"the folder {path!r}", options)


def _checked_file(path: str) -> str:
    """Return the path of a file that can be opened, and again."""
    with reading(path):
        if not stat.S_ISREG(Path(path).stat().st_mode):
            message = (
                "expected a regular file, which can be read more than once;"
                " send a pipe to standard input and name it -"
            )
            raise ReadError(
                message,
                path=path,
            )
        Path(path).open("rb").close()
    return _normal(path)


def _walk(folder: str, options: InputOptions, found: Found) -> None:
    """Take the files of a folder, at any depth."""
    # One list and no recursion: trees may be deeper than Python's stack.
    below = [folder]
    while below:
        parent = below.pop()
        with reading(parent):
            entries = list(os.scandir(parent))
        folders = [entry for entry in entries if _is_folder(entry)]
        files = {entry.name: entry for entry in entries}
        for entry in folders:
            del files[entry.name]
            # Links may lead in circles. Hidden folders and outputs of earlier runs are not input.
            if entry.is_symlink() or entry.name.startswith(".") or _is_output(entry.path):
                continue
            below.append(entry.path)
        saved = saved_rows(parent, files)
        for name, entry in files.items():
            if name.startswith(".") or (saved is not None and name not in saved):
                continue
            path = _normal(entry.path)
            if _is_special(entry.path, entry):
                found.passed_over.append(NoFile(path))
            else:
                found.take(path, options)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself; opening it raises the error.
        return False


def _is_special(path: str, entry: os.DirEntry[str] | None = None) -> bool:
    """Return whether a path leads to a pipe, a device or a socket, which may never end."""
    try:
        if entry is not None and not entry.is_symlink() and entry.is_file():
            return False
        kind = Path(path).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)


def _normal(path: str) -> str:
    """Shorten a path; a file called - keeps its folder, since - alone is standard input."""
    shortened = os.path.normpath(path)
    return os.path.join(os.curdir, shortened) if shortened == "-" else shortened


def _expand_url(url: str, options: InputOptions) -> Found:
    """Return the files of a URL: itself, matches, or known formats below it."""
    with reading(url):
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(url)
        check_is_complete(filesystem, path)
        found = Found()
        if "*" in url:
            for name, about in filesystem.glob(path, detail=True).items():
                if about["type"] == "directory":
                    continue
                location = filesystem.unstrip_protocol(name)
                if _is_any(url):
                    found.take(location, options)
                else:
                    found.files.append(location)
            if not found.files and not found.passed_over:
                message = f"no file matches the pattern {url!r}"
                raise InvalidInputError(message)
            return found.sorted_if_any(f"the folders that match {url!r}", options)
        if _is_remote_folder(filesystem, path, url):
            names = filesystem.find(path)
            if is_remote_output(filesystem, path):
                message = f"{url!r} was written by neardup; name '{url.rstrip('/')}/kept' in it"
                raise InvalidInputError(message)
            for name in names:
                found.take(filesystem.unstrip_protocol(name), options)
            return found.sorted_if_any(f"the folder {url!r}", options)
    return Found([url])


def _is_remote_folder(filesystem: Any, path: str, url: str) -> bool:
    """Return whether a URL is a folder and no file; FileNotFoundError if it is neither.

    A table in parts is a folder with the suffix of a file. One request finds out; over HTTP, where
    folders cannot be listed, it is always a file.
    """
    name = path_of(url)
    if format_of(name) is not None or is_archive(name, InputOptions()):
        return bool(filesystem.info(path)["type"] == "directory")
    if filesystem.isdir(path):
        return True
    if not filesystem.exists(path):
        raise FileNotFoundError
    return False


def _is_output(folder: str) -> bool:
    """Return whether neardup has written a folder."""
    return all(os.path.lexists(os.path.join(folder, name)) for name in _OUTPUT_FILES)


def _check_is_no_output(folder: str) -> None:
    if _is_output(folder):
        message = f"{folder!r} was written by neardup; name {os.path.join(folder, 'kept')!r} in it"
        raise InvalidInputError(message)
