"""Define kinds of sketches and their operations.

Sketches of similar documents are often equal. So each document also has a digest, equal for exact
copies only, under the seed of the scheme: nobody without the seed can test a guess.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import mix_words
from neardup.runs.runner import Runner
from neardup.tables import Bools, Estimates, Floats, Int64s, Texts, TokenLists, Uint64s
from neardup.text.shingles import ShingleScheme, digest_token_lists
from neardup.text.weighting import WeightedScheme, Weighting

# Estimates from fewer samples are useless.
LEAST_SAMPLES = 20

# The normal quantile that leaves 2.5 % on either side.
QUANTILE_95 = 1.959963984540054

DIGEST_BYTES = 16

# Pairs handed on at a time, to bound memory.
_PIECE = 1 << 16

# Rows of the lesser and of the greater number, one of each for every pair.
Pairs = tuple[Int64s, Int64s]


def check_range(name: str, value: int, least: int, most: int, spelling: str | None = None) -> None:
    """Raise InvalidParameterError for a setting out of range."""
    if not least <= value <= most:
        message = f"{name} must lie between {least} and {spelling or f'{most:,}'}, got {value}"
        raise InvalidParameterError(message)


def check_seed(seed: int) -> None:
    """Raise InvalidParameterError for a seed of more than 64 bits."""
    check_range("seed", seed, 0, 2**64 - 1, "2^64 - 1")


@dataclass(frozen=True)
class TextScheme:
    """Preparation of texts for sketches.

    A kind without tokens uses only the normalisation of ``shingles``; only kinds of weighted sets
    use ``weights``.
    """

    shingles: ShingleScheme
    weights: WeightedScheme = field(
        default_factory=lambda: WeightedScheme(Weighting("raw", "unary"))
    )


@dataclass(frozen=True)
class EstimatedShares:
    """Estimates of one measure: ``hits / samples``, meaningful where ``is_usable``."""

    hits: Int64s | Floats
    samples: Int64s | Floats
    is_usable: Bools

    def reaching(self, threshold: Fraction) -> Bools:
        """Mark the usable estimates that reach a threshold."""
        # Samples are less than 2^33 and the threshold's numbers 2^30: whole products are exact.
        p, q = threshold.numerator, threshold.denominator
        reached: Bools = self.is_usable & (self.hits * q >= self.samples * p)
        return reached


@dataclass(frozen=True)
class PairEstimates:
    """Estimates of pairs of rows.

    ``columns`` are Arrow arrays to be reported. ``measures`` has the estimates of each measure of
    the kind by its name, the similarity first.
    """

    columns: dict[str, pa.Array]
    measures: dict[str, EstimatedShares]


@dataclass(frozen=True)
class WantedPairs:
    """Pairs that reach a threshold of a measure, ``limit`` at most.

    With ``n_left``, the rows of the first of two collections, pairs have one row of each.
    """

    measure: str
    threshold: Fraction
    n_left: int | None = None
    limit: int | None = None


class SketchKind(ABC):
    """Settings of sketches, as dataclass fields: make, join, compare and store sketches.

    The rows of sketches are a table of ``neardup.tables``, with a row per document; its type
    depends on the kind, which alone accesses it.
    """

    name: ClassVar[str]
    #: Options in addition to the settings, and document options that this kind does not have.
    more_options: ClassVar[tuple[str, ...]] = ()
    missing_options: ClassVar[tuple[str, ...]] = ()
    #: Defaults of document options.
    defaults: ClassVar[Mapping[str, Any]] = {}
    #: Estimated measures by their common names, the similarity first; in directed measures the
    #: first row of a pair is contained in the second.
    measures: ClassVar[tuple[str, ...]]
    directed_measures: ClassVar[tuple[str, ...]] = ()
    #: Whether shingles are weighed, and documents may have to be counted before.
    is_weighted: ClassVar[bool] = False

    seed: int

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"kind": self.name, **asdict(self)}  # type: ignore[call-overload]

    def describe_with(self, texts: TextScheme) -> dict[str, Any]:
        """Return all settings that sketches must share to be comparable."""
        return texts.shingles.describe() | self.describe()

    @abstractmethod
    def make(self, texts: Texts, how: TextScheme) -> tuple[Any, Uint64s]:
        """Sketch texts in order, with digests of shape (n, 2)."""

    @abstractmethod
    def join_rows(self, parts: Sequence[Any]) -> Any:
        """Concatenate sketches of at least one part."""

    @abstractmethod
    def candidates(self, rows: Any, wanted: WantedPairs, runner: Runner) -> Iterator[Pairs]:
        """Yield pairs of rows whose estimate may reach the threshold.

        Pairs ascend, the lesser row first. In a directed measure the contained row is first, so
        that a pair may come in both orders. ResultLimitError if more pairs than ``limit`` are sure
        to reach the threshold; the caller may count more.
        """

    @abstractmethod
    def estimate(self, rows: Any, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate how similar pairs of rows are."""

    def count_short(self, rows: Any) -> int:
        """Count the rows too short for any estimate."""
        return 0

    @abstractmethod
    def count_elements(self, rows: Any) -> Int64s:
        """Count sketched shingles or characters per text, -1 if unknown."""

    @abstractmethod
    def to_columns(self, rows: Any) -> dict[str, pa.Array]:
        """Return the columns of a stored table, including known sizes."""

    @abstractmethod
    def from_columns(self, table: pa.Table) -> Any:
        """Read and check the columns of a stored table.

        DamagedColumnError, KeyError or pyarrow.ArrowException if ``to_columns`` did not write them.
        """


