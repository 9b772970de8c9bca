"""Texts of some documents, looked up by their ids in one pass over the files that have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.files.ids import as_text, choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    import pyarrow as pa


class FoundText(NamedTuple):
    """A document's text, and where it stands: the name of its source and its row there."""

    text: str
    file: str
    row: int


def read_texts_by_id(
    sources: Sequence[Source],
    columns: ColumnNames,
    ids: Iterable[str | int],
    runner: Runner,
    *,
    skip_bad: bool = False,
) -> dict[str, FoundText]:
    """Read the texts of the documents that have these ids.

    Parameters
    ----------
    sources, columns
        Where the documents are, as the job read them that has made the ids.
    ids
        Of as many documents as fit into memory with their texts; numbers and strings that look
        the same are the same.
    runner
        Does the work, and reports it as the stage ``texts``.
    skip_bad
        Whether bad rows are passed over.

    Returns
    -------
    What was found, by ids as strings; nothing for those that are not there. The first one of
    several documents with the same id counts.

    Raises
    ------
    InvalidInputError, ReadError
        For a bad row before the last of the documents, unless these are passed over; and if a file
        cannot be read.

    Notes
    -----
    One pass, which ends when all have been found. Of the other rows only ids are looked at, after
    the rows were parsed.
    """
    import pyarrow as pa

    wanted = pa.array(sorted({str(each) for each in ids}), pa.large_string())
    columns = choose_id_column(columns, sources)
    found: dict[str, FoundText] = {}

    def look(source: Source, block: RowBlock) -> list[tuple[str, FoundText]]:
        return _find(source, block, columns, wanted, skip_bad=skip_bad)

    if len(wanted):
        for _, texts in ReadingPass("texts", sources, runner).map(look, sources):
            for key, text in texts:
                found.setdefault(key, text)
            if len(found) == len(wanted):
                break
    return found


def _find(
    source: Source, block: RowBlock, columns: ColumnNames, wanted: pa.Array, *, skip_bad: bool
) -> list[tuple[str, FoundText]]:
    """Return the wanted documents of a block."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if columns.id is None:
        ids = as_text(source.default_ids(block.numbers))
        here = np.flatnonzero(pc.is_in(ids, wanted).to_numpy(zero_copy_only=False))
        if not len(here):
            return []
        select = np.zeros(len(block), np.bool_)
        select[here] = True
        texts = block.parse(columns, select=select, skip_bad=skip_bad).text
    else:
        parsed = block.parse(columns, skip_bad=skip_bad)
        assert parsed.id is not None
        ids = as_text(parsed.id)
        here = np.flatnonzero(pc.is_in(ids, wanted).to_numpy(zero_copy_only=False))
        texts = parsed.text.take(pa.array(here))
    return [
        (ids[row].as_py(), FoundText(text, source.name, int(block.numbers[row])))
        for row, text in zip(here.tolist(), texts.to_pylist(), strict=True)
        if text is not None
    ]
