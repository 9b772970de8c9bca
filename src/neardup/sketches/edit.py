"""Sign texts by window symbols, and estimate edit distances.

References
----------
Coates (2011), A fast metric of document similarity, sections 3 to 5.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.runs.runner import Runner
from neardup.sketches.kind import (
    QUANTILE_95,
    EstimatedShares,
    PairEstimates,
    Pairs,
    SketchKind,
    TextScheme,
    WantedPairs,
    check,
    check_range,
    check_seed,
    digest_texts,
    list_pairs,
    read_column,
    read_counts,
    read_lists,
    where_known,
)
from neardup.tables import (
    Bools,
    Bytes,
    EditEstimates,
    EditSignatures,
    Floats,
    Int64s,
    Texts,
    Uint32s,
    Uint64s,
    offsets_of,
)
from neardup.text.forms import Normalisation, form_texts
from neardup.text.shingles import HASH_VERSION

Objects = npt.NDArray[np.object_]

MOST_LETTERS = 1 << 32

# Signatures with fewer symbols are useless for estimates.
LEAST_SYMBOLS = 20

# A symbol is a code point while signatures are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _CODE_POINTS = 0xD800, 0x800, 0x110000 - 0x800

# Lengths and ratios of lengths at which unrelated signatures are compared, and how many pairs.
_LENGTHS = tuple(1 << k for k in range(4, 13))
_RATIOS = np.linspace(0, 1, 17)
_N_UNRELATED = 100


@dataclass(frozen=True)
class EditScheme(SketchKind):
    """Symbols of some windows of a text, for edit distance.

    One window of ``neighbourhood`` characters in ``compression``, on average, has a symbol, one of
    ``letters``; few letters make signatures alike by chance. One edit disturbs as many windows as
    they have characters at most. ``hash`` is ``mixed``, of all characters of a window, or ``sum``,
    of their code points, as in the paper: a window has a symbol if its sum leaves the rest
    ``residue`` by ``compression``. A sum ignores order, and picks more or fewer windows.
    """

    name = "edit"
    missing_options = ("tokenizer", "ngram", "occurrences", "fingerprint")
    # Texts are cut into no tokens; as characters they are not folded unless that is asked for.
    defaults = {"tokenizer": "characters", "ngram": 1}  # noqa: RUF012 - nobody changes it
    measures = ("edit",)

    compression: int = 100
    neighbourhood: int = 12
    hash: Literal["mixed", "sum"] = "mixed"
    letters: int = MOST_LETTERS
    residue: int = 0
    seed: int = 42

    def __post_init__(self) -> None:
        check_range("compression", self.compression, 1, 1 << 20)
        check_range("neighbourhood", self.neighbourhood, 1, 256)
        check_range("letters", self.letters, 2, MOST_LETTERS)
        check_range("residue", self.residue, 0, self.compression - 1)
        check_seed(self.seed)
        if self.hash not in ("mixed", "sum"):
            message = f"hash must be 'mixed' or 'sum', got {self.hash!r}"
            raise InvalidParameterError(message)
        if self.hash == "mixed" and self.residue:
            message = f"residue has no effect with hash='mixed', got {self.residue}; leave it out"
            raise InvalidParameterError(message, "residue", "hash")

    def describe_with(self, texts: TextScheme) -> dict[str, Any]:
        """Return all settings that decide a signature."""
        tokenizer = texts.shingles.tokenizer
        return (
            texts.shingles.normalisation.describe()
            | {"hash_version": HASH_VERSION, "unicode_version": unicodedata.unidata_version}
            | ({"tokenizer": tokenizer.name} if tokenizer.is_bytewise else {})
            | self.describe()
        )

    def make(self, texts: Texts, how: TextScheme) -> tuple[EditSignatures, Uint64s]:
        """Sign folded texts, or bytes as characters, and digest them."""
        signed = _as_signed(texts, how)
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
        estimates = edit_estimates(rows, self, left, right)
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
        """Return lengths and symbol lists, bit-packed for two letters."""
        lengths = pa.array(rows.lengths)
        if self.letters == 2:
            packed, starts = pack_letters(rows)
            buffers = [None, pa.py_buffer(starts), pa.py_buffer(packed)]
            return {
                "length": lengths,
                "symbols": pa.array(np.diff(rows.offsets)),
                "sketch": pa.Array.from_buffers(pa.large_binary(), len(rows), buffers),
            }
        sketches = pa.LargeListArray.from_arrays(rows.offsets, rows.symbols)
        return {"length": lengths, "sketch": sketches}

    def from_columns(self, table: pa.Table) -> EditSignatures:
        """Read symbols, no more than characters."""
        lengths = read_counts(table, "length")
        if self.letters == 2:
            symbols, offsets = _read_bits(table)
        else:
            column, offsets = read_lists(table, pa.uint32())
            symbols = np.array(column.to_numpy(), np.uint32)
            check(int(symbols.max(initial=0)) < self.letters)
        check(bool((np.diff(offsets) <= lengths).all()))
        return EditSignatures(symbols, offsets, lengths)


def edit_signatures(texts: Texts, scheme: EditScheme) -> EditSignatures:
    """Return symbols of about one window in ``compression`` per text.

    Symbols are in text order. An edit changes only symbols of windows that hold the edited
    character, so that a text has the same symbols wherever it is, but for windows that reach over
    its ends. Texts are valid UTF-8; case and space are not folded. A text shorter than a window has
    no symbol. Of W different windows, the number of symbols is binomial: mean W / compression,
    variance W / compression * (1 - 1 / compression). Equal windows have a symbol all or none.

    Time is linear in the text, about 900 MB of ASCII per second with ``mixed``, for any window.
    Memory is 4 bytes per symbol, with room for 20 % more than expected.
    """
    from neardup.kernels.sketch import edit as signature

    n = len(texts)
    with np.errstate(over="ignore"):
        seed = mix_words(np.uint64(scheme.seed) ^ GOLDEN)
    symbol_offsets: Int64s = np.zeros(n + 1, np.int64)
    lengths: Int64s = np.zeros(n, np.int64)
    n_bytes = int(texts.offsets[-1] - texts.offsets[0])
    room = n_bytes // scheme.compression * 6 // 5 + 1024
    symbols: Uint32s = np.empty(room, np.uint32)
    done = 0
    while True:
        done = signature.sign_texts(
            texts.data,
            texts.offsets,
            done,
            scheme.neighbourhood,
            np.uint64(2**64 // scheme.compression - 1),
            np.uint64(scheme.compression),
            np.uint64(scheme.residue),
            scheme.hash == "sum",
            seed,
            np.uint64(scheme.letters),
            symbols,
            symbol_offsets,
            lengths,
        )
        if done == n:
            break
        # Texts that repeat themselves may have any number of symbols.
        symbols = np.concatenate([symbols, np.empty_like(symbols)])
    return EditSignatures(symbols[: int(symbol_offsets[-1])].copy(), symbol_offsets, lengths)


def edit_estimates(
    signatures: EditSignatures, scheme: EditScheme, left: Int64s, right: Int64s
) -> EditEstimates:
    """Estimate edit distances from the distances of signatures.

    A distance is that of the signatures times the characters per symbol, divided by the edited
    share of unrelated signatures. Inserted, deleted or replaced blocks are estimated up to three
    tenths too large, isolated edits by up to twice the neighbourhood, which the 95 % interval
    allows for. Distances and intervals are from the difference of the lengths to the longer one.

    Significances compare with random signatures as long, simulated with fixed seeds; the standard
    deviation is taken as one symbol at least. Fewer than 1 in 100 pairs of up to 4,096 random
    symbols exceed 3; for longer signatures means are extrapolated, and 5 is a safer bound. Only
    closer pairs are significant, never distant ones. Phrases that all texts share count as a
    relation.
    """
    sizes, lengths = np.diff(signatures.offsets), signatures.lengths
    shorter = np.minimum(lengths[left], lengths[right]).astype(np.float64)
    longer = np.maximum(lengths[left], lengths[right]).astype(np.float64)
    is_usable: Bools = np.minimum(sizes[left], sizes[right]) >= LEAST_SYMBOLS
    low, high = longer - shorter, longer.copy()
    distances, significances = np.full((2, len(left)), np.nan)
    rows = np.flatnonzero(is_usable)
    left, right, shorter, longer = left[rows], right[rows], shorter[rows], longer[rows]
    edits = signature_distances(signatures, left, right)
    unrelated, deviations = unrelated_distances(sizes[left], sizes[right], scheme.letters)
    significances[rows] = (unrelated - edits) / deviations

    symbols = edits / (unrelated / np.maximum(sizes[left], sizes[right]))
    windows = shorter + longer - 2.0 * (scheme.neighbourhood - 1)
    spacing = windows / (sizes[left] + sizes[right]).astype(np.float64)
    z = QUANTILE_95
    margin = z * np.sqrt(symbols + z * z / 4)
    least = spacing * (symbols + z * z / 2 - margin) / (2 * scheme.neighbourhood)
    most = spacing * (symbols + z * z / 2 + margin)
    distances[rows], low[rows], high[rows] = (
        np.clip(each, longer - shorter, longer) for each in (spacing * symbols, least, most)
    )
    # To a thousandth, as sums of floats are not nearer.
    return EditEstimates(
        np.round(distances, 3), np.floor(low), np.ceil(high), significances, is_usable
    )


def signature_distances(signatures: EditSignatures, left: Int64s, right: Int64s) -> Int64s:
    """Count the symbol edits between pairs of signatures.

    Symbols are compared by 20 bits: two different symbols are equal by chance once in 1,112,064
    times, never with fewer letters.
    """
    strings = as_strings(signatures)
    return _levenshtein(strings[left], strings[right])


def unrelated_distances(left: Int64s, right: Int64s, letters: int) -> tuple[Floats, Floats]:
    """Return mean and deviation of distances between unrelated signatures.

    ``left`` and ``right`` are the numbers of symbols of each pair's signatures. Means are of the
    longer signature at most, and deviations of one symbol or more. They come from 100 pairs of
    random signatures, with fixed seeds, for each of 17 ratios of lengths and lengths from 16 to
    4,096 by powers of two. In between, and beyond, the share of the longer length is linear in the
    length to the power of -2/3, and the logarithm of the deviation in that of the length. The first
    call for a length above 2,048 takes a second or two.
    """
    longer = np.maximum(np.maximum(left, right), _LENGTHS[0]).astype(np.float64)
    ratios = np.minimum(left, right) / longer
    brackets = np.clip(np.searchsorted(_LENGTHS, longer, "right") - 1, 0, len(_LENGTHS) - 2)
    means, deviations = np.empty(len(longer)), np.empty(len(longer))
    for bracket in np.unique(brackets).tolist():
        rows = brackets == bracket
        below, above = _LENGTHS[bracket], _LENGTHS[bracket + 1]
        ends = [_unrelated_shares(letters, length) for length in (below, above)]
        low, high = (np.interp(ratios[rows], _RATIOS, mean) for mean, _ in ends)
        power = longer[rows] ** (-2 / 3)
        weight = (power - below ** (-2 / 3)) / (above ** (-2 / 3) - below ** (-2 / 3))
        means[rows] = longer[rows] * (low + weight * (high - low))
        low, high = (np.interp(ratios[rows], _RATIOS, deviation) for _, deviation in ends)
        weight = np.log2(longer[rows] / below)
        deviations[rows] = longer[rows] * low * (high / low) ** weight
    return np.minimum(means, np.maximum(left, right)), np.maximum(deviations, 1.0)


@lru_cache(maxsize=256)
def _unrelated_shares(letters: int, length: int) -> tuple[Floats, Floats]:
    """Simulate mean and deviation of random distances, by ratio.

    Both are shares of ``length``. Deviations are of a hundredth of a symbol at least.
    """
    generator = np.random.default_rng([letters, length])
    n_letters = min(letters, _CODE_POINTS)
    shorter = np.rint(_RATIOS * length).astype(np.int64)
    sizes = np.stack([np.full(len(_RATIOS), length), shorter], axis=1).repeat(_N_UNRELATED, axis=0)
    offsets = offsets_of(sizes)
    symbols = generator.integers(0, n_letters, int(offsets[-1]), np.uint32)
    strings = as_strings(EditSignatures(symbols, offsets, np.zeros(sizes.size, np.int64)))
    shares = _levenshtein(strings[0::2], strings[1::2]).reshape(len(_RATIOS), -1) / length
    return shares.mean(axis=1), np.maximum(shares.std(axis=1, ddof=1), 0.01 / length)


def as_strings(signatures: EditSignatures) -> Objects:
    """Return signatures as strings for RapidFuzz, one character per symbol."""
    codes: Uint32s = signatures.symbols % np.uint32(_CODE_POINTS)
    codes[codes >= _FIRST_SURROGATE] += np.uint32(_N_SURROGATES)
    text = codes.astype("<u4").tobytes().decode("utf-32-le")
    strings: Objects = np.empty(len(signatures), np.object_)
    offsets = signatures.offsets.tolist()
    strings[:] = [text[start:stop] for start, stop in pairwise(offsets)]
    return strings


def _levenshtein(left: Objects, right: Objects) -> Int64s:
    distances: Int64s = process.cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int64)
    return distances


def bytes_as_characters(texts: Texts) -> Texts:
    """Return UTF-8 with one character, U+0000 to U+00FF, per byte."""
    start, stop = int(texts.offsets[0]), int(texts.offsets[-1])
    data = texts.data[start:stop]
    is_long = data >= 128
    if not is_long.any():
        return texts
    # Bytes before each place in the new text.
    before: Int64s = np.zeros(len(data) + 1, np.int64)
    np.cumsum(is_long, out=before[1:])
    encoded = np.frombuffer(data.tobytes().decode("latin-1").encode(), np.uint8)
    bounds = texts.offsets - start
    return Texts(encoded, bounds + before[bounds])


def _as_signed(texts: Texts, how: TextScheme) -> Texts:
    if how.shingles.tokenizer.is_bytewise:
        return bytes_as_characters(texts)
    return fold_texts(texts, how.shingles.normalisation)


def fold_texts(texts: Texts, normalisation: Normalisation) -> Texts:
    """Fold texts that are not cut into tokens."""
    formed = form_texts(texts, normalisation)
    texts = texts if formed is None else formed.texts
    if not normalisation.folds:
        return texts
    folded = [normalisation.fold_text(text) for text in texts.to_arrow().to_pylist()]
    return Texts.from_arrow(pa.array(folded, pa.large_string()))


def _read_bits(table: pa.Table) -> tuple[Uint32s, Int64s]:
    sizes = read_counts(table, "symbols")
    packed = read_column(table, "sketch").cast(pa.large_binary())
    check(packed.null_count == 0)
    check(bool((pc.binary_length(packed).to_numpy() == -(-sizes // 8)).all()))
    data = b"".join(packed.to_pylist())
    offsets = offsets_of(sizes)
    return unpack_letters(np.frombuffer(data, np.uint8), offsets), offsets


def pack_letters(signatures: EditSignatures) -> tuple[Bytes, Int64s]:
    """Pack symbols of two letters into bits, highest bit first.

    Each signature starts at a new byte; the second result are these starts (n + 1). The number of
    symbols is not in the bytes: keep ``offsets``.
    """
    starts = offsets_of(-(-np.diff(signatures.offsets) // 8))
    bits: Bytes = np.zeros(int(starts[-1]) * 8, np.uint8)
    bits[_bit_places(starts, signatures.offsets)] = signatures.symbols
    return np.packbits(bits), starts


def unpack_letters(packed: Bytes, offsets: Int64s) -> Uint32s:
    """Return the symbols that ``pack_letters`` packed, given their offsets."""
    starts = offsets_of(-(-np.diff(offsets) // 8))
    symbols: Uint32s = np.unpackbits(packed)[_bit_places(starts, offsets)].astype(np.uint32)
    return symbols


def _bit_places(starts: Int64s, offsets: Int64s) -> Int64s:
    shifts = 8 * starts[:-1] - (offsets[:-1] - offsets[0])
    places: Int64s = np.arange(offsets[-1] - offsets[0]) + np.repeat(shifts, np.diff(offsets))
    return places
