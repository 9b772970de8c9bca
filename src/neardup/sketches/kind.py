"""Define the protocol of all kinds of sketches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.kernels.common.hashing import mix_words
from neardup.runs.runner import Runner
from neardup.tables import Bools, Floats, Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.shingles import ShingleScheme, digest_token_lists
from neardup.text.tokenizers import Tokenizer
from neardup.text.weighting import WeightedScheme, Weighting

# Pairs of rows of one or two collections, listed in pieces to bound memory.

# Rows of the lesser and of the greater number, one of each for every pair.
Pairs = tuple[Int64s, Int64s]

# Pairs handed on at a time.
_PIECE = 1 << 16


def count_pairs(n: int, n_left: int | None, *, is_directed: bool = False) -> int:
    """Count the pairs of one or two collections.

    Directed pairs of one collection count in both orders.
    """
    if n_left is None:
        return n * (n - 1) // (1 if is_directed else 2)
    return n_left * (n - n_left)


def count_pairs_up_to(row: int, n: int, n_left: int | None, *, is_directed: bool = False) -> int:
    """Count the pairs of n rows whose first row is ``row`` or earlier."""
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


# Digests beside sketches: whether two documents are the same, token for token.
# Sketches of similar documents are often equal; digests are equal for exact copies only. They use
# the seed of a scheme, so that nobody without the seed can test a guess.

DIGEST_BYTES = 16


class RememberingTokenizer(Tokenizer):
    """Tokenizer with a cache of the last texts' tokens.

    Sketches and digests are made of the same tokens, and cutting takes the most time.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name = tokenizer.name
        self.is_bytewise = tokenizer.is_bytewise
        self._tokenizer = tokenizer
        self._last: tuple[Texts, TokenLists] | None = None

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text, unless they were the last."""
        if self._last is None or self._last[0] is not texts:
            self._last = texts, self._tokenizer.hash_tokens(texts)
        return self._last[1]

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find their places."""
        return self._tokenizer.locate_tokens(texts)


def digest_tokens(tokens: TokenLists, seed: int) -> Uint64s:
    """Digest token sequences to 128 bits under a seed, shape (n, 2).

    Half j, 0 or 1, of the digest of exact copies is xored with mix64(mix64(seed) ^ mix64(j + 1)),
    and mixed.
    """
    with np.errstate(over="ignore"):
        keys = mix_words(mix_words(np.uint64(seed)) ^ mix_words(np.array([1, 2], np.uint64)))
        return mix_words(digest_token_lists(tokens) ^ keys)


def digest_texts(texts: Texts, seed: int) -> Uint64s:
    """Digest texts without tokens to 128 bits under a seed, shape (n, 2).

    BLAKE2b of their UTF-8, with the eight bytes of the seed, lowest first, as its key.
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
    """Return digests as a column of 16 bytes each, lowest first in either half."""
    data = pa.py_buffer(np.ascontiguousarray(digests, "<u8"))
    return pa.Array.from_buffers(pa.binary(DIGEST_BYTES), len(digests), [None, data])


def no_digests(n: int) -> pa.Array:
    """Return the column of documents whose digests are not known."""
    return pa.nulls(n, pa.binary(DIGEST_BYTES))


# Columns of stored sketches read back: numbers and lists, refused if they are anything else.


class DamagedColumnError(Exception):
    """A number that no sketch has."""


def check(is_right: bool | np.bool_) -> None:
    """Raise DamagedColumnError unless what was read may be."""
    if not is_right:
        raise DamagedColumnError


def read_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array."""
    column = table.column(name).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def read_counts(table: pa.Table, name: str, *, null: int | None = None) -> Int64s:
    """Read numbers from 0 on, with ``null`` for unknown ones if allowed."""
    column = read_column(table, name).cast(pa.int64())
    check(null is not None or column.null_count == 0)
    check(not pc.any(pc.less(column, 0)).as_py())
    numbers: Int64s = np.array(column.fill_null(null or 0).to_numpy(), np.int64)
    return numbers


def read_lists(table: pa.Table, kind: pa.DataType) -> tuple[pa.Array, Int64s]:
    """Return the values of the lists of ``sketch``, and their offsets from 0."""
    column = read_column(table, "sketch")
    # Others, list views, may have offsets in any order.
    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    check(any(test(column.type) for test in is_list))
    lists = column.cast(pa.large_list(kind))
    check(lists.null_count == 0)
    offsets: Int64s = np.array(lists.offsets.to_numpy(), np.int64)
    values = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    check(values.null_count == 0)
    return values, offsets - offsets[0]


# Concatenated lists of different lengths, as sketches are held.


# Estimates from fewer samples are useless.
LEAST_SAMPLES = 20


