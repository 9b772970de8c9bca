"""The kind edit as one of the kinds of sketches."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import mix_words
from neardup.matching.measures import Dice, Measure, Overlap
from neardup.matching.set_join import join_sets
from neardup.runs.runner import Runner
from neardup.sketches.edit.aligned import (
    KnownLengths,
    least_common,
    least_distances,
    most_similar_without_symbols,
)
from neardup.sketches.edit.estimate import (
    LEAST_SYMBOLS,
    as_strings,
    edit_estimates,
    expected_distances,
    place_inside,
)
from neardup.sketches.edit.signature import LEAST_ALIGNED_LETTERS, EditScheme, edit_signatures
from neardup.sketches.kind import (
    EstimatedShares,
    PairEstimates,
    Pairs,
    SketchKind,
    TextScheme,
    Wanted,
    cut_pairs,
    digest_texts,
    list_pairs,
    where_known,
)
from neardup.tables import (
    Bools,
    Bytes,
    EditSignatures,
    Int64s,
    ShingleSets,
    Texts,
    Uint32s,
    Uint64s,
    offsets_of,
    places_of_lists,
)
from neardup.text.forms import form_texts
from neardup.text.normalise import Normalisation
from neardup.text.shingles import HASH_VERSION
from neardup.text.tokenizers import bytes_as_characters

if TYPE_CHECKING:
    import pyarrow as pa

# Pairs of edit sketches whose estimate may reach what is wanted, without looking at all pairs.
#
# Unrelated texts have hardly a symbol in common, and texts with few symbols in common are far apart
# by any estimate: ``floor.py`` says how far at least. Where symbols must be shared the pairs come
# from an exact join of the signatures, as multisets of symbols.

# Estimates are rounded to a thousandth; sums of floats are nearer than that.
_ROUNDED = 0.01
# A threshold of a join is a whole number of so manieth parts.
_PARTS = 10**6
_LEFT, _RIGHT = 1, 2
_PIECE = 1 << 20


def join_edits(
    signatures: EditSignatures,
    scheme: EditScheme,
    wanted: Wanted,
    *,
    n_left: int | None,
    runner: Runner,
) -> Iterator[Pairs]:
    """Find the pairs of signatures that may be wanted, in ascending order, some at a time.

    None is missed whose estimated similarity reaches the threshold and whose significance the
    least one. With less than 65,536 letters, and with a threshold below 0.36 or so, which texts
    without a symbol in common may reach, these are all pairs whose lengths allow the threshold.

    Parameters
    ----------
    signatures, scheme
        n signatures, and what they were made by.
    wanted
        Threshold and least significance.
    n_left
        So many rows at the start are the first of two collections, of which pairs have one each.
    runner
        Runs the join.
    """
    rows: Int64s = np.flatnonzero(np.diff(signatures.offsets) >= LEAST_SYMBOLS)
    measure = _least_shared(signatures, scheme, wanted, rows)
    if measure is None:
        yield from list_pairs(
            len(signatures),
            n_left,
            lambda row, partners: partners[_fit(signatures, wanted, row, partners)],
        )
        return
    sides = None if n_left is None else np.where(rows < n_left, _LEFT, _RIGHT).astype(np.uint8)
    found, _ = join_sets(_symbol_sets(signatures, rows), measure, sides=sides, runner=runner)
    left, right, common = rows[found.left], rows[found.right], found.scores
    near = [np.empty(0, np.int64)]
    for start in range(0, len(left), _PIECE):
        part = slice(start, start + _PIECE)
        may_be = _may_be(signatures, scheme, wanted, left[part], right[part], common[part])
        near.append(start + np.flatnonzero(may_be))
    chosen = np.concatenate(near)
    yield from cut_pairs(left[chosen], right[chosen])


def _least_shared(
    signatures: EditSignatures, scheme: EditScheme, wanted: Wanted, rows: Int64s
) -> Measure | None:
    """Return what signatures of wanted pairs have in common at least; None if maybe nothing."""
    if scheme.letters < LEAST_ALIGNED_LETTERS:
        return None
    if not len(rows):
        return Overlap.lowest()
    measures: list[Measure] = []
    if wanted.threshold is not None:
        lengths, n = signatures.lengths[rows], scheme.neighbourhood
        # Whatever is rounded, it is far less.
        threshold, shortest = float(wanted.threshold) - 1e-6, int(lengths.min())
        threshold -= _ROUNDED / shortest
        if threshold > most_similar_without_symbols(threshold, shortest, n):
            sizes = np.diff(signatures.offsets)[rows]
            spacing = float(((lengths - n + 1) / sizes).min())
            share = math.floor(least_common(threshold, shortest, spacing, n) * _PARTS)
            measures.append(Dice(Fraction(share, _PARTS)) if share > 0 else Overlap.lowest())
    if wanted.min_significance is not None:
        # Each symbol in common takes one edit from the distance, and deviations are one at least.
        measures.append(Overlap(Fraction(max(math.ceil(wanted.min_significance - 1e-6), 1))))
    return measures[0] if measures else None


def _may_be(
    signatures: EditSignatures,
    scheme: EditScheme,
    wanted: Wanted,
    left: Int64s,
    right: Int64s,
    common: Int64s,
) -> Bools:
    """Mark the pairs that may be wanted with so many symbols in common."""
    sizes, lengths = np.diff(signatures.offsets), signatures.lengths
    may_be: Bools = np.ones(len(left), np.bool_)
    if wanted.threshold is not None:
        may_be &= _fit(signatures, wanted, left, right)
        is_turned = lengths[left] > lengths[right]
        first, second = np.where(is_turned, right, left), np.where(is_turned, left, right)
        known = KnownLengths(
            scheme.neighbourhood,
            lengths[first].astype(np.float64),
            lengths[second].astype(np.float64),
            (sizes[first] + sizes[second]).astype(np.float64),
        )
        least = least_distances(known, common.astype(np.float64), sizes[first].astype(np.float64))
        most = (1 - float(wanted.threshold)) * lengths[second]
        may_be &= least <= most + _ROUNDED + 1e-9 * lengths[second]
    if wanted.min_significance is not None:
        expected, deviations = expected_distances(sizes[left], sizes[right], scheme.letters)
        nearest = np.maximum(sizes[left], sizes[right]) - common
        may_be &= expected - nearest >= (wanted.min_significance - 1e-6) * deviations
    return may_be


def _fit(signatures: EditSignatures, wanted: Wanted, left: Int64s | int, right: Int64s) -> Bools:
    """Mark the pairs whose lengths do not say that they are too far apart."""
    if wanted.threshold is None:
        return np.ones(len(right), np.bool_)
    p, q = wanted.threshold.numerator, wanted.threshold.denominator
    lengths = signatures.lengths
    shorter = np.minimum(lengths[left], lengths[right])
    longer = np.maximum(lengths[left], lengths[right])
    # 1 - distance / longer >= p / q, the distance being the difference at least.
    fits: Bools = shorter * q >= longer * p
    return fits


def _symbol_sets(signatures: EditSignatures, rows: Int64s) -> ShingleSets:
    """Return the symbols of some signatures as sets: the k-th time that one is there counts by k.

    Symbols are those that distances compare.
    """
    sizes: Int64s = np.diff(signatures.offsets)
    data = "".join(as_strings(signatures).tolist()).encode("utf-32-le")
    symbols = np.frombuffer(data, "<u4").astype(np.uint64)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((symbols, owners))
    symbols, owners = symbols[order], owners[order]
    numbers = np.arange(len(symbols))
    is_first = np.ones(len(symbols), np.bool_)
    is_first[1:] = (symbols[1:] != symbols[:-1]) | (owners[1:] != owners[:-1])
    numbers -= np.maximum.accumulate(np.where(is_first, numbers, 0))
    # Joins want elements that are spread out; one to one.
    values: Uint64s = mix_words(symbols << np.uint64(32) | numbers.astype(np.uint64))
    return ShingleSets(
        values[np.lexsort((values, owners))], signatures.offsets[:-1][rows], sizes[rows]
    )


# Symbols of two letters as bits.


def pack_letters(signatures: EditSignatures) -> tuple[Bytes, Int64s]:
    """Write symbols of two letters as bits, eight to a byte, the first one highest.

    Returns
    -------
    The bytes of all signatures, each from a byte of its own on, and where each begins (n + 1). How
    many symbols a signature has is not in them: keep ``offsets``.

    Raises
    ------
    InvalidParameterError
        If there is a symbol other than 0 and 1.
    """
    if signatures.symbols.max(initial=0) > 1:
        message = (
            f"letters must be 2 to be packed, got symbols up to {signatures.symbols.max()}; "
            "sign the texts with EditScheme(letters=2)"
        )
        raise InvalidParameterError(message)
    sizes = np.diff(signatures.offsets)
    starts = _byte_starts(sizes)
    bits: Bytes = np.zeros(int(starts[-1]) * 8, np.uint8)
    bits[_bit_places(starts, signatures.offsets)] = signatures.symbols
    return np.packbits(bits), starts


def unpack_letters(packed: Bytes, offsets: Int64s) -> Uint32s:
    """Give the symbols that ``pack_letters`` wrote.

    Parameters
    ----------
    packed
        Its bytes.
    offsets
        Those of the signatures (n + 1), in symbols.

    Raises
    ------
    InvalidParameterError
        If there are more or fewer bytes than the signatures take.
    """
    starts = _byte_starts(np.diff(offsets))
    if len(packed) != starts[-1]:
        message = f"packed must have the {starts[-1]} bytes of its signatures, got {len(packed)}"
        raise InvalidParameterError(message)
    symbols: Uint32s = np.unpackbits(packed)[_bit_places(starts, offsets)].astype(np.uint32)
    return symbols


def _byte_starts(sizes: Int64s) -> Int64s:
    return offsets_of(-(-sizes // 8))


def _bit_places(starts: Int64s, offsets: Int64s) -> Int64s:
    """Tell for each symbol the number of its bit."""
    shifts = 8 * starts[:-1] - (offsets[:-1] - offsets[0])
    places: Int64s = np.arange(offsets[-1] - offsets[0]) + np.repeat(shifts, np.diff(offsets))
    return places


class EditKind(SketchKind[EditScheme, EditSignatures]):
    """Symbols of some windows, for edit distance."""

    name = "edit"
    scheme_type = EditScheme
    missing_options = (
        *("tokenizer", "ngram", "occurrences"),
        *("fingerprint", "fingerprint_bits"),
    )
    # Texts are cut into no tokens; as characters they are not folded unless that is asked for.
    defaults = {"tokenizer": "characters", "ngram": 1}  # noqa: RUF012 - nobody changes it
    measures = ("edit",)
    has_significance = True
    has_places = True

    def describe(self, texts: TextScheme) -> dict[str, Any]:
        """Return all that decides a signature: what is folded away, or that texts are bytes."""
        tokenizer = texts.shingles.tokenizer
        return (
            texts.shingles.normalisation.describe()
            | {"hash_version": HASH_VERSION, "unicode_version": unicodedata.unidata_version}
            | ({"tokenizer": tokenizer.name} if tokenizer.is_bytewise else {})
            | self.scheme.describe()
        )

    def make(self, texts: Texts, how: TextScheme) -> EditSignatures:
        """Sign texts after what does not count was folded away, or bytes as so many characters."""
        return edit_signatures(_as_signed(texts, how), self.scheme)

    def make_with_digests(self, texts: Texts, how: TextScheme) -> tuple[EditSignatures, Uint64s]:
        """Sign texts, and digest them as they are signed."""
        signed = _as_signed(texts, how)
        return edit_signatures(signed, self.scheme), digest_texts(signed, self.scheme.seed)

    def join_rows(self, parts: Sequence[EditSignatures]) -> EditSignatures:
        """Put signatures one after another."""
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        offsets = offsets_of(sizes)
        return EditSignatures(
            np.concatenate([part.symbols for part in parts]),
            offsets,
            np.concatenate([part.lengths for part in parts]),
        )

    def take_rows(self, rows: EditSignatures, places: Int64s) -> EditSignatures:
        """Return some of the signatures."""
        of_symbols, offsets = places_of_lists(rows.offsets[places], np.diff(rows.offsets)[places])
        return EditSignatures(rows.symbols[of_symbols], offsets, rows.lengths[places])

    def candidates(
        self,
        rows: EditSignatures,
        wanted: Wanted,
        *,
        n_left: int | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[Pairs]:
        """Find the pairs that have enough symbols in common, or lengths that allow it."""
        # Only this needs it.

        return join_edits(rows, self.scheme, wanted, n_left=n_left, runner=runner)

    def estimate(self, rows: EditSignatures, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate edit distances; similarity is what they leave of the longer text."""
        import pyarrow as pa

        align = self.scheme.letters >= LEAST_ALIGNED_LETTERS
        found = edit_estimates(rows, self.scheme, left, right, align=align)
        lengths = np.maximum(np.maximum(rows.lengths[left], rows.lengths[right]), 1)
        longer = lengths.astype(np.float64)
        hits = longer - found.distances
        columns = {
            "distance": where_known(found.is_usable, found.distances),
            "low": pa.array(found.low),
            "high": pa.array(found.high),
            "similarity": where_known(found.is_usable, hits / longer),
            "significance": where_known(found.is_usable, found.significances),
            "spread": where_known(~np.isnan(found.spreads), found.spreads),
        }
        measures = {"edit": EstimatedShares(hits, longer, found.is_usable)}
        return PairEstimates(columns, measures, found.significances)

    def count_short(self, rows: EditSignatures) -> int:
        """Count the signatures of too few symbols."""
        return int((np.diff(rows.offsets) < LEAST_SYMBOLS).sum())

    def places(self, rows: EditSignatures, left: Int64s, right: Int64s) -> dict[str, pa.Array]:
        """Find where the shorter text of each pair lies in the longer one.

        ``inner`` is a or b, the shorter one (a where both are as long); ``place_start`` and
        ``place_end`` are characters of the other one, and ``place_share`` is the part of the inner
        one's symbols that was found there in order.
        """
        import pyarrow as pa

        is_left = rows.lengths[left] <= rows.lengths[right]
        inner, outer = np.where(is_left, left, right), np.where(is_left, right, left)
        places = place_inside(rows, self.scheme, inner, outer)
        return {
            "inner": pa.array(np.where(is_left, "a", "b")),
            "place_start": pa.array(places.starts),
            "place_end": pa.array(places.stops),
            "place_share": pa.array(places.shares),
        }

    def count_elements(self, rows: EditSignatures) -> Int64s:
        """Return the numbers of characters."""
        return rows.lengths

    def to_columns(self, rows: EditSignatures) -> dict[str, pa.Array]:
        """Return lengths, and lists of symbols; as bits and their numbers if there are two."""
        import pyarrow as pa

        lengths = pa.array(rows.lengths)
        if self.scheme.letters == 2:
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
        from neardup.sketches.kind import check, read_counts

        lengths = read_counts(table, "length")
        read = _read_bits if self.scheme.letters == 2 else self._read_symbols
        rows = EditSignatures(*read(table), lengths)
        check(bool((np.diff(rows.offsets) <= lengths).all()))
        return rows

    def _read_symbols(self, table: pa.Table) -> tuple[Uint32s, Int64s]:
        import pyarrow as pa

        from neardup.sketches.kind import check, read_lists

        column, offsets = read_lists(table, pa.uint32())
        symbols = np.array(column.to_numpy(), np.uint32)
        check(int(symbols.max(initial=0)) < self.scheme.letters)
        return symbols, offsets


