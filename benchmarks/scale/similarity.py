"""True similarities of made-up documents: of the sets of five consecutive words each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks.scale.words import STEP, Uint64s, mix, words_of

if TYPE_CHECKING:
    from benchmarks.scale.segments import TextForms

NGRAM = 5
# Hashes of shingles have the number of their document in front, so that one sort sorts all sets.
_DOCUMENT_BITS = 22
_MOST_DOCUMENTS = 1 << _DOCUMENT_BITS


def jaccard(first: TextForms, second: TextForms) -> npt.NDArray[np.float64]:
    """Return the Jaccard similarity of each document to the one at its place in another list.

    Shingles are told apart by hashes of 42 bits within a document. Every document has at least
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
