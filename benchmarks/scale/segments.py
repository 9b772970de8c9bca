"""Documents as segments of endless texts, so that any document can be made again by itself.

The word at a place of a text is a function of the text's key and the place. Nothing of what has
been written needs to be kept for the copies of it that are to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scale.words import STEP, Forms, Int64s, Uint64s, end_texts, mix, vocabulary

# Of an edited word's random bits the low half says whether it is edited, the high one how.
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Segments:
    """One segment of each of some documents, in their order.

    Places ``starts`` to ``starts + lengths`` of the texts with some ``keys``. A word of them is
    edited with the chance ``edits``, in ways that ``salts`` decide: for two edited words in four
    there is another one, one is deleted, and one gets another one behind it.
    """

    keys: Uint64s
    starts: Int64s
    lengths: Int64s
    edits: np.ndarray | None = None
    salts: Uint64s | None = None

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class TextForms:
    """Words of documents; document i has ``forms[offsets[i] : offsets[i + 1]]``."""

    forms: Forms
    offsets: Int64s

    def take(self, documents: Int64s) -> TextForms:
        """Return the words of some documents."""
        lengths = np.diff(self.offsets)[documents]
        ends = np.cumsum(lengths)
        shifts = self.offsets[documents] - (ends - lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(shifts, lengths)
        return TextForms(self.forms[places], np.concatenate([[0], ends]).astype(np.int64))


def write_words(columns: Sequence[Segments]) -> TextForms:
    """Make the words of documents, each of which has a segment in every column, in their order."""
    n_columns, n_documents = len(columns), len(columns[0])

    def interleave(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack(arrays, axis=1).ravel()

    lengths = interleave([column.lengths for column in columns])
    keys = interleave([column.keys for column in columns])
    starts = interleave([column.starts for column in columns])
    ends = np.cumsum(lengths)
    # The place of word w of a segment is w less the words before it, and its start more.
    shifts = (starts - (ends - lengths)).astype(np.uint64)
    bits: Uint64s = np.arange(int(ends[-1]), dtype=np.uint64)
    bits *= STEP
    bits += np.repeat(keys + shifts * STEP, lengths)
    forms = vocabulary().forms(mix(bits))
    offsets: Int64s = np.concatenate([[0], ends[n_columns - 1 :: n_columns]]).astype(np.int64)
    for place, column in enumerate(columns):
        if column.edits is not None and column.salts is not None:
            first = (ends - lengths)[place::n_columns]
            forms, offsets = _edit(forms, offsets, first, column)
    assert len(offsets) == n_documents + 1
    end_texts(forms, offsets[1:])
    return TextForms(forms, offsets)


def _edit(forms: Forms, offsets: Int64s, firsts: Int64s, column: Segments) -> tuple[Forms, Int64s]:
    """Edit the segments of a column, which begin at ``firsts``; at most one column is edited."""
    assert column.edits is not None
    assert column.salts is not None
    of = np.flatnonzero(column.edits > 0)
    lengths = column.lengths[of]
    begins = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum())) - np.repeat(begins, lengths)
    bits = mix(places.astype(np.uint64) * STEP + np.repeat(column.salts[of], lengths))
    limits = np.repeat((column.edits[of] * 2.0**32).astype(np.uint64), lengths)
    edited = np.flatnonzero((bits & _LOW) < limits)
    words = (places + np.repeat(firsts[of], lengths))[edited]
    documents = np.repeat(of, lengths)[edited]
    ways = (bits[edited] >> _HALF) % np.uint64(4)
    others = vocabulary().forms(mix(bits[edited] + np.uint64(1)))

    forms[words[ways < 2]] = others[ways < 2]
    counts = np.ones(len(forms), np.int64)
    counts[words[ways == 2]] = 0
    counts[words[ways == 3]] = 2
    longer = np.repeat(forms, counts)
    inserted = np.cumsum(counts)[words[ways == 3]] - 1
    longer[inserted] = others[ways == 3]
    changes = np.bincount(documents, (ways == 3) * 1.0 - (ways == 2), len(offsets) - 1)
    offsets = offsets.copy()
    offsets[1:] += np.cumsum(changes).astype(np.int64)
    return longer, offsets
