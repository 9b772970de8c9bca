"""Queries: texts whose passages are looked for, as weighted tokens and min-hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.kernels.passage import query_keys
from neardup.kernels.passage.query_keys import Wanted
from neardup.kernels.types import sealed
from neardup.matching.postings import number_values
from neardup.passages.scheme import PassageScheme
from neardup.passages.windows import ALL_COPIES, inverse_frequencies
from neardup.tables import Bools, Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

# Queries whose min-hashes are made at a time.
_AT_A_TIME = 1 << 10


@dataclass(frozen=True)
class Queries:
    """Texts to look for, parts of one list of tokens; they may overlap."""

    wanted: Wanted
    scheme: PassageScheme

    def __len__(self) -> int:
        return len(self.wanted.starts)

    def hash(self, first: int, stop: int) -> tuple[npt.NDArray[np.uint64], Bools]:
        """Return the identities of the least hash values of some queries: a row for each.

        Returns also which of them have a token with a weight; the others find nothing, and their
        rows have no meaning.
        """
        weighting, seeds = self.scheme.weighting, self.scheme.seeds
        keys = np.zeros((stop - first, len(seeds)), np.uint64)
        have_weight: Bools = np.empty(stop - first, np.bool_)
        if weighting.counts_only:
            most_copies = 1 if weighting.tf == "binary" else ALL_COPIES
            query_keys.least_keys(self.wanted, first, most_copies, seeds, keys, have_weight)
        else:
            query_keys.weighted_keys(self.wanted, first, seeds, keys, have_weight)
        return keys, have_weight


@dataclass(frozen=True)
class Query:
    """A single text to look for.

    ``keys`` are the identities of its least hash value under each hash function; ``number`` counts
    queries.
    """

    number: int
    keys: Uint64s


def gather_queries(
    tokens: Uint64s,
    starts: Int64s,
    stops: Int64s,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
) -> Queries:
    """Make a query of each part of some tokens: part k is ``tokens[starts[k] : stops[k]]``."""
    numbers, counts = number_values(tokens)
    hashes: Uint64s = np.empty(len(counts), np.uint64)
    hashes[numbers] = tokens
    inverses = inverse_frequencies(hashes, scheme, frequencies)
    longest = min(int((stops - starts).max(initial=0)), int(counts.max(initial=0)))
    table = term_frequencies(scheme.weighting.tf, longest + 1)
    return Queries(sealed(Wanted(numbers, starts, stops, hashes, inverses, table)), scheme)


def make_queries(
    token_lists: TokenLists, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Iterator[Query]:
    """Make a query of every text that has a token with a weight; the others find nothing."""
    offsets = token_lists.offsets
    queries = gather_queries(token_lists.values, offsets[:-1], offsets[1:], scheme, frequencies)
    for first in range(0, len(queries), _AT_A_TIME):
        keys, have_weight = queries.hash(first, min(first + _AT_A_TIME, len(queries)))
        for k in np.flatnonzero(have_weight).tolist():
            yield Query(first + k, keys[k])