def estimate_shares(hits: Int64s, n_samples: Int64s, left: Floats, whole: Bools) -> Estimates:
    """Estimate the share of marked elements from samples' ``hits``.

    Samples are drawn without putting back. ``left`` is the factor by which the variance is less
    than with putting back: (N - n) / (N - 1) for n of N elements, or an estimate of it. Samples
    that are the ``whole`` population give exact shares, 0 where it is empty. Errors are those of
    the hypergeometric distribution with the estimate v in place of the truth, sqrt(v (1 - v) / n *
    left). They are 0 where v is 0 or 1; use the intervals there, Wilson's for n / left samples.
    """
    n = n_samples.astype(np.float64)
    left = np.where(whole, 0.0, left)
    values = np.where(whole, 0.0, np.nan)
    np.divide(hits, n, out=values, where=n > 0)
    errors = np.where(n > 0, np.sqrt(values * (1 - values) * left / np.maximum(n, 1)), values)
    effective = np.full(len(n), np.inf)
    np.divide(n, left, out=effective, where=left > 0)
    low, high = wilson_intervals(values, effective)
    return Estimates(values, errors, low, high, n_samples)


def wilson_intervals(shares: Floats, n_samples: Floats) -> tuple[Floats, Floats]:
    """Bound shares from independent draws with 95 % confidence.

    Without draws a share is NaN, from 0 to 1; with infinitely many draws it is exact. Intervals
    contain 95 % on average over all true shares, and less for some near 0 and 1.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference. Brown, Cai
    and DasGupta (2001), Interval estimation for a binomial proportion.
    """
    seen = n_samples > 0
    n = np.where(seen, n_samples, 1.0)
    z = QUANTILE_95
    whole = 1 + z * z / n
    middle = (shares + z * z / (2 * n)) / whole
    spread = z * np.sqrt(shares * (1 - shares) / n + z * z / (4 * n * n)) / whole
    # The bounds include the share itself, whatever was rounded.
    low = np.clip(np.minimum(middle - spread, shares), 0.0, 1.0)
    high = np.clip(np.maximum(middle + spread, shares), 0.0, 1.0)
    return np.where(seen, low, 0.0), np.where(seen, high, 1.0)


@dataclass(frozen=True)
class SetShares:
    """Estimated shares of pairs of sets, a and b.

    ``jaccard`` is weighted if the sets are. Some kinds also estimate the share of a in b, of b in
    a, and of the smaller set in the larger.
    """

    jaccard: Estimates
    a_in_b: Estimates | None = None
    b_in_a: Estimates | None = None
    smaller_in_larger: Estimates | None = None


