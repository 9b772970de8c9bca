"""Indexes of either kind, as their folders say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup.indexes.manifest import kind_of_manifest, load_manifest
from neardup.options.choices import IndexKind

if TYPE_CHECKING:
    from neardup.jobs.documents.document_index import DocumentIndex
    from neardup.jobs.passages.passage_index import PassageIndex


def kind_of(folder: Path) -> IndexKind:
    """Return what kind of index lies in a folder.

    Raises
    ------
    ReadError, IndexFormatError
        If there is none, or its manifest is damaged or of a newer version.
    """
    return kind_of_manifest(load_manifest(folder))


def open_index(
    folder: str | Path, *, tokenizer: str | Path | None = None
) -> PassageIndex | DocumentIndex:
    """Open an index of whichever kind lies in ``folder``.

    ``tokenizer`` has to be given where a ``tokenizer.json`` file was used.

    Raises
    ------
    ReadError, IndexFormatError
        If there is none, or it is damaged or of a newer version.
    """
    if kind_of(Path(folder)) == "documents":
        from neardup.jobs.documents.document_index import DocumentIndex

        return DocumentIndex.open(folder, tokenizer=tokenizer)
    from neardup.jobs.passages.passage_index import PassageIndex

    return PassageIndex.open(folder, tokenizer=tokenizer)