def _as_signed(texts: Texts, how: TextScheme) -> Texts:
    if how.shingles.tokenizer.is_bytewise:
        return bytes_as_characters(texts)
    return fold_texts(texts, how.shingles.normalisation)


def fold_texts(texts: Texts, normalisation: Normalisation) -> Texts:
    """Fold away what does not count from texts that are not cut into tokens."""
    formed = form_texts(texts, normalisation)
    texts = texts if formed is None else formed.texts
    if not normalisation.folds:
        return texts
    import pyarrow as pa

    folded = [normalisation.fold_text(text) for text in texts.to_arrow().to_pylist()]
    return Texts.from_arrow(pa.array(folded, pa.large_string()))


def _read_bits(table: pa.Table) -> tuple[Uint32s, Int64s]:
    import pyarrow as pa
    import pyarrow.compute as pc

    from neardup.sketches.kind import check, read_column, read_counts

    sizes = read_counts(table, "symbols")
    packed = read_column(table, "sketch").cast(pa.large_binary())
    check(packed.null_count == 0)
    check(bool((pc.binary_length(packed).to_numpy() == -(-sizes // 8)).all()))
    data = b"".join(packed.to_pylist())
    offsets = offsets_of(sizes)
    return unpack_letters(np.frombuffer(data, np.uint8), offsets), offsets
