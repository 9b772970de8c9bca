"""The kind edit as one of the kinds of sketches."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.runs.runner import Runner
from neardup.sketches.edit.estimate import LEAST_SYMBOLS, edit_estimates
from neardup.sketches.edit.signature import EditScheme, edit_signatures
from neardup.sketches.kind import (
    EstimatedShares,
    PairEstimates,
    Pairs,
    SketchKind,
    TextScheme,
    check,
    digest_texts,
    list_pairs,
    read_column,
    read_counts,
    read_lists,
    where_known,
)
from neardup.tables import (
    Bytes,
    EditSignatures,
    Int64s,
    Texts,
    Uint32s,
    Uint64s,
    offsets_of,
)
from neardup.text.forms import Normalisation, form_texts
from neardup.text.shingles import HASH_VERSION
from neardup.text.tokenizers import bytes_as_characters

# Symbols of two letters as bits.


def pack_letters(signatures: EditSignatures) -> tuple[Bytes, Int64s]:
    """Pack symbols of two letters into bits, the first one highest.

    Returns
    -------
    The bytes of all signatures, each starting at a new byte, and their starts (n + 1). They do not
    contain the number of symbols: keep ``offsets``.

    Raises
    ------
    InvalidParameterError
        If a symbol is not 0 or 1.
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
    """Return the symbols that ``pack_letters`` packed.

    Parameters
    ----------
    packed
        Its bytes.
    offsets
        Offsets of the signatures (n + 1), in symbols.

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
    shifts = 8 * starts[:-1] - (offsets[:-1] - offsets[0])
    places: Int64s = np.arange(offsets[-1] - offsets[0]) + np.repeat(shifts, np.diff(offsets))
    return places


class EditKind(SketchKind[EditScheme, EditSignatures]):
    """Symbols of some windows, for edit distance."""

    name = "edit"
    scheme_type = EditScheme
    missing_options = (
        *("tokenizer", "language", "ngram", "occurrences"),
        *("fingerprint", "fingerprint_bits"),
    )
    # Texts are cut into no tokens; as characters they are not folded unless that is asked for.
    defaults = {"tokenizer": "characters", "ngram": 1}  # noqa: RUF012 - nobody changes it
    measures = ("edit",)

    def describe(self, texts: TextScheme) -> dict[str, Any]:
        """Return all settings that decide a signature: folding, or that texts are bytes."""
        tokenizer = texts.shingles.tokenizer
        return (
            texts.shingles.normalisation.describe()
            | {"hash_version": HASH_VERSION, "unicode_version": unicodedata.unidata_version}
            | ({"tokenizer": tokenizer.name} if tokenizer.is_bytewise else {})
            | self.scheme.describe()
        )

    def make(self, texts: Texts, how: TextScheme) -> EditSignatures:
        """Sign texts after folding, or bytes as one character each."""
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

    def candidates(
        self,
        rows: EditSignatures,
        measure: str,
        threshold: Fraction,
        *,
        n_left: int | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[Pairs]:
        """Yield the pairs whose lengths allow the threshold."""
        p, q = threshold.numerator, threshold.denominator
        for left, right in list_pairs(len(rows), n_left):
            shorter = np.minimum(rows.lengths[left], rows.lengths[right])
            longer = np.maximum(rows.lengths[left], rows.lengths[right])
            # 1 - distance / longer >= p / q, the distance being the difference at least.
            fits = shorter * q >= longer * p
            if fits.any():
                yield left[fits], right[fits]

    def estimate(self, rows: EditSignatures, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate edit distances, and the similarity of the texts."""
        estimates = edit_estimates(rows, self.scheme, left, right)
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
        """Return lengths, and lists of symbols, packed into bits for two letters."""
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
        lengths = read_counts(table, "length")
        read = _read_bits if self.scheme.letters == 2 else self._read_symbols
        rows = EditSignatures(*read(table), lengths)
        check(bool((np.diff(rows.offsets) <= lengths).all()))
        return rows

    def _read_symbols(self, table: pa.Table) -> tuple[Uint32s, Int64s]:
        column, offsets = read_lists(table, pa.uint32())
        symbols = np.array(column.to_numpy(), np.uint32)
        check(int(symbols.max(initial=0)) < self.scheme.letters)
        return symbols, offsets


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
