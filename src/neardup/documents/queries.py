"""Signatures of texts or one document, for lookups and additions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from neardup.documents.records import Id, as_one_text, ids_of_values
from neardup.documents.scheme import DocumentScheme
from neardup.errors import InvalidParameterError
from neardup.kernels.bucket.bucket_kernels import Slots
from neardup.matching.buckets import join_filters, make_filters
from neardup.reading.sign import SLICE_BYTES, WEIGHTED_SLICE_BYTES, take_filters
from neardup.sketches.minhash import (
    WeightedMinHashScheme,
    band_keys,
    minhash_signatures,
    weighted_signatures,
)
from neardup.tables import (
    Bools,
    Filters,
    Int64s,
    ShingleLists,
    ShingleSets,
    Texts,
    TokenLists,
    Uint64s,
    WeightedSets,
)
from neardup.text.shingles import digest_token_lists, sets_of_tokens, shingle_lists, sorted_in_place
from neardup.text.weighting import weighted_sets


def join_sets(*parts: ShingleSets | WeightedSets) -> ShingleSets | WeightedSets:
    """Concatenate sets of one kind."""
    ends = [0, *accumulate(len(part.values) for part in parts)]
    values = np.concatenate([part.values for part in parts])
    starts = np.concatenate([part.starts + end for part, end in zip(parts, ends, strict=False)])
    sizes = np.concatenate([part.sizes for part in parts])
    weighted = [part for part in parts if isinstance(part, WeightedSets)]
    if not weighted:
        return ShingleSets(values, starts, sizes)
    weights = np.concatenate([part.weights for part in weighted])
    totals = np.concatenate([part.totals for part in weighted])
    return WeightedSets(values, weights, starts, sizes, totals)


_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)

# Sorting the keys of fewer texts costs more than it saves.
_FEW = 32

_NONE: Int64s = np.empty(0, np.int64)
NO_PAIRS = (_NONE, _NONE)


@dataclass(frozen=True)
class Queries:
    """Signatures of n texts for an index.

    ``digests`` has shape (n, 2), ``keys`` (n, n_bands). ``filters`` is None for weighted sets, and
    ``sets`` where nothing is to be compared.
    """

    n_tokens: Int64s
    digests: Uint64s
    keys: Uint64s
    filters: Filters | None
    sets: ShingleSets | WeightedSets | None

    def __len__(self) -> int:
        return len(self.n_tokens)

    @property
    def is_filled(self) -> Bools:
        """Mask of texts with tokens."""
        is_filled: Bools = self.n_tokens > 0
        return is_filled

    def take(self, rows: Int64s) -> Queries:
        """Return the signatures of some texts."""
        sets = None if self.sets is None else self.sets.take(rows)
        filters = self.filters
        if filters is not None:
            filters = take_filters(filters, rows)
        return Queries(self.n_tokens[rows], self.digests[rows], self.keys[rows], filters, sets)

    @cached_property
    def slots(self) -> Slots:
        """Return lookup keys of texts with tokens, and their owners.

        Keys of many texts are sorted, list by list, so that they are in neighbouring pages. That
        halves the time of looking up 8,000 texts among 200,000.
        """
        n_bands, wanted = self.keys.shape[1], np.flatnonzero(self.is_filled)
        keys = self.keys[wanted] >> _32
        if len(wanted) < _FEW:
            numbers = np.tile(np.arange(n_bands), len(wanted))
            return make_slots(keys, numbers, np.repeat(wanted, n_bands))
        packed: Uint64s = keys.T << _32 | np.arange(len(wanted), dtype=np.uint64)
        packed.sort(axis=1)
        owners = wanted[(packed & _LOW32).astype(np.int64)]
        return make_slots(packed >> _32, np.repeat(np.arange(n_bands), len(wanted)), owners)


def make_slots(keys: Uint64s, numbers: Int64s, owners: Int64s) -> Slots:
    """Return lookups of keys of 32 bits, faster than ``sealed``."""
    slots = Slots(keys.reshape(-1).astype(np.uint32), numbers, owners.reshape(-1))
    for array in slots:
        array.flags.writeable = False
    return slots


def make_queries(
    token_lists: TokenLists, scheme: DocumentScheme, *, with_sets: bool = True
) -> Queries:
    """Sign texts for an index, given their tokens.

    The time is that of hashing and signing shingles; with sets, also of sorting them.
    """
    digests = digest_token_lists(token_lists)
    n_tokens: Int64s = token_lists.offsets[1:] - token_lists.offsets[:-1]
    sets: ShingleSets | WeightedSets | None = None
    filters = None
    if scheme.weighted is not None:
        assert isinstance(scheme.minhash, WeightedMinHashScheme)
        sets = weighted_sets(token_lists, scheme.shingles, scheme.weighted)
        signatures = weighted_signatures(sets, scheme.minhash)
    else:
        lists = shingle_lists(token_lists, scheme.shingles)
        if with_sets:
            sets = sorted_in_place(ShingleLists(lists.values.copy(), lists.offsets))
        signatures = minhash_signatures(lists, scheme.minhash)
        filters = make_filters(lists, scheme.measure)
    keys = band_keys(signatures, scheme.banding.bands, scheme.banding.rows)
    return Queries(n_tokens, digests, keys, filters, sets)


def sets_of_texts(texts: Texts, scheme: DocumentScheme) -> ShingleSets | WeightedSets:
    """Return the sets of texts for the measure."""
    tokens = scheme.shingles.tokenizer.hash_tokens(texts)
    if scheme.weighted is not None:
        return weighted_sets(tokens, scheme.shingles, scheme.weighted)
    return sets_of_tokens(tokens, scheme.shingles)


def join_queries(parts: Sequence[Queries]) -> Queries:
    """Concatenate the signatures of texts."""
    filters = [part.filters for part in parts if part.filters is not None]
    sets = [part.sets for part in parts if part.sets is not None]
    return Queries(
        np.concatenate([part.n_tokens for part in parts]),
        np.concatenate([part.digests for part in parts]),
        np.concatenate([part.keys for part in parts]),
        join_filters(filters) if filters else None,
        join_sets(*sets) if sets else None,
    )


def queries_of_texts(texts: Texts, scheme: DocumentScheme, *, with_sets: bool = True) -> Queries:
    """Sign texts for an index, in batches that fit caches."""
    slice_bytes = WEIGHTED_SLICE_BYTES if scheme.weighted else SLICE_BYTES
    parts = [
        make_queries(scheme.shingles.tokenizer.hash_tokens(part), scheme, with_sets=with_sets)
        for part in texts.slices(slice_bytes)
    ]
    return parts[0] if len(parts) == 1 else join_queries(parts)


def make_query(text: str, scheme: DocumentScheme, identifier: Id = "") -> Queries:
    """Sign one document for an index, optionally with an id."""
    if not isinstance(text, str):
        message = f"text must be a string, got {type(text).__name__}"
        raise InvalidParameterError(message, "text")
    texts, tokenizer = as_one_text(text), scheme.shingles.tokenizer
    if tokenizer.is_by_file:
        texts = tokenizer.texts_in_index(texts.to_arrow(), ids_of_values([identifier]))
    return make_queries(tokenizer.hash_tokens(texts), scheme)
