"""Weigh tokens by their frequency and their rarity among documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from neardup.kernels.common import hashing
from neardup.kernels.sketch import weighted_minhash
from neardup.kernels.text import shingle_kernels
from neardup.options.choices import InverseFrequency, TermFrequency
from neardup.options.groups import WeightOptions
from neardup.tables import (
    Floats,
    Int64s,
    ShingleLists,
    TokenLists,
    Uint64s,
    WeightedSets,
    places_of_lists,
    starts_of_runs,
)
from neardup.text.shingles import (
    NO_COPIES,
    ShingleScheme,
    digest_token_lists,
    shingle_lists,
    sorting_room,
    take_ranges,
)

# The least inverse document frequency: below all others in fewer than 2^16 documents, where the
# next is 1 / N, and large enough that multiples of 2^-20 keep the ratios of term frequencies.
_LEAST_IDF = 2.0**-16

_TF, _IDF = WeightOptions.known["tf"], WeightOptions.known["idf"]


@dataclass(frozen=True)
class Weighting:
    """Weights of tokens: term frequency times inverse document frequency.

    For a token that occurs f times, ``tf`` is ``binary`` 1, ``raw`` f, ``log`` ln(1 + f), or
    ``squared`` f * f; 0 for f = 0. For a token in n of N documents, ``idf`` is ``unary`` 1,
    ``standard`` ln(N / n), ``smooth`` ln((N + n) / n) + 1, or ``probabilistic`` ln((N - n) / n).
    Values are 2^-16 at least, and a token in no document counts as in one.

    A weight is the product, rounded half up to a multiple of 2^-20, from 2^-20 to 2^30. So every
    token has a weight, and equal texts are similar in any collection. The least inverse frequency
    applies to a token in all documents with ``standard``, in half of them with ``probabilistic``.
    """

    tf: TermFrequency = "raw"
    idf: InverseFrequency = "unary"

    def __post_init__(self) -> None:
        _TF.checked(self.tf)
        _IDF.checked(self.idf)

    @property
    def counts_only(self) -> bool:
        """Return whether weights are plain counts, which need no storage."""
        return self.idf == "unary" and self.tf in ("binary", "raw")

    def describe(self) -> dict[str, object]:
        """Return all settings that decide the weights, as plain values."""
        return {"tf": self.tf, "idf": self.idf}


def term_frequencies(tf: TermFrequency, highest: int) -> Floats:
    """Tabulate a term frequency for 0 to ``highest``, equal on all machines."""
    f: Floats = np.arange(highest + 1, dtype=np.float64)
    if tf == "binary":
        return np.minimum(f, 1.0)
    if tf == "log":
        return _logarithms(1.0 + f)
    if tf == "squared":
        return f * f
    return f


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many of ``n_documents`` documents each token is.

    ``hashes`` ascend without repeats; ``counts`` are 1 to ``n_documents``. Frozen with an index:
    another count is another weight, and other hashes follow from it.
    """

    hashes: Uint64s
    counts: Int64s
    n_documents: int

    def __len__(self) -> int:
        return len(self.hashes)

    def digest(self) -> str:
        """Return a digest of all counts, whatever the documents' order."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(str(self.n_documents).encode())
        for column in (self.hashes, self.counts):
            digest.update(column.astype(column.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()

    def counts_of(self, hashes: Uint64s) -> Int64s:
        """Count the documents of each token, 0 if unknown."""
        if not len(self):
            return np.zeros(len(hashes), np.int64)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[places] == hashes, self.counts[places], np.int64(0))

    def idf_of(self, hashes: Uint64s, idf: InverseFrequency) -> Floats:
        """Return the inverse document frequency of tokens, at least 2^-16."""
        return self.idf_of_counts(self.counts_of(hashes), idf)

    def idf_of_counts(self, counts: Int64s, idf: InverseFrequency) -> Floats:
        """Return inverse frequencies by document counts, 0 taken as 1."""
        if idf == "unary":
            return np.ones(len(counts), np.float64)
        n = np.maximum(counts, 1).astype(np.float64)
        total = np.float64(self.n_documents)
        if idf == "smooth":
            return _logarithms((total + n) / n) + 1.0
        above = total if idf == "standard" else total - n
        return np.maximum(_logarithms(above / n), _LEAST_IDF)


def count_documents(blocks: Iterable[TokenLists]) -> DocumentFrequencies:
    """Count in how many documents each token is.

    The result does not depend on how ``blocks`` are cut. Documents without tokens count. Memory:
    one block, and about three times the result. Lists of counts are merged like the digits of a
    binary counter, so that each is copied O(log blocks) times.
    """
    return join_frequencies(_count_block(block) for block in blocks)


def join_frequencies(parts: Iterable[DocumentFrequencies]) -> DocumentFrequencies:
    """Add up document frequencies with the memory of ``count_documents``."""
    n_documents = 0
    runs: list[tuple[Uint64s, Int64s]] = []
    for part in parts:
        n_documents += part.n_documents
        runs.append((part.hashes, part.counts))
        while len(runs) > 1 and len(runs[-2][0]) <= 2 * len(runs[-1][0]):
            runs.append(_merge(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merge(runs.pop(), runs.pop()))
    if not runs:
        return DocumentFrequencies(np.empty(0, np.uint64), np.empty(0, np.int64), 0)
    return DocumentFrequencies(*runs[0], n_documents)


def _count_block(block: TokenLists) -> DocumentFrequencies:
    offsets = block.offsets - block.offsets[0]
    values = block.values[block.offsets[0] : block.offsets[-1]].copy()
    sizes: Int64s = np.empty(len(block), np.int64)
    shingle_kernels.sort_sets(values, offsets, *sorting_room(offsets), sizes, NO_COPIES)
    distinct = take_ranges(values, offsets[:-1], offsets[:-1] + sizes).values
    distinct.sort()
    starts = starts_of_runs(distinct)
    counts = np.diff(starts, append=len(distinct)).astype(np.int64)
    return DocumentFrequencies(distinct[starts], counts, len(block))


def _merge(run: tuple[Uint64s, Int64s], other: tuple[Uint64s, Int64s]) -> tuple[Uint64s, Int64s]:
    """Merge two ascending lists of counts by hash."""
    hashes, counts = (np.concatenate(each) for each in zip(run, other, strict=True))
    # A stable sort merges two ascending runs in linear time.
    order = np.argsort(hashes, kind="stable")
    hashes, counts = hashes[order], counts[order]
    starts = starts_of_runs(hashes)
    return hashes[starts], np.add.reduceat(counts, starts) if len(starts) else counts


def _logarithms(values: Floats) -> Floats:
    results: Floats = np.empty(len(values), np.float64)
    hashing.logarithms(values, results)
    return results


@dataclass(frozen=True)
class WeightedScheme:
    """Weights of shingles, with ``frequencies``, None only for ``unary``."""

    weighting: Weighting
    frequencies: DocumentFrequencies | None = None

    def describe(self) -> dict[str, object]:
        """Return all settings that decide the weights, as plain values."""
        digest = None if self.frequencies is None else self.frequencies.digest()
        return self.weighting.describe() | {"frequencies": digest}

    @property
    def needs_frequencies(self) -> bool:
        """Return whether weights depend on document frequencies."""
        return self.weighting.idf != "unary"

    @property
    def lacks_frequencies(self) -> bool:
        """Return whether documents must be counted before weighing."""
        return self.needs_frequencies and self.frequencies is None


def weighted_sets(
    token_lists: TokenLists, shingles: ShingleScheme, scheme: WeightedScheme
) -> WeightedSets:
    """Return the distinct shingles of each text and their weights.

    Every copy of a shingle counts, for any ``occurrences``. The set of a text without tokens is
    empty. Each distinct shingle is searched in all frequencies.
    """
    lists = shingle_lists(token_lists, shingles)
    sizes: Int64s = np.empty(len(lists), np.int64)
    copies: Int64s = np.empty(len(lists.values), np.int64)
    shingle_kernels.sort_sets(
        lists.values, lists.offsets, *sorting_room(lists.offsets), sizes, copies
    )
    used, starts = places_of_lists(lists.offsets[:-1], sizes)
    values, counts = lists.values[used], copies[used]
    table = term_frequencies(scheme.weighting.tf, int(counts.max(initial=0)))
    return _weigh(values, starts, counts, table, scheme)


def _weigh(
    values: Uint64s, starts: Int64s, counts: Int64s, table: Floats, scheme: WeightedScheme
) -> WeightedSets:
    inverses = np.ones(len(values))
    if scheme.frequencies is not None:
        inverses = scheme.frequencies.idf_of(values, scheme.weighting.idf)
    found: Int64s = np.empty(len(values), np.int64)
    weighted_minhash.fill_weights(counts, table, inverses, found)
    # A weight may be so small that it is rounded to 0.
    np.maximum(found, 1, out=found)
    # A sum over all texts may wrap around; its differences do not.
    sums = np.concatenate([[0], np.cumsum(found)])
    return WeightedSets(values, found, starts[:-1], np.diff(starts), np.diff(sums[starts]))


def digest_weighted_sets(sets: WeightedSets) -> Uint64s:
    """Digest weighted sets to 128 bits, shape (n, 2)."""
    ranges = sets.starts, sets.starts + sets.sizes
    values, weights = (
        take_ranges(column.view(np.uint64), *ranges) for column in (sets.values, sets.weights)
    )
    both = np.stack([values.values, weights.values], axis=1).ravel()
    return digest_token_lists(TokenLists(both, 2 * values.offsets))


def frequency_lists(token_lists: TokenLists, shingles: ShingleScheme) -> TokenLists:
    """Return each text's shingles in the form for counting documents."""
    lists: ShingleLists = shingle_lists(token_lists, shingles)
    return TokenLists(lists.values, lists.offsets)
