"""What users name as an output: a path, or a URL."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

# How the URL of a local file begins.
_LOCAL = "file://"


class Url(str):
    """The URL of an output, which fsspec writes."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self).name

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self).suffix


Target = Path | Url


def target_of(output: str | os.PathLike[str]) -> Target:
    """Return the path or URL that a user has named."""
    text = os.fspath(output)
    if text.startswith(_LOCAL):
        return Path(text.removeprefix(_LOCAL))
    protocol, separator, rest = text.partition("://")
    return Url(protocol + separator + rest.rstrip("/")) if separator else Path(text)
