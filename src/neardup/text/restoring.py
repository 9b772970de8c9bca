"""Schemes of indexes made again of their description."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.text.tokenizers import TokenFunction
from neardup.text.tokenizers.files import file_in_name


def described_tokenizer(
    description: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None
) -> str | Path | TokenFunction:
    """Return the tokenizer that is given, or that is described, if its name is enough.

    Raises
    ------
    InvalidParameterError
        If it was a file, which has to be given.
    """
    name = str(description.get("tokenizer"))
    file = file_in_name(name)
    if tokenizer is None and file is not None:
        message = f"tokenizer must be given: this index was made with the file {file}"
        raise InvalidParameterError(message)
    return name if tokenizer is None else tokenizer


def check_restored(found: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    """Make sure that a scheme is the one that was described.

    Raises
    ------
    SketchMismatchError
        If not: another tokenizer, or another Unicode version.
    """
    differing = [key for key in {**found, **description} if found.get(key) != description.get(key)]
    if differing:
        raise SketchMismatchError(
            {key: (description.get(key), found.get(key)) for key in sorted(differing)}
        )
