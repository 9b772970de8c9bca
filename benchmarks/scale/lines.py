"""Made-up documents as JSON lines, and the truth about them as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.scale.kinds import EXACT, NAMES, ORIGINAL
from benchmarks.scale.words import STEP, draw, mix, vocabulary, words_of

if TYPE_CHECKING:
    from benchmarks.scale.kinds import Kind
    from benchmarks.scale.segments import TextForms
    from benchmarks.scale.words import Int64s, Uint64s

NGRAM = 5
# Hashes of shingles have the number of their document in front, so that one sort sorts all sets.
_DOCUMENT_BITS = 22
_MOST_DOCUMENTS = 1 << _DOCUMENT_BITS
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


def jaccard(first: TextForms, second: TextForms) -> npt.NDArray[np.float64]:
    """Return the Jaccard similarity of each document to the one at its place in another list.

    Shingles are distinguished by hashes of 42 bits within a document. Every document has at least
    five words.
    """
    n = len(first.offsets) - 1
    sets = [_sets(texts) for texts in (first, second)]
    sizes = [_count(found, n) for found in sets]
    both = np.sort(np.concatenate(sets))
    shared = _count(both[1:][both[1:] == both[:-1]], n)
    similarities: npt.NDArray[np.float64] = shared / (sizes[0] + sizes[1] - shared)
    return similarities


def _count(hashes: Uint64s, n: int) -> npt.NDArray[np.int64]:
    documents = (hashes >> np.uint64(64 - _DOCUMENT_BITS)).astype(np.int64)
    counts: npt.NDArray[np.int64] = np.bincount(documents, minlength=n)
    return counts


def _sets(texts: TextForms) -> Uint64s:
    """Return the different shingles of all documents, sorted, with the documents' numbers."""
    lengths = np.diff(texts.offsets) - NGRAM + 1
    assert lengths.min(initial=1) > 0
    assert len(lengths) <= _MOST_DOCUMENTS
    words = words_of(texts.forms).astype(np.uint64)
    hashes = words[: len(words) - NGRAM + 1].copy()
    for place in range(1, NGRAM):
        hashes = mix(hashes * STEP) + words[place : len(words) - NGRAM + 1 + place]
    hashes = mix(hashes * STEP)
    numbers = np.repeat(np.arange(len(lengths)), lengths)
    # Shingles that would begin within a document's last words are not its own.
    places = np.arange(len(numbers)) + numbers * (NGRAM - 1)
    own = hashes[places] >> np.uint64(_DOCUMENT_BITS)
    own |= numbers.astype(np.uint64) << np.uint64(64 - _DOCUMENT_BITS)
    own.sort()
    keep = np.ones(len(own), np.bool_)
    keep[1:] = own[1:] != own[:-1]
    return own[keep]
