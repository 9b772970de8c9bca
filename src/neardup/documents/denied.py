"""Documents that must not come back: what is kept of them, and by what others are known as them.

They are a segment of their own, which the manifest names as ``denied``: ids, digests, band keys
and filters, as of any segment, and neither texts nor shingles, from which a text might be put
together again. Equal digests are certain. Of a copy that was changed nothing can be verified, for
there is nothing to compare it with: it is estimated by filters, and taken for one only where chance
hardly ever makes a pair below the threshold look so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.documents.queries import (
    Queries,
    lists_of_sets,
    queries_of_sets,
    queries_of_weighted_sets,
)
from neardup.documents.reading import Contents, DocumentBatch, make_batch
from neardup.kernels.join.overlap import CONTAINMENT, MAX_CONTAINMENT, required_overlap
from neardup.tables import Filters, Floats, Int64s, ShingleSets, Uint64s, WeightedSets

if TYPE_CHECKING:
    from neardup.documents.index import OpenDocuments
    from neardup.documents.scheme import DocumentScheme
    from neardup.matching.measures import Measure

# Documents that are signed at once.
_AT_ONCE = 1 << 12

# The most that a pair below the threshold may have of being taken for one at it.
CHANCE = 1e-3


def known_of(index: OpenDocuments, documents: Int64s) -> Iterator[tuple[pa.Array, Queries]]:
    """Yield ids of some documents of an index, which ascend, and what is looked up of them.

    Of those that have no token, which are like nothing, nothing is yielded.
    """
    scheme = index.scheme
    for segment, rows in index.by_segment(documents):
        for start in range(0, len(rows), _AT_ONCE):
            own = rows[start : start + _AT_ONCE]
            places = map(segment.block_of, own.tolist())
            n_tokens: Int64s = np.array([block.n_tokens[place] for block, place in places])
            digests, sets = segment.digests_of(own), segment.sets_of(own)
            if isinstance(sets, WeightedSets):
                queries = queries_of_weighted_sets(n_tokens, digests, sets, scheme)
            else:
                queries = queries_of_sets(n_tokens, digests, lists_of_sets(sets), scheme)
            filled = np.flatnonzero(queries.is_filled)
            yield (
                segment.ids_of(own).cast(segment.id_type).take(pa.array(filled)),
                queries.take(filled),
            )


def known_of_digests(digests: Uint64s, scheme: DocumentScheme) -> Queries:
    """Return what is looked up of documents of which digests are all that is known."""
    n = len(digests)
    numbers: Int64s = np.arange(n + 1, dtype=np.int64)
    filters = Filters(np.zeros(n, np.uint64), numbers, np.zeros(n, np.int64))
    keys: Uint64s = np.empty((n, 0), np.uint64)
    n_tokens: Int64s = np.ones(n, np.int64)
    return Queries(n_tokens, digests, keys, filters if scheme.has_filters else None, None)


def batch_of(ids: pa.Array, queries: Queries, scheme: DocumentScheme) -> DocumentBatch:
    """Pack what is kept of some documents: empty sets in the place of their texts."""
    nothing: Int64s = np.zeros(len(ids), np.int64)
    sets = ShingleSets(np.empty(0, np.uint64), nothing, nothing)
    contents = Contents(ids, pa.nulls(len(ids), pa.large_string()))
    batch = make_batch(contents, replace(queries, sets=sets), scheme)
    # Where only digests are known, there are no keys of bands.
    missing = scheme.banding.bands - queries.keys.shape[1]
    batch.lists[:0] = [(np.empty(0, np.uint64), np.empty(0, np.int64))] * missing
    return batch


def can_estimate(measure: Measure) -> bool:
    """Return whether filters tell how alike two sets are, by a measure.

    Those of containment have bits that are set, not turned, and weighted sets have none.
    """
    return not measure.is_weighted and measure.code not in (CONTAINMENT, MAX_CONTAINMENT)


def estimate_pairs(filters: Filters, left: Int64s, right: Int64s, measure: Measure) -> Floats:
    """Estimate how similar pairs of sets are of which there are filters alone.

    NaN where a pair below the threshold may look so by more than ``CHANCE``.

    Notes
    -----
    Each element that only one of two sets has turns one of n bits, so that as many bits differ, but
    for two for each pair of elements that turned one bit back. A pair below the threshold differs
    in d elements or more. Each of these meets a bit that another one has turned with a probability
    of d / n at most, so that by Chernoff's bound k or more do with one of exp(k - m) (m / k)^k at
    most, for k above their mean m = d (d - 1) / 2n. So many have to, for the filters to differ in
    no more than they do; where more elements differ, the bits do so more rarely yet.
    """
    found: Floats = np.full(len(left), np.nan)
    code, p, q = measure.in_kernels
    for pair, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        x, y = int(filters.sizes[a]), int(filters.sizes[b])
        required = int(required_overlap(code, x, y, p, q))
        n_bits, n_different = _compare(filters, a, b)
        least = x + y - 2 * required + 2
        hidden = (least - n_different) // 2
        if _chance(hidden, least * (least - 1) / (2 * n_bits)) > CHANCE:
            continue
        share = math.log1p(-2 * n_different / n_bits) / math.log1p(-2 / n_bits)
        overlap = min(max(round((x + y - share) / 2), required), x, y)
        numbers = (np.array([number], np.int64) for number in (overlap, x, y))
        found[pair] = measure.similarities(*numbers)[0]
    return found


def _chance(n: int, mean: float) -> float:
    """Bound the probability that n or more of some rare events happen."""
    if n <= mean:
        return 1.0
    return math.exp(n - mean + n * math.log(mean / n))


def _compare(filters: Filters, a: int, b: int) -> tuple[int, int]:
    """Return how many bits two filters have, folded to one size, and in how many they differ."""
    offsets = filters.offsets
    both = [filters.words[offsets[each] : offsets[each + 1]] for each in (a, b)]
    n_words = min(map(len, both))
    folded = [np.bitwise_xor.reduce(words.reshape(-1, n_words), axis=0) for words in both]
    return 64 * n_words, int(np.bitwise_count(folded[0] ^ folded[1]).sum())
