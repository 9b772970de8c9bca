"""From one argument to the files it names: a file, a folder, a glob, or a URL of these."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from neardup.errors import InvalidInputError, ReadError
from neardup.files.formats import KNOWN_SUFFIXES, format_of, known_format
from neardup.files.streams import is_remote, reading
from neardup.storage.scratch import recover_above

# What marks a folder as written by ``neardup dedup`` or ``neardup drop``.
_OUTPUT_FILES = ("summary.json", "removed.parquet")


def files_named(path: str) -> Iterator[str]:
    """Return the files that one argument names, sorted.

    Raises
    ------
    ReadError
        If a file is not there or cannot be opened.
    InvalidInputError
        If there is no file, or one of unknown format.
    """
    if is_remote(path) and not path.startswith("file://"):
        yield from _expand_url(path)
    else:
        yield from _expand_local(path.removeprefix("file://"))


def path_of(location: str) -> str:
    """Drop from a URL what is not part of the path."""
    if location.startswith(("http://", "https://")):
        return location.partition("#")[0].partition("?")[0]
    return location


def _expand_local(path: str) -> Iterator[str]:
    recover_above(path)
    # A file may have brackets in its name; only what does not exist as it stands is a glob.
    if not glob.has_magic(path) or os.path.lexists(path):
        yield from _files_below(path)
        return
    matches = glob.glob(path, recursive=True)
    if not matches:
        message = f"no file matches the pattern {path!r}"
        raise InvalidInputError(message)
    # "corpus/**" matches folders and, one by one, what is in them.
    folders = {match for match in matches if Path(match).is_dir()}
    files = {file for match in matches if match not in folders for file in _files_below(match)}
    files.update(file for folder in folders for file in _known_files(folder))
    if not files:
        message = f"the folders that match {path!r}"
        raise _empty(message)
    yield from sorted(files)


def _files_below(path: str) -> list[str]:
    """Return the file itself, or the files of known formats in a folder."""
    # Not Path.is_dir, which fails where it may not look.
    if os.path.isdir(path):
        _check_is_no_output(path)
        files = sorted(_known_files(path))
        if not files:
            message = f"the folder {path!r}"
            raise _empty(message)
        return files
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
    known_format(path, path)
    with reading(path):
        Path(path).open("rb").close()
    return [_normal(path)]


def _known_files(folder: str) -> Iterator[str]:
    def fail(error: OSError) -> None:
        with reading(str(error.filename)):
            raise error

    for parent, folders, files in os.walk(folder, onerror=fail):
        # Neither hidden folders nor what an earlier run has written are input.
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not _is_output(os.path.join(parent, name))
        ]
        for name in files:
            if not name.startswith(".") and format_of(name) is not None:
                yield _normal(os.path.join(parent, name))


def _normal(path: str) -> str:
    """Shorten a path; a file called - keeps its folder, since - alone is standard input."""
    shortened = os.path.normpath(path)
    return os.path.join(os.curdir, shortened) if shortened == "-" else shortened


def _expand_url(url: str) -> list[str]:
    """Return the files of a URL: itself, those that match, or those of known formats below it."""
    with reading(url):
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(url)
        if "*" in url:
            found = filesystem.glob(path)
            files = sorted(filesystem.unstrip_protocol(name) for name in found)
            files = [file for file in files if format_of(path_of(file)) is not None]
            if not files:
                message = f"no file of a known format matches the pattern {url!r}"
                raise InvalidInputError(message)
            return files
        # Asking whether it is a folder takes a request; a name with a known suffix needs none.
        if format_of(path_of(url)) is not None:
            if not filesystem.exists(path):
                raise FileNotFoundError
            return [url]
        if filesystem.isdir(path):
            found = [name for name in filesystem.find(path) if format_of(name) is not None]
            if not found:
                message = f"the folder {url!r}"
                raise _empty(message)
            return sorted(filesystem.unstrip_protocol(name) for name in found)
    known_format(path_of(url), url)
    return [url]


def _empty(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"no file of a known format in {what}; a name ends in one of {KNOWN_SUFFIXES}"
    )


def _is_output(folder: str) -> bool:
    """Tell a folder that neardup has written."""
    return all(os.path.lexists(os.path.join(folder, name)) for name in _OUTPUT_FILES)


def _check_is_no_output(folder: str) -> None:
    if _is_output(folder):
        message = f"{folder!r} was written by neardup; name {os.path.join(folder, 'kept')!r} in it"
        raise InvalidInputError(message)
