"""Made-up documents as JSON lines, and the truth about them as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.scale.kinds import EXACT, NAMES, ORIGINAL
from benchmarks.scale.similarity import jaccard
from benchmarks.scale.words import draw, vocabulary

if TYPE_CHECKING:
    from benchmarks.scale.kinds import Kind
    from benchmarks.scale.segments import TextForms
    from benchmarks.scale.words import Int64s

TRUTH = pa.schema(
    [
        ("id", pa.string()),
        ("of_id", pa.string()),
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("jaccard", pa.float64()),
    ]
)
_DIGITS = 10
_BEFORE_ID, _BEHIND_ID = '{"id":"', '","text":"'
_N_SOURCES = 16
_ENDS = pa.array([f'","source":"site-{i:02d}"}}\n' for i in range(_N_SOURCES)])


def make_lines(texts: TextForms, numbers: Int64s) -> pa.StringArray:
    """Return the line of each document; one right after the other in the array's buffer."""
    words = vocabulary().texts.take(pa.array(texts.forms))
    _, ends, data = words.buffers()
    # Words of a text stand one after the other, so its bytes are there already.
    offsets = np.frombuffer(ends, np.int32)[texts.offsets]
    joined = pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), data)
    starts = _fixed_width(_BEFORE_ID, numbers, _BEHIND_ID)
    sources = draw(numbers.astype(np.uint64), 0) % np.uint64(_N_SOURCES)
    return pc.binary_join_element_wise(starts, joined, _ENDS.take(pa.array(sources)), "")


def make_ids(numbers: Int64s) -> pa.StringArray:
    """Return the id of each document."""
    return _fixed_width("", numbers, "")


def _fixed_width(before: str, numbers: Int64s, behind: str) -> pa.StringArray:
    """Return numbers of ten digits between two texts."""
    width = len(before) + _DIGITS + len(behind)
    table = np.empty((len(numbers), width), np.uint8)
    table[:, : len(before)] = list(before.encode())
    table[:, len(before) + _DIGITS :] = list(behind.encode())
    rest = numbers
    for place in range(len(before) + _DIGITS - 1, len(before) - 1, -1):
        rest, digits = np.divmod(rest, 10)
        table[:, place] = digits + ord("0")
    offsets = np.arange(len(numbers) + 1, dtype=np.int32) * width
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(table))


def make_truth(kind: Kind, texts: TextForms, numbers: Int64s) -> pa.Table:
    """Return what the copies among some documents are copies of, and how similar they are."""
    relations = kind.relate(numbers)
    copies = np.flatnonzero(relations.kinds != ORIGINAL)
    near = np.flatnonzero(relations.kinds[copies] != EXACT)
    similarities = np.ones(len(copies))
    if len(near):
        own = texts.take(copies[near])
        similarities[near] = jaccard(own, kind.words(relations.of[copies[near]]))
    kinds = pa.DictionaryArray.from_arrays(
        pa.array(relations.kinds[copies].astype(np.int8)), pa.array(NAMES)
    )
    columns = [make_ids(numbers[copies]), make_ids(relations.of[copies]), kinds, similarities]
    return pa.table(columns, schema=TRUTH)
