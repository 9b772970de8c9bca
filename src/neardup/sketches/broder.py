"""Broder's sketches: samples of shingle sets that estimate resemblance and containment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.kernels.hashing import mix_words
from neardup.sketches.rabin import rabin_shingle_lists
from neardup.tables import Int64s, SetSketches, ShingleLists, Texts, Uint64s
from neardup.text.shingles import ShingleScheme, shingle_lists

# Kernels are imported where they are used, so that a job compiles those of its kind only.

Fingerprint = Literal["mixer", "rabin"]

_ALL_ONES = 2**64 - 1
# More values than any sketch has.
_NO_LIMIT = 2**62


@dataclass(frozen=True)
class SmallestScheme:
    """Sketches of the ``size`` smallest elements of a permuted set.

    Parameters
    ----------
    size
        From 1 to 1,048,576. A smaller set is kept whole.
    seed
        From 0 to 2^64 - 1; selects the permutation, and the polynomial of ``rabin``.
    fingerprint
        What shingles are hashed by: ``mixer``, the hash of all other sketches, or ``rabin``.
    """

    size: int = 256
    seed: int = 42
    fingerprint: Fingerprint = "mixer"

    def __post_init__(self) -> None:
        _check_common(self.size, self.seed, self.fingerprint)

    def describe(self) -> dict[str, object]:
        """Give all that decides the sketches of given shingles, as plain values."""
        return {
            "kind": "smallest",
            "size": self.size,
            "seed": self.seed,
            "fingerprint": self.fingerprint,
        }


@dataclass(frozen=True)
class ModuloScheme:
    """Sketches of those elements of a permuted set that a modulus divides.

    Parameters
    ----------
    modulus
        One for all sets, from 1 to 2^32. None: each set has the power of two 2^i for which
        size * 2^i <= n < size * 2^(i + 1), where n is the number of its distinct elements, and 1 if
        n < size; so a sketch has ``size`` to twice as many values, as expected.
    size
        From 1 to 1,048,576. No effect where a modulus is given.
    seed
        From 0 to 2^64 - 1; selects the permutation, and the polynomial of ``rabin``.
    fingerprint
        As of ``SmallestScheme``.
    """

    modulus: int | None = None
    size: int = 100
    seed: int = 42
    fingerprint: Fingerprint = "mixer"

    def __post_init__(self) -> None:
        if self.modulus is not None and not 1 <= self.modulus <= 2**32:
            message = f"modulus must lie between 1 and 2^32, got {self.modulus}"
            raise InvalidParameterError(message)
        _check_common(self.size, self.seed, self.fingerprint)

    def describe(self) -> dict[str, object]:
        """Give all that decides the sketches of given shingles, as plain values."""
        return {
            "kind": "modulo",
            "modulus": self.modulus,
            "size": self.size if self.modulus is None else None,
            "seed": self.seed,
            "fingerprint": self.fingerprint,
        }


SetScheme = SmallestScheme | ModuloScheme


def fingerprint_shingles(texts: Texts, shingles: ShingleScheme, scheme: SetScheme) -> ShingleLists:
    """Hash the shingles of each text as a scheme of sketches wants them."""
    if scheme.fingerprint == "rabin":
        return rabin_shingle_lists(texts, shingles, scheme.seed)
    return shingle_lists(shingles.tokenizer.hash_tokens(texts), shingles)


def sketch_sets(shingles: ShingleLists, scheme: SetScheme) -> SetSketches:
    """Sample every shingle set, so that samples of two sets are of the same elements.

    Shingle x becomes mix64(x ^ mix64(~mix64(seed))), one to one, and sketches hold some of
    these values: the smallest, or the multiples of a modulus.

    Parameters
    ----------
    shingles
        n lists of shingle hashes in any order; repeats change nothing.
    scheme
        Which values.

    Returns
    -------
    n sketches. The number of distinct shingles stands in ``sizes``; a smallest sketch knows it only
    where it is less than the scheme's size, and has -1 otherwise.

    Notes
    -----
    Time O(shingles), and sorting of what comes into the sketches. Where a modulo sketch does not
    hold all, distinct shingles are counted in a hash table, with 16 to 32 bytes for each shingle
    of the longest text: only so is the modulus that of the set, whatever is repeated.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, sections 3 and 4.
    """
    from neardup.kernels import broder

    n_shingles = np.diff(shingles.offsets)
    offsets: Int64s = np.empty(len(shingles) + 1, np.int64)
    sizes: Int64s = np.empty(len(shingles), np.int64)
    moduli: Int64s = np.ones(len(shingles), np.int64)
    key = _permutation_key(scheme.seed)
    if isinstance(scheme, SmallestScheme):
        values: Uint64s = np.empty(int(np.minimum(n_shingles, scheme.size).sum()), np.uint64)
        broder.smallest_sketches(
            shingles.values, shingles.offsets, key, scheme.size, values, offsets, sizes
        )
        return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, moduli)
    longest = int(n_shingles.max(initial=0))
    scratch: Uint64s = np.empty(2 << longest.bit_length(), np.uint64)
    # A sketch of modulus 1 counts by itself.
    least = {None: 2 * scheme.size, 1: longest + 1}.get(scheme.modulus, 0)
    broder.count_distinct(shingles.values, shingles.offsets, key, least, scratch, sizes)
    if scheme.modulus is None:
        odd, shifts = 1, _fitting_shifts(sizes, scheme.size)
        moduli = 1 << shifts
    else:
        power_of_two = scheme.modulus & -scheme.modulus
        odd = scheme.modulus // power_of_two
        shifts = np.full(len(shingles), power_of_two.bit_length() - 1, np.int64)
        moduli[:] = scheme.modulus
    counts: Int64s = np.empty(longest + 2, np.int64)
    values = np.empty(len(shingles.values) + 1, np.uint64)
    broder.modulo_sketches(
        shingles.values,
        shingles.offsets,
        key,
        np.uint64(pow(odd, -1, 2**64)),
        np.uint64(_ALL_ONES // odd),
        shifts,
        scratch,
        counts,
        values,
        offsets,
    )
    sizes = np.where(moduli == 1, np.diff(offsets), sizes)
    return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, moduli)


def join_sketches(parts: Sequence[SetSketches]) -> SetSketches:
    """Put tables of sketches of one scheme one after another."""
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    nothing: Int64s = np.empty(0, np.int64)
    return SetSketches(
        np.concatenate([nothing.astype(np.uint64), *(part.values for part in parts)]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([nothing, *(part.sizes for part in parts)]),
        np.concatenate([nothing, *(part.moduli for part in parts)]),
    )


def unite_sketches(
    sketches: SetSketches, members: Int64s, starts: Int64s, scheme: SetScheme
) -> SetSketches:
    """Sketch the unions of groups of sets from their sketches.

    Parameters
    ----------
    sketches
        Made by ``scheme``.
    members, starts
        Group g is the rows ``members[starts[g] : starts[g + 1]]``; a row may be in many groups.
    scheme
        That of the sketches.

    Returns
    -------
    Smallest sketches are those of the unions themselves, sizes included. Modulo sketches have the
    largest modulus of their group, and with a fixed modulus the values of the union's own sketch;
    the size of a union is known where its modulus is 1.

    Raises
    ------
    InvalidParameterError
        If members are no rows of the sketches, or groups do not follow each other.
    SketchMismatchError
        If moduli or sizes are not those of the scheme.
    """
    from neardup.kernels import broder

    check_rows("members", members, sketches)
    widths = np.diff(starts)
    if not len(starts) or starts[0] < 0 or starts[-1] > len(members) or (widths < 0).any():
        message = f"starts must ascend within the {len(members)} members, got {starts}"
        raise InvalidParameterError(message)
    check_sketches(scheme, sketches)
    chosen = members[starts[0] : starts[-1]]
    ends: Int64s = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(np.diff(sketches.offsets)[chosen], out=ends[1:])
    widest = int(np.diff(ends[starts - starts[0]]).max(initial=0))
    values: Uint64s = np.empty(int(ends[-1]), np.uint64)
    offsets: Int64s = np.empty(len(starts), np.int64)
    moduli: Int64s = np.empty(len(starts) - 1, np.int64)
    limit = sample_limit(scheme)
    broder.unite_sketches(
        sketches.values,
        sketches.offsets,
        sketches.moduli,
        chosen,
        starts - starts[0],
        limit,
        np.empty(widest, np.uint64),
        np.empty(widest + 2, np.int64),
        values,
        offsets,
        moduli,
    )
    n_values = np.diff(offsets)
    # A sketch that is not full has missed nothing.
    sizes = np.where((moduli == 1) & (n_values < limit), n_values, -1)
    return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, moduli)


def unite_rows(sketches: SetSketches, other: SetSketches, scheme: SetScheme) -> SetSketches:
    """Sketch the union of each row's set with that of the same row of another table."""
    n = len(sketches)
    if len(other) != n:
        message = f"other must have as many sketches, {n}, got {len(other)}"
        raise InvalidParameterError(message)
    rows: Int64s = np.arange(2 * n, dtype=np.int64).reshape(2, n).T.reshape(-1)
    starts: Int64s = np.arange(0, 2 * n + 1, 2, dtype=np.int64)
    return unite_sketches(join_sketches([sketches, other]), rows, starts, scheme)


