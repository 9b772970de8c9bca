"""Sign texts by window symbols, and estimate edit distances.

References
----------
Coates (2011), A fast metric of document similarity, sections 3 to 5.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.runs.runner import Runner
from neardup.sketches.kind import (
    QUANTILE_95,
    EstimatedShares,
    PairEstimates,
    Pairs,
    SketchKind,
    SketchMaker,
    WantedPairs,
    check_column,
    check_range,
    check_seed,
    digest_texts,
    list_pairs,
    read_counts,
    read_lists,
    where_known,
)
from neardup.tables import (
    Bools,
    EditEstimates,
    EditSignatures,
    Floats,
    Int64s,
    Texts,
    Uint32s,
    Uint64s,
    offsets_of,
)
from neardup.text.shingles import HASH_VERSION
from neardup.text.tokenizers import folded_texts

Objects = npt.NDArray[np.object_]

# Characters per window.
NEIGHBOURHOOD = 12

# Signatures with fewer symbols are useless for estimates.
LEAST_SYMBOLS = 20

# A symbol is a code point while signatures are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _CODE_POINTS = 0xD800, 0x800, 0x110000 - 0x800


@dataclass(frozen=True)
class EditScheme(SketchKind):
    """Symbols of some windows of a text, for edit distance.

    One window of 12 characters in ``compression``, on average, has a symbol, a hash of its
    characters. One edit disturbs 12 windows at most.
    """

    name = "edit"
    missing_options = ("tokenizer", "ngram", "occurrences", "fingerprint")
    # Texts are cut into no tokens; as characters they are not folded unless that is asked for.
    defaults = {"tokenizer": "characters", "ngram": 1}  # noqa: RUF012 - nobody changes it
    measures = ("edit",)

    compression: int = 100
    seed: int = 42

    def __post_init__(self) -> None:
        check_range("compression", self.compression, 1, 1 << 20)
        check_seed(self.seed)

    def describe_with(self, how: SketchMaker) -> dict[str, Any]:
        """Return all settings that decide a signature."""
        return (
            how.shingles.normalisation.describe()
            | {"hash_version": HASH_VERSION, "unicode_version": unicodedata.unidata_version}
            | self.describe()
        )

    def make(self, texts: Texts, how: SketchMaker) -> tuple[EditSignatures, Uint64s]:
        """Sign and digest folded texts."""
        signed = folded_texts(texts, how.shingles.normalisation)
        return edit_signatures(signed, self), digest_texts(signed, self.seed)

    def join_rows(self, parts: Sequence[EditSignatures]) -> EditSignatures:
        """Concatenate the signatures of all parts."""
        return EditSignatures(
            np.concatenate([part.symbols for part in parts]),
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate([part.lengths for part in parts]),
        )

    def candidates(
        self, rows: EditSignatures, wanted: WantedPairs, runner: Runner
    ) -> Iterator[Pairs]:
        """Yield the pairs whose lengths allow the threshold."""
        p, q = wanted.threshold.numerator, wanted.threshold.denominator
        for left, right in list_pairs(len(rows), wanted.n_left):
            shorter = np.minimum(rows.lengths[left], rows.lengths[right])
            longer = np.maximum(rows.lengths[left], rows.lengths[right])
            # 1 - distance / longer >= p / q, the distance being the difference at least.
            fits = shorter * q >= longer * p
            if fits.any():
                yield left[fits], right[fits]

    def estimate(self, rows: EditSignatures, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate edit distances, and the similarity of the texts."""
        estimates = edit_estimates(rows, left, right)
        lengths = np.maximum(np.maximum(rows.lengths[left], rows.lengths[right]), 1)
        longer = lengths.astype(np.float64)
        hits = longer - estimates.distances
        columns = {
            "distance": where_known(estimates.is_usable, estimates.distances),
            "low": pa.array(estimates.low),
            "high": pa.array(estimates.high),
            "similarity": where_known(estimates.is_usable, hits / longer),
            "significance": where_known(estimates.is_usable, estimates.significances),
        }
        measures = {"edit": EstimatedShares(hits, longer, estimates.is_usable)}
        return PairEstimates(columns, measures)

    def count_short(self, rows: EditSignatures) -> int:
        """Count the signatures of too few symbols."""
        return int((np.diff(rows.offsets) < LEAST_SYMBOLS).sum())

    def count_elements(self, rows: EditSignatures) -> Int64s:
        """Return the numbers of characters."""
        return rows.lengths

    def to_columns(self, rows: EditSignatures) -> dict[str, pa.Array]:
        """Return lengths and lists of symbols."""
        sketches = pa.LargeListArray.from_arrays(rows.offsets, rows.symbols)
        return {"length": pa.array(rows.lengths), "sketch": sketches}

    def from_columns(self, table: pa.Table) -> EditSignatures:
        """Read symbols, no more than characters."""
        lengths = read_counts(table, "length")
        column, offsets = read_lists(table, pa.uint32())
        check_column((np.diff(offsets) <= lengths).all())
        return EditSignatures(np.array(column.to_numpy(), np.uint32), offsets, lengths)


