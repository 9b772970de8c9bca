"""Read and write ``summary.json``, with digests of an output folder.

A digest is SHA-256, as ``sha256sum`` prints it, of the file of a table, and of the other values of
the summary in a canonical form. Digests detect damage and forgotten edits; they are not a
signature.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from neardup.errors import InvalidInputError, MissingExtraError, ReadError
from neardup.files.inputs import Inputs, resolve_inputs
from neardup.files.rows import Source
from neardup.files.streams import Destination, InputStream, is_url, path_of, read_blocks, reading
from neardup.options.groups import InputOptions
from neardup.version import __version__

SUMMARY = "summary.json"

# Keys of the digests: one of the tables by name, one of the summary.
_OF_TABLES, _OF_SUMMARY = "tables", "digest"

_A_DOCUMENT = "a file of this kind is a document, and no table that neardup has written"

_BLOCK_BYTES = 1 << 20

# Summaries have some hundred rows; a larger file is not a summary.
_MOST_BYTES = 64 << 20


def write_summary(folder: Destination, summary: dict[str, Any], tables: Mapping[str, str]) -> None:
    """Write a folder's summary with digests of tables and itself."""
    summary[_OF_TABLES] = {name: f"sha256:{digest}" for name, digest in tables.items()}
    summary[_OF_SUMMARY] = _digest_of(summary)
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    (folder / SUMMARY).write_text(text + "\n")


def read_summary(folder: str) -> tuple[Job, dict[str, Any]]:
    """Return job and values of a folder's or URL's summary.

    A digest that fits, and the same minor version, stand for the keys and types of the values.
    """
    summary = _load(folder)
    job = _job_by_keys(summary, folder)
    _check_unchanged(folder, summary)
    written_by = str(summary["versions"]["neardup"])
    if _minor(written_by) != _minor(__version__):
        message = (
            f"neardup {written_by} has written it, this is neardup {__version__}; install that "
            "version, or write the folder again"
        )
        raise InvalidInputError(message, path=folder)
    return job, summary


def _minor(version: str) -> list[str]:
    """Return the parts of a version that decide about the keys of a summary."""
    return version.split(".")[:2]


def _load(folder: str) -> dict[str, Any]:
    path = f"{folder}/{SUMMARY}"
    with reading(path), InputStream(path) as stream:
        content = stream.read(_MOST_BYTES)
    try:
        summary = json.loads(content.decode())
        # Half of a surrogate pair may be escaped.
        json.dumps(summary, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        summary = None
    if not isinstance(summary, dict):
        message = (
            f"its {SUMMARY} is no JSON object; name a folder that `neardup dedup`, `cut` or `drop` "
            "has written"
        )
        raise InvalidInputError(message, path=folder)
    return summary


def resolve_tables(data: Any, *, options: InputOptions | None = None) -> Inputs:
    """Find the sources of tables, as ``resolve_inputs`` does for documents.

    A table in an output folder is compared with its digest in the summary there.
    """
    try:
        inputs = resolve_inputs(data, options or InputOptions())
    except MissingExtraError as error:
        if not error.reads_documents:
            raise
        raise InvalidInputError(_A_DOCUMENT, path=str(data)) from None
    for source in inputs:
        if source.extracts_text:
            raise InvalidInputError(_A_DOCUMENT, path=source.origin)
    # Loads the reader of CSV.
    from neardup.files.delimited import with_header_delimiter

    sources = inputs.changed(with_header_delimiter)
    for source in sources:
        names = source.column_names() or ()
        twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
        if twice:
            message = f"the table has several columns {twice[0]!r}; leave one of them"
            raise InvalidInputError(message, path=source.origin)
    _check_tables(sources)
    return sources


def _check_tables(sources: Iterable[Source]) -> None:
    places = (_place_of(source.origin) for source in sources if source.origin is not None)
    digests: dict[str, Mapping[str, Any]] = {}
    for folder, name in dict.fromkeys(filter(None, places)):
        if folder not in digests:
            digests[folder] = _tables_of(folder)
        if name in digests[folder] and digests[folder][name] != _digest_of_table(folder, name):
            message = (
                f"{name} is not the table that was written there: its digest is not the one in "
                f"{SUMMARY}; write the folder again, or, if you have changed the table on purpose, "
                "move it to another folder"
            )
            raise InvalidInputError(message, path=folder)


def _place_of(origin: str) -> tuple[str, str] | None:
    """Return the output folder and table name of a file."""
    folder, _, name = path_of(origin).rpartition("/")
    return (folder or os.curdir, name) if name.endswith(".parquet") else None


def _tables_of(folder: str) -> Mapping[str, Any]:
    """Return a folder's table digests, empty without a neardup summary."""
    if not is_url(folder) and not Path(folder, SUMMARY).is_file():
        return {}
    try:
        summary = _load(folder)
    except (ReadError, InvalidInputError):
        # Other programs have files of this name, too.
        return {}
    tables = summary.get(_OF_TABLES)
    if not isinstance(tables, dict) or "versions" not in summary:
        return {}
    _check_unchanged(folder, summary)
    return tables


def _check_unchanged(folder: str, summary: Mapping[str, Any]) -> None:
    """Raise if a summary's values do not match its digest."""
    if summary.get(_OF_SUMMARY) != _digest_of(summary):
        message = (
            f"its {SUMMARY} is not as it was written: its digest is that of other values; write "
            "the folder again"
        )
        raise InvalidInputError(message, path=folder)


def _digest_of(summary: Mapping[str, Any]) -> str:
    """Return the digest of a summary without its own digest."""
    # Keys that are no strings become some.
    values = json.loads(json.dumps({k: v for k, v in summary.items() if k != _OF_SUMMARY}))
    spelled = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(spelled.encode()).hexdigest()}"


def _digest_of_table(folder: str, name: str) -> str:
    digest = hashlib.sha256()
    with InputStream(f"{folder}/{name}") as stream:
        for block in read_blocks(stream, _BLOCK_BYTES):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"


Job = Literal["dedup", "cut", "drop"]


def _job_by_keys(summary: dict[str, Any], folder: str) -> Job:
    """Return the job that wrote a summary."""
    if "spans" in summary:
        return "cut"
    if "named_documents" in summary:
        return "drop"
    if not {"documents_removed", "keep"} <= summary.keys():
        message = "its summary.json is of no `neardup dedup`, `cut` or `drop`; name another folder"
        raise InvalidInputError(message, path=folder)
    return "dedup"