class ShareKind(SketchKind):
    """Kind of sketches whose samples of sets estimate shares."""

    @abstractmethod
    def make_rows(self, tokens: TokenLists, how: TextScheme) -> Any:
        """Sketch the sets of shingles of token sequences."""

    def make(self, texts: Texts, how: TextScheme) -> tuple[Any, Uint64s]:
        """Sketch the texts' sets of shingles and digest their tokens."""
        tokens = how.shingles.tokenizer.hash_tokens(texts)
        return self.make_rows(tokens, how), digest_tokens(tokens, self.seed)

    @abstractmethod
    def shares(self, rows: Any, left: Int64s, right: Int64s) -> SetShares:
        """Estimate shares of common elements, with left rows as a."""

    def estimate(self, rows: Any, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate how similar pairs of rows are."""
        shares = self.shares(rows, left, right)
        columns = _share_columns(shares.jaccard, "similarity", "")
        for name, estimates in (("a", shares.a_in_b), ("b", shares.b_in_a)):
            if estimates is not None:
                columns |= _share_columns(estimates, f"containment_{name}", f"containment_{name}_")
        columns["samples"] = pa.array(shares.jaccard.n_samples)
        each = (shares.jaccard, shares.a_in_b, shares.smaller_in_larger)
        measures = zip(self.measures, (one for one in each if one is not None), strict=True)
        return PairEstimates(columns, {name: _counted(estimates) for name, estimates in measures})


def _share_columns(estimates: Estimates, name: str, prefix: str) -> dict[str, pa.Array]:
    is_usable = estimates.is_usable(LEAST_SAMPLES)
    return {
        name: where_known(is_usable, estimates.values),
        f"{prefix}error": where_known(is_usable, estimates.errors),
        f"{prefix}low": where_known(is_usable, estimates.low),
        f"{prefix}high": where_known(is_usable, estimates.high),
    }


def _counted(estimates: Estimates) -> EstimatedShares:
    samples = np.maximum(estimates.n_samples, 1)
    hits = np.rint(np.nan_to_num(estimates.values) * samples).astype(np.int64)
    return EstimatedShares(hits, samples, estimates.is_usable(LEAST_SAMPLES))


def where_known(is_known: Bools, values: Floats) -> pa.Array:
    """Return values as a column, null if unknown."""
    return pa.array(values, mask=~np.asarray(is_known))


def count_pairs(n: int, n_left: int | None, *, is_directed: bool = False) -> int:
    """Count the pairs of collections, directed ones in both orders."""
    if n_left is None:
        return n * (n - 1) // (1 if is_directed else 2)
    return n_left * (n - n_left)


def count_pairs_up_to(row: int, n: int, n_left: int | None, *, is_directed: bool = False) -> int:
    """Count the pairs with first row ``row`` or earlier."""
    n_before = row + 1
    if n_left is None and is_directed:
        return n_before * (n - 1)
    if n_left is None:
        return count_pairs(n, None) - count_pairs(n - n_before, None)
    return n_before * (n - n_left)


def list_pairs(n: int, n_left: int | None) -> Iterator[Pairs]:
    """Yield all pairs of rows in ascending pieces."""
    left: list[Int64s] = []
    right: list[Int64s] = []
    held = 0
    for row in range(n if n_left is None else n_left):
        partners: Int64s = np.arange(row + 1 if n_left is None else n_left, n, dtype=np.int64)
        left.append(np.full(len(partners), row, np.int64))
        right.append(partners)
        held += len(partners)
        if held >= _PIECE:
            yield np.concatenate(left), np.concatenate(right)
            left, right, held = [], [], 0
    if held:
        yield np.concatenate(left), np.concatenate(right)


def cut_pairs(left: Int64s, right: Int64s) -> Iterator[Pairs]:
    """Yield pairs that were found together in pieces."""
    for start in range(0, len(left), _PIECE):
        yield left[start : start + _PIECE], right[start : start + _PIECE]


def digest_tokens(tokens: TokenLists, seed: int) -> Uint64s:
    """Digest token sequences to (n, 2) words under a seed.

    Half j, 0 or 1, of the digest of exact copies is xored with mix64(mix64(seed) ^ mix64(j + 1)),
    and mixed.
    """
    with np.errstate(over="ignore"):
        keys = mix_words(mix_words(np.uint64(seed)) ^ mix_words(np.array([1, 2], np.uint64)))
        return mix_words(digest_token_lists(tokens) ^ keys)


def digest_texts(texts: Texts, seed: int) -> Uint64s:
    """Digest untokenised texts to (n, 2) words under a seed.

    BLAKE2b of their UTF-8, keyed with the eight bytes of the seed, lowest first.
    """
    key = seed.to_bytes(8, "little")
    data = texts.data.data
    digests = b"".join(
        blake2b(data[start:stop], digest_size=DIGEST_BYTES, key=key).digest()
        for start, stop in pairwise(texts.offsets.tolist())
    )
    halves: Uint64s = np.frombuffer(digests, "<u8").reshape(-1, 2).astype(np.uint64)
    return halves


def to_column(digests: Uint64s) -> pa.Array:
    """Return digests as a column of 16 bytes each."""
    data = pa.py_buffer(np.ascontiguousarray(digests, "<u8"))
    return pa.Array.from_buffers(pa.binary(DIGEST_BYTES), len(digests), [None, data])


def no_digests(n: int) -> pa.Array:
    """Return the column of documents whose digests are not known."""
    return pa.nulls(n, pa.binary(DIGEST_BYTES))


class DamagedColumnError(Exception):
    """A stored column of sketches has an impossible number."""


def check(is_right: bool | np.bool_) -> None:
    """Raise DamagedColumnError unless a column is right."""
    if not is_right:
        raise DamagedColumnError


def read_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array."""
    column = table.column(name).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def read_counts(table: pa.Table, name: str, *, null: int | None = None) -> Int64s:
    """Read numbers from 0 on, unknown numbers as ``null``."""
    column = read_column(table, name).cast(pa.int64())
    check(null is not None or column.null_count == 0)
    check(not pc.any(pc.less(column, 0)).as_py())
    numbers: Int64s = np.array(column.fill_null(null or 0).to_numpy(), np.int64)
    return numbers


def read_lists(table: pa.Table, kind: pa.DataType) -> tuple[pa.Array, Int64s]:
    """Return the values and the offsets of column ``sketch``."""
    column = read_column(table, "sketch")
    # List views may have offsets in any order.
    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    check(any(test(column.type) for test in is_list))
    lists = column.cast(pa.large_list(kind))
    check(lists.null_count == 0)
    offsets: Int64s = np.array(lists.offsets.to_numpy(), np.int64)
    values = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    check(values.null_count == 0)
    return values, offsets - offsets[0]
