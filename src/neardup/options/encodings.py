"""Kinds of values that say how the bytes of a text are read: encodings and separators."""

from __future__ import annotations

import codecs
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.options.kinds import Kind

# Python's own notations of strings, and what only host names are written in.
_NO_TEXTS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"})
_ASCII = bytes(range(128))


class Encoding(Kind):
    """The name of an encoding that Python knows and that can be cut into rows."""

    def checked(self, name: str, value: Any) -> Any:
        """Return the name."""
        codec = _codec_of(value)
        if codec is None:
            message = (
                f"{name} must be a name that Python has for how text is encoded, such as latin-1, "
                f"cp1252 or utf-16, got {value!r}"
            )
            raise InvalidParameterError(message)
        if not codec.startswith(("utf-16", "utf-32")) and not _has_ascii(codec):
            message = (
                f"{name} must be one in which ASCII characters are single bytes, or UTF-16 or "
                f"UTF-32, got {value!r}; convert such files first, for example with: "
                f"iconv -f {codec} -t utf-8 FILE"
            )
            raise InvalidParameterError(message)
        return value


def _codec_of(value: Any) -> str | None:
    """Return Python's name of a text encoding, None if it knows none."""
    if not isinstance(value, str):
        return None
    try:
        found = codecs.lookup(value)
        # Some codecs are from bytes to bytes, which looking them up does not say.
        "".encode(found.name)
    except (LookupError, ValueError):
        return None
    return None if found.name.replace("_", "-") in _NO_TEXTS else found.name


def _has_ascii(codec: str) -> bool:
    # Its characters are ASCII bytes after an escape.
    if codec.startswith("iso2022"):
        return False
    try:
        return _ASCII.decode(codec) == _ASCII.decode("ascii")
    except UnicodeError:
        return False


class Delimiter(Kind):
    r"""What separates the fields of CSV: one ASCII character; ``\t`` and ``tab`` are a tab."""

    def checked(self, name: str, value: Any) -> Any:
        """Return the character."""
        found = "\t" if value in ("\\t", "tab") else value
        is_one = isinstance(found, str) and len(found) == 1 and found.isascii()
        if not is_one or found in '"\r\n\0':
            message = (
                f"{name} must be one ASCII character, such as ';' or '|', or tab; no quote and no "
                f"line end; got {value!r}"
            )
            raise InvalidParameterError(message)
        return found