class KindScheme(Protocol):
    """Settings of sketches: a frozen dataclass that checks its ranges.

    Its fields are the options of the kind.
    """

    @property
    def seed(self) -> int:
        """The seed of the hash functions, from 0 to 2^64 - 1."""

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide a sketch, as plain values, including ``kind``."""


class SketchRows(Protocol):
    """Sketches of some documents, a row each: a table of ``neardup.tables``."""

    def __len__(self) -> int: ...


SchemeT = TypeVar("SchemeT", bound=KindScheme)
RowsT = TypeVar("RowsT", bound=SketchRows)


@dataclass(frozen=True)
class TextScheme:
    """Preparation of texts for sketches.

    Parameters
    ----------
    shingles
        How texts become sets; a kind without tokens uses only the normalisation.
    weights
        Weights of shingles, for kinds of weighted sets only.
    """

    shingles: ShingleScheme
    weights: WeightedScheme = field(
        default_factory=lambda: WeightedScheme(Weighting("raw", "unary"))
    )


@dataclass(frozen=True)
class EstimatedShares:
    """Estimates of one measure: ``hits / samples``.

    They mean something where ``is_usable``.
    """

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

    ``columns`` are the columns to be reported, an Arrow array each. ``measures`` has the estimates
    of each measure of the kind by its name, the similarity first.
    """

    columns: dict[str, pa.Array]
    measures: dict[str, EstimatedShares]


class SketchKind(ABC, Generic[SchemeT, RowsT]):
    """A kind of sketches: make, join, compare and store them.

    A kind is a subclass in a module of its own, and a line in ``sketches.registry``.

    Parameters
    ----------
    scheme
        The scheme of the sketches.
    """

    name: ClassVar[str]
    scheme_type: ClassVar[type[Any]]
    #: Options in addition to the scheme's, and document options that this kind does not have.
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
    #: Whether greedy clustering takes the rows.
    has_clusters: ClassVar[bool] = False
    #: Whether rows are min-hashes, for super-shingles.
    has_super_shingles: ClassVar[bool] = False

    def __init__(self, scheme: SchemeT) -> None:
        self.scheme = scheme

    @classmethod
    def check_given(cls, given: Mapping[str, Any]) -> None:
        """Check given options, else None, beyond the scheme's own checks.

        Raises
        ------
        InvalidParameterError
            If one has no effect together with another.
        """

    def describe(self, texts: TextScheme) -> dict[str, Any]:
        """Return all settings that decide a sketch.

        ``kind`` is the kind's name. Sketches of equal settings are comparable.
        """
        return texts.shingles.describe() | self.scheme.describe()

    @abstractmethod
    def make(self, texts: Texts, how: TextScheme) -> RowsT:
        """Sketch texts, one after another in the order given."""

    def make_with_digests(self, texts: Texts, how: TextScheme) -> tuple[RowsT, Uint64s]:
        """Sketch texts, and digest the sketched tokens under the scheme's seed, shape (n, 2)."""
        tokenizer = RememberingTokenizer(how.shingles.tokenizer)
        rows = self.make(texts, replace(how, shingles=replace(how.shingles, tokenizer=tokenizer)))
        return rows, digest_tokens(tokenizer.hash_tokens(texts), self.scheme.seed)

    @abstractmethod
    def join_rows(self, parts: Sequence[RowsT]) -> RowsT:
        """Concatenate sketches of at least one part."""

    @abstractmethod
    def candidates(
        self,
        rows: RowsT,
        measure: str,
        threshold: Fraction,
        *,
        n_left: int | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[Pairs]:
        """Find all pairs of rows whose estimate may reach the threshold.

        Parameters
        ----------
        rows
            n sketches.
        measure
            One of the kind's ``measures``.
        threshold
            Least estimate of it, in (0, 1].
        n_left
            Rows of the first of two collections; pairs have one row of each. None: one collection.
        limit
            Most pairs that reach the threshold.
        runner
            Runs the work.

        Returns
        -------
        Some pairs at a time, in ascending order, the lesser row first. In a directed measure the
        contained row is first, so that a pair may come in both orders.

        Raises
        ------
        ResultLimitError
            If more than ``limit`` pairs are sure to reach the threshold; the caller may count more.
        """

    @abstractmethod
    def estimate(self, rows: RowsT, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate how similar pairs of rows are."""

    def count_short(self, rows: RowsT) -> int:
        """Count the rows too short for any estimate."""
        return 0

    @abstractmethod
    def count_elements(self, rows: RowsT) -> Int64s:
        """Return the sketched shingles or characters per text; -1 if not known."""

    @abstractmethod
    def to_columns(self, rows: RowsT) -> dict[str, pa.Array]:
        """Return the columns of a stored table, ``sketch`` and the sizes known to the kind."""

    @abstractmethod
    def from_columns(self, table: pa.Table) -> RowsT:
        """Read the columns of a stored table back, and check every number.

        Raises
        ------
        DamagedColumnError, KeyError, pyarrow.ArrowException
            If ``to_columns`` did not write them.
        """


AnyKind = SketchKind[Any, Any]


def where_known(is_known: Bools, values: Floats) -> pa.Array:
    """Return values as a column, null where nothing is known."""
    return pa.array(values, mask=~np.asarray(is_known))
