"""Exceptions that neardup raises on purpose.

Each message has the expected and the received value, and the remedy. The command line prints it
after ``error:`` and ends with exit code 1; any other exception is a defect of neardup.

An option has two names, and a message names it as its caller does. It is written with both, as
``format='same' (--format same)``: ``in_python`` keeps the first, ``on_command_line`` the second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

from neardup.version import pip_install

_FLAG = re.compile(r" \((--([a-z][a-z-]*)(?: ([^()]*))?)\)")


def option_name(name: str) -> str:
    """Return both names of an option, such as ``text_column``."""
    return f"{name} (--{name.replace('_', '-')})"


# Options that functions take as ``read=neardup.ReadOptions(...)``.
_READ = re.compile("(against-)?(text|id)-column|on-error|delimiter")


def in_python(message: str, *, with_read: bool = False) -> str:
    """Return a message with options as Python names them, or as ``read=`` takes them."""
    return _spelled(message, is_python=True, with_read=with_read)


def on_command_line(message: str) -> str:
    """Return a message with options in command-line spelling."""
    return _spelled(message, is_python=False)


def _spelled(message: str, *, is_python: bool, with_read: bool = False) -> str:
    parts: list[str] = []
    end = 0
    for flag in _FLAG.finditer(message):
        before, value = message[end : flag.start()], f" {flag[3]}" if flag[3] else ""
        name = rf"\b(?:with_)?{flag[2].replace('-', '_')}(?:='[^']*'|=\w+)?$"
        option = re.search(name, before.removesuffix(value))
        # Anything else in parentheses stays, such as a part of a path.
        if option is not None:
            if not is_python:
                before = before[: option.start()] + flag[1]
            elif with_read and _READ.fullmatch(flag[2]):
                given = option[0] if "=" in option[0] else f"{option[0]}='{flag[3]}'"
                given = given.replace("'None'", "...").replace("''", "'")
                before = f"{before[: option.start()]}read=neardup.ReadOptions({given})"
            parts.append(before)
            end = flag.end()
    return "".join(parts) + message[end:]


class NeardupError(Exception):
    """Base of all errors that neardup raises on purpose."""

    def __str__(self) -> str:
        """Return the message with options as Python names them."""
        return in_python(super().__str__(), with_read=True)

    @property
    def in_both(self) -> str:
        """Return the message with both names of its options."""
        return super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error without calling its constructor again."""
        return _restored, (type(self), self.args, vars(self))


class InvalidParameterError(NeardupError, ValueError):
    """An option is out of range, ineffective or incompatible.

    Parameters
    ----------
    message
        What was expected, what came, what to do; parameters have their names in Python.
    parameters
        Words of the message that are such names, for the command line to write its options. If none
        is given, those that the message has by both names, else the first word.
    """

    def __init__(self, message: str, *parameters: str) -> None:
        if not parameters and not _FLAG.search(message):
            parameters = tuple(message.split(maxsplit=1)[:1])
        self.parameters = parameters
        super().__init__(message)


