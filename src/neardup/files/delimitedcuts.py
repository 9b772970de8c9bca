"""Spans cut out of fields of CSV and TSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.cuts import Cuts, fill_holes
from neardup.files.splicing import Splices
from neardup.tables import Bools, Texts

if TYPE_CHECKING:
    from neardup.files.rawrows import RawRows


def cut_fields(
    raw: RawRows, cuts: Cuts, texts: Sequence[pa.Array], columns: Sequence[str], delimiter: str
) -> RawRows:
    """Cut spans out of fields, which stay quoted if they were and are quoted if they must be.

    Parameters
    ----------
    raw
        Rows that have as many fields as there are columns.
    cuts
        What to cut.
    texts
        For each column of the text, its strings in the changed rows.
    columns
        The names of all columns.
    delimiter
        What separates fields.
    """
    # Compiled or loaded on import.
    from neardup.kernels.file.rawrows import find_fields

    n_texts = len(cuts.columns)
    numbers = np.full(len(columns), -1, np.int64)
    numbers[[columns.index(name) for name in cuts.columns]] = np.arange(n_texts)
    starts, stops = (np.empty(len(cuts.changed) * n_texts, np.int64) for _ in range(2))
    is_quoted = np.empty(len(starts), np.bool_)
    find_fields(
        np.frombuffer(raw.data, np.uint8),
        raw.starts[cuts.changed],
        raw.ends[cuts.changed],
        ord(delimiter),
        numbers,
        starts,
        stops,
        is_quoted,
    )
    fields, written = [], []
    for column, (text, holes) in enumerate(zip(texts, cuts.holes_of_texts(texts), strict=True)):
        rows = np.unique(holes.strings)
        fields.append(rows * n_texts + column)
        changed = fill_holes(text, holes, cuts.replacement).take(pa.array(rows))
        written.append(_written(changed, is_quoted[fields[-1]], delimiter, len(columns)))
    which = np.concatenate(fields)
    order = np.argsort(starts[which])
    which = which[order]
    pieces = Texts.from_arrow(pa.concat_arrays(written))
    return raw.spliced(Splices(starts[which], stops[which], pieces, order))


def _written(texts: pa.Array, is_quoted: Bools, delimiter: str, n_columns: int) -> pa.Array:
    """Write texts as fields."""
    special = pc.match_substring_regex(texts, f'["\\r\\n{re.escape(delimiter)}]')
    quotes = pc.or_(special, pa.array(is_quoted))
    if n_columns == 1:
        # A line without anything would be no row.
        quotes = pc.or_(quotes, pc.equal(texts, ""))
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(quotes, pc.binary_join_element_wise('"', doubled, '"', ""), texts)
