"""Indexes of either kind, as their folders say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup.index.store import kind_of

if TYPE_CHECKING:
    from neardup.jobs.index.documents import DocumentIndex
    from neardup.jobs.index.passages import PassageIndex


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
        from neardup.jobs.index.documents import DocumentIndex

        return DocumentIndex.open(folder, tokenizer=tokenizer)
    from neardup.jobs.index.passages import PassageIndex

    return PassageIndex.open(folder, tokenizer=tokenizer)