class InvalidInputError(NeardupError, ValueError):
    """A row or file does not have the expected content.

    Parameters
    ----------
    message
        What was expected, what came, what to do.
    path, row
        File, and the row's number in it, counted from 1, if one is concerned.
    is_bad_row
        It would have been left out if bad rows were skipped.
    is_known_id
        The id of the row is one of the index already.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        row: int | None = None,
        is_bad_row: bool = False,
        is_known_id: bool = False,
    ) -> None:
        self.path, self.row = path, row
        self.is_bad_row, self.is_known_id = is_bad_row, is_known_id
        self.reason_in_both = message
        super().__init__(_place(path, row) + message)

    @property
    def reason(self) -> str:
        """Return the message without its place."""
        return in_python(self.reason_in_both)


class _FileError(NeardupError):
    """An error about a file (``path``), or its row."""

    def __init__(self, message: str, *, path: str | None = None, row: int | None = None) -> None:
        self.path, self.row = path, row
        super().__init__(_place(path, row) + message)


class ReadError(_FileError, OSError):
    """A file cannot be found, opened, decompressed or read."""


class WriteError(NeardupError, OSError):
    """An output cannot be written: full disk, missing permission."""


# What asks for replacing an output.
OVERWRITE = "overwrite=True (--overwrite)"


class OutputExistsError(NeardupError, FileExistsError):
    """The output exists and the call does not replace it."""

    @classmethod
    def at(cls, place: object) -> Self:
        """Return the error of an output that ``overwrite`` would replace."""
        return cls(f"{place} exists; choose another name, or replace it with {OVERWRITE}")


# What differs between schemes without being chosen.
_NO_OPTIONS = ("hash_version", "unicode_version", "frequencies")


class SketchMismatchError(NeardupError, ValueError):
    """Sketches or indexes to compare were made by different schemes.

    The message names the fields that differ; ``differences`` has the two values of each such field.
    """

    def __init__(self, differences: Mapping[str, tuple[object, object]]) -> None:
        self.differences = dict(differences)
        listed = "; ".join(
            f"{name if name in _NO_OPTIONS else option_name(name)} {a!r} and {b!r}"
            for name, (a, b) in differences.items()
        )
        super().__init__(f"made by unlike schemes: {listed}; make both with the same options")


class SketchFormatError(_FileError, ValueError):
    """A sketch file (``path``) is damaged, foreign or newer."""


class IndexFormatError(_FileError, ValueError):
    """An index file (``path``) is damaged, missing, foreign or newer."""


class DeniedError(NeardupError, ValueError):
    """An inserted document matches a removed document that was denied.

    ``denied_id`` is the id of the removed document, None if a service did not send it.
    """

    def __init__(self, message: str, *, denied_id: str | None = None) -> None:
        self.denied_id = denied_id
        super().__init__(message)

    @classmethod
    def of(cls, identifier: object, denied_id: str) -> Self:
        """Return the error of a denied document's copy."""
        message = (
            f"document {identifier!r} has the same tokens as {denied_id!r}, which was removed and "
            "denied; it is not inserted"
        )
        return cls(message, denied_id=denied_id)


class IndexLockedError(NeardupError, RuntimeError):
    """Another process (``holder``, if known) is writing the index."""

    def __init__(self, folder: str, holder: str | None = None, waited: float = 0.0) -> None:
        self.folder, self.holder = folder, holder
        for_so_long = f", and was for the {waited:g} seconds of timeout" if waited else ""
        super().__init__(
            f"{folder} is being written by {holder or 'another process'}{for_so_long}; "
            "wait until that is done, and try again"
        )


class ResultLimitError(NeardupError, RuntimeError):
    """A job found more results than allowed and wrote nothing."""

    def __init__(self, limit: int, found: int, share: float | None = None) -> None:
        self.limit, self.found = limit, found
        # Until all is joined, and pairs of equal records are spelled out, there may be more.
        counted = f"{found:,}"
        if share is not None:
            counted = f"at least {found:,} after {share:.0%} of the records"
        super().__init__(
            f"more than {limit:,} pairs: {counted}; raise limit (--limit), or ask for more similar "
            "pairs by a higher threshold (--threshold)"
        )


class MissingExtraError(NeardupError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs an extra: {pip_install(extra)}")

    @property
    def reads_documents(self) -> bool:
        """Return whether the extra reads documents, such as web pages."""
        return self.extra in ("pages", "documents")


class EngineError(NeardupError, RuntimeError):
    """An engine is misconfigured or could not finish a job."""


class ServiceError(NeardupError, RuntimeError):
    """A service refused a request or could not be reached.

    It may also lack room or time. ``status`` is the HTTP status, None without an answer.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class NeardupHint(UserWarning):
    """The default options do not suit the texts.

    The message, also in ``summary["hints"]``, recommends other options. The result is unaffected.
    """


def _restored(
    kind: type[NeardupError], arguments: tuple[Any, ...], values: dict[str, Any]
) -> NeardupError:
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(values)
    return error


def _place(path: str | None, row: int | None) -> str:
    if path is None:
        return ""
    return f"{path}: " if row is None else f"{path}, row {row}: "