def edit_signatures(texts: Texts, scheme: EditScheme) -> EditSignatures:
    """Return the symbols of about one window in ``compression``, in text order.

    The hash of a window decides alone whether it has a symbol, so that an edit changes only the
    symbols of windows that contain the edited character. A text shorter than a window has no
    symbol. Memory is 4 bytes per symbol, with room for 20 % more than expected.
    """
    from neardup.kernels.sketch import edit_kernels

    n = len(texts)
    with np.errstate(over="ignore"):
        seed = mix_words(np.uint64(scheme.seed) ^ GOLDEN)
    largest = np.uint64(2**64 // scheme.compression - 1)
    symbol_offsets: Int64s = np.zeros(n + 1, np.int64)
    lengths: Int64s = np.zeros(n, np.int64)
    n_bytes = int(texts.offsets[-1] - texts.offsets[0])
    symbols: Uint32s = np.empty(n_bytes // scheme.compression * 6 // 5 + 1024, np.uint32)
    done = 0
    while True:
        done = edit_kernels.sign_texts(
            *(texts.data, texts.offsets, done, NEIGHBOURHOOD, largest, seed),
            *(symbols, symbol_offsets, lengths),
        )
        if done == n:
            break
        # Texts that repeat themselves may have any number of symbols.
        symbols = np.concatenate([symbols, np.empty_like(symbols)])
    return EditSignatures(symbols[: int(symbol_offsets[-1])].copy(), symbol_offsets, lengths)


def edit_estimates(signatures: EditSignatures, left: Int64s, right: Int64s) -> EditEstimates:
    """Estimate edit distances from the distances of signatures.

    The estimate is the edit distance of two signatures times the characters per symbol. It is up to
    three tenths too large for inserted, deleted or replaced blocks. An isolated edit may count as
    up to 2 * NEIGHBOURHOOD edits, which the 95 % interval allows for. Estimates and intervals lie
    between the difference of the lengths and the greater length.

    The significance is the distance expected of unrelated texts minus that of the pair, in symbols.
    It exceeds 3 for fewer than 1 in 100 pairs of up to 4,096 random symbols each. Texts that share
    a common phrase count as related.
    """
    sizes, lengths = np.diff(signatures.offsets), signatures.lengths
    shorter = np.minimum(lengths[left], lengths[right]).astype(np.float64)
    longer = np.maximum(lengths[left], lengths[right]).astype(np.float64)
    is_usable: Bools = np.minimum(sizes[left], sizes[right]) >= LEAST_SYMBOLS
    low, high = longer - shorter, longer.copy()
    distances, significances = np.full((2, len(left)), np.nan)
    rows = np.flatnonzero(is_usable)
    left, right, shorter, longer = left[rows], right[rows], shorter[rows], longer[rows]
    symbols = signature_distances(signatures, left, right).astype(np.float64)
    significances[rows] = unrelated_distances(sizes[left], sizes[right]) - symbols
    windows = shorter + longer - 2.0 * (NEIGHBOURHOOD - 1)
    spacing = windows / (sizes[left] + sizes[right]).astype(np.float64)
    # A score interval of the mean of a Poisson number, of which ``symbols`` were counted.
    z = QUANTILE_95
    center, margin = symbols + z * z / 2, z * np.sqrt(symbols + z * z / 4)
    least = spacing * (center - margin) / (2 * NEIGHBOURHOOD)
    most = spacing * (center + margin)
    distances[rows], low[rows], high[rows] = (
        np.clip(each, longer - shorter, longer) for each in (spacing * symbols, least, most)
    )
    # Rounding to thousandths hides the rounding errors of floats.
    return EditEstimates(
        np.round(distances, 3), np.floor(low), np.ceil(high), significances, is_usable
    )


def signature_distances(signatures: EditSignatures, left: Int64s, right: Int64s) -> Int64s:
    """Count the symbol edits between pairs of signatures.

    RapidFuzz compares symbols as characters: different symbols are equal once in 1,112,064 times.
    """
    codes: Uint32s = signatures.symbols % np.uint32(_CODE_POINTS)
    codes[codes >= _FIRST_SURROGATE] += np.uint32(_N_SURROGATES)
    text = codes.astype("<u4").tobytes().decode("utf-32-le")
    strings: Objects = np.empty(len(signatures), np.object_)
    strings[:] = [text[start:stop] for start, stop in pairwise(signatures.offsets.tolist())]
    distances: Int64s = process.cpdist(
        strings[left], strings[right], scorer=Levenshtein.distance, dtype=np.int64
    )
    return distances


def unrelated_distances(left: Int64s, right: Int64s) -> Floats:
    """Return the mean distance between signatures of so many random symbols.

    Two symbols that are equal by chance save an edit. There are ``chances`` such pairs, in the
    mean, close enough to be aligned; at most 2 sqrt(chances) of them are in the same order in both.
    """
    shorter, longer = np.minimum(left, right), np.maximum(left, right)
    chances = shorter * (longer - shorter + 1.0) / _CODE_POINTS
    distances: Floats = longer - np.minimum(chances, 2 * np.sqrt(chances))
    return distances
