"""What a summary says of inputs: which files they were, and how they were read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from neardup.files.locations import path_of
from neardup.files.rows import Source
from neardup.jobs.options import other_columns_of
from neardup.options.groups import AgainstOptions, InputOptions, ReadingOptions
from neardup.reading.catalogue import Catalogue

# What both functions return has these names.
OF_INPUTS = ("input_files", "inputs", "against_files", "against", "reading")

# Files that a summary lists one by one.
_LISTED = 100

# Who reads, before the host of a URL: nothing that a summary should hold.
_USER_IN_URL = re.compile(r"(?<=://)[^/@]*@")


def describe_inputs(own: Sequence[Source], against: Sequence[Source]) -> dict[str, Any]:
    """Return for a summary the first files of both collections, and how many they are.

    Each has the ``name`` that it has in ids and tables, and its ``origin``, a path or URL without
    what gives access to it; null is data in memory.
    """
    return {
        "input_files": len(own),
        "inputs": _listed(own),
        "against_files": len(against),
        "against": _listed(against),
    }


def _listed(sources: Sequence[Source]) -> list[dict[str, str | None]]:
    return [
        {"name": source.name, "origin": source.origin and _without_access(source.origin)}
        for source in sources[:_LISTED]
    ]


def _without_access(origin: str) -> str:
    return _USER_IN_URL.sub("", path_of(origin))


def describe_reading(options: ReadingOptions, documents: Catalogue) -> dict[str, Any]:
    """Return for a summary the options that read the same texts and ids out of the same files."""
    described: dict[str, Any] = {"text_column": _columns(options.text_column)}
    if isinstance(options, AgainstOptions):
        described["against_text_column"] = _columns(other_columns_of(options).text)
    described["id_column"] = documents.columns.id
    return {"reading": described | {name: getattr(options, name) for name in InputOptions.known}}


def input_options_of(reading: Mapping[str, Any]) -> InputOptions:
    """Return the options of files that ``describe_reading`` has described."""
    return InputOptions(**{name: reading[name] for name in InputOptions.known if name in reading})


def _columns(names: str | Sequence[str]) -> str | list[str]:
    return names if isinstance(names, str) else list(names)