def sample_limit(scheme: SetScheme) -> int:
    """Give how many values of a union are a sample of it at most."""
    return scheme.size if isinstance(scheme, SmallestScheme) else _NO_LIMIT


def check_sketches(scheme: SetScheme, sketches: SetSketches) -> None:
    """Raise SketchMismatchError if the scheme does not make sketches of these moduli and sizes."""
    moduli = np.unique(sketches.moduli)
    if isinstance(scheme, ModuloScheme) and scheme.modulus is None:
        unlike = moduli[(moduli < 1) | (moduli & (moduli - 1) != 0)]
    else:
        fixed = 1 if isinstance(scheme, SmallestScheme) else scheme.modulus
        unlike = moduli[moduli != fixed]
    if len(unlike):
        expected = scheme.describe().get("modulus", 1)
        raise SketchMismatchError({"modulus": (expected, int(unlike[0]))})
    if isinstance(scheme, SmallestScheme):
        n_values = np.diff(sketches.offsets)
        unlike = n_values[
            (n_values > scheme.size) | ((sketches.sizes < 0) & (n_values < scheme.size))
        ]
        if len(unlike):
            raise SketchMismatchError({"size": (scheme.size, int(unlike[0]))})


def check_rows(what: str, rows: Int64s, sketches: SetSketches) -> None:
    """Raise InvalidParameterError if a row is not there; ``what`` is the parameter's name."""
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(sketches):
        message = (
            f"{what} must be rows of {len(sketches)} sketches, got {rows.min()} to {rows.max()}"
        )
        raise InvalidParameterError(message)


def _permutation_key(seed: int) -> np.uint64:
    with np.errstate(over="ignore"):
        return mix_words(~mix_words(np.uint64(seed)))


def _fitting_shifts(sizes: Int64s, least: int) -> Int64s:
    """Give for each size the largest i with least * 2^i <= size, 0 where there is none."""
    bounds = np.array([least << i for i in range(1, 63 - least.bit_length())], np.int64)
    return np.searchsorted(bounds, sizes, side="right")


def _check_common(size: int, seed: int, fingerprint: str) -> None:
    if not 1 <= size <= 2**20:
        message = f"size must lie between 1 and 1,048,576, got {size}"
        raise InvalidParameterError(message)
    if not 0 <= seed < 2**64:
        message = f"seed must lie between 0 and 2^64 - 1, got {seed}"
        raise InvalidParameterError(message)
    if fingerprint not in ("mixer", "rabin"):
        message = f"fingerprint must be mixer or rabin, got {fingerprint!r}"
        raise InvalidParameterError(message)
