"""Define kinds of sketches, make sketches and store them.

Sketches of similar documents are often equal. So each document also has a digest, equal for exact
copies only, under the seed of the scheme: nobody without the seed can test a guess.

A table has a row per document, and the scheme in its metadata. Columns are ``id``, strings or
integers, ``digest``, 16 bytes that only exact copies share, null if unknown, the kind's columns of
the document's size, and ``sketch``:

- minhash: ``size`` (distinct shingles), a list of num_perm uint32; all ones for an empty set.
- weighted: ``size`` and ``weight``, the sum of all weights in units of 2^-20; likewise.
- smallest: ``size``, null where it is not known, a list of ascending uint64.
- modulo: ``size``, ``modulus``, a list of ascending uint64.
- edit: ``length`` in characters, a list of uint32.
"""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from hashlib import blake2b
from importlib import import_module
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError, SketchFormatError
from neardup.files.documents import join_ids
from neardup.kernels.common.hashing import mix_words
from neardup.options.document_options import SketchOptions
from neardup.options.groups import DocumentOptions, FingerprintOptions
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    Estimates,
    Floats,
    Int64s,
    Texts,
    TokenLists,
    Uint64s,
    cut_runs,
    places_of_lists,
)
from neardup.text.shingles import Fingerprints, ShingleScheme, digest_token_lists, shingle_scheme
from neardup.text.weighting import WeightedScheme, Weighting
from neardup.version import __version__

FORMAT_VERSION = 1
METADATA_KEY = b"neardup.sketches"

REPEATED_ID = "an id comes twice; ids must differ, make the sketches again"

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

    def describe_with(self, how: SketchMaker) -> dict[str, Any]:
        """Return all settings that sketches must share to be comparable."""
        return how.shingles.describe() | self.describe()

    def make(self, texts: Texts, how: SketchMaker) -> tuple[Any, Uint64s]:
        """Sketch texts in order, with digests of shape (n, 2)."""
        tokens = how.shingles.tokenizer.hash_tokens(texts)
        return self.make_rows(tokens, how), digest_tokens(tokens, self.seed)

    def make_rows(self, tokens: TokenLists, how: SketchMaker) -> Any:
        """Sketch the sets of shingles of token sequences."""
        raise NotImplementedError

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


_KINDS = {
    "minhash": ("neardup.sketches.minhash", "MinHashScheme"),
    "weighted": ("neardup.sketches.minhash", "WeightedMinHashScheme"),
    "smallest": ("neardup.sketches.samples", "SmallestScheme"),
    "modulo": ("neardup.sketches.samples", "ModuloScheme"),
    "edit": ("neardup.sketches.edit", "EditScheme"),
}

KIND_NAMES = tuple(_KINDS)


def kind_named(name: str) -> type[SketchKind]:
    """Return the kind of a name of ``KIND_NAMES``, loading its module."""
    module, kind = _KINDS[name]
    kind_class: type[SketchKind] = getattr(import_module(module), kind)
    return kind_class


def parse_scheme(fields: dict[str, Any]) -> SketchKind:
    """Return the kind of sketches that a plain scheme describes.

    SketchFormatError for an unknown kind, and fields that are missing or out of range.
    """
    name = fields.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        message = f"unknown kind of sketches {name!r}; it may come from a newer version of neardup"
        raise SketchFormatError(message)
    own: type[Any] = kind_named(name)
    # A modulo scheme with a modulus has no size.
    given = {
        field: fields[field] for field in own.__dataclass_fields__ if fields.get(field) is not None
    }
    if any(type(value) is not int for value in given.values()):
        message = f"the scheme of kind {name} has fields that are not whole numbers"
        raise SketchFormatError(message)
    try:
        scheme: SketchKind = own(**given)
    except (InvalidParameterError, TypeError) as error:
        message = f"the scheme is not valid: {error}"
        raise SketchFormatError(message) from None
    if any(
        field not in fields or fields[field] != value for field, value in scheme.describe().items()
    ):
        message = f"the scheme of kind {name} is not complete; make the sketches again"
        raise SketchFormatError(message)
    return scheme


@dataclass(frozen=True)
class SketchMaker:
    """All that turns texts into sketches.

    A kind without tokens only normalises by ``shingles``. Only weighted kinds use ``weights``.
    """

    kind: SketchKind
    shingles: ShingleScheme
    weights: WeightedScheme

    def describe(self) -> dict[str, Any]:
        """Return all settings of comparable sketches, frequencies only once counted."""
        return self.kind.describe_with(self)

    def make(self, texts: Texts) -> tuple[Any, Uint64s]:
        """Sketch texts in the order given and digest them."""
        return self.kind.make(texts, self)


def make_maker(options: SketchOptions) -> SketchMaker:
    """Check the combination of options, before any work starts."""
    kind: type[Any] = kind_named(options.kind)
    names = tuple(kind.__dataclass_fields__)
    of_all_kinds = {*DocumentOptions.known, *FingerprintOptions.known, "kind"}
    of_kind = {*of_all_kinds, *names, *kind.more_options}
    unused = [name for name in SketchOptions.known if name not in of_kind]
    unused += kind.missing_options
    where = f"on sketches of kind {kind.name}"
    options.check_left_out(unused, where, "choose another kind", "kind")
    given = {name: getattr(options, name, None) for name in names}
    if given.get("modulus") is not None and given["size"] is not None:
        message = "size has no effect with a modulus; leave it out, or leave out modulus"
        raise InvalidParameterError(message, "size", "modulus")
    own = {name: value for name, value in kind.defaults.items() if getattr(options, name) is None}
    complete = options.but(**own).with_tokenizer("words")
    return SketchMaker(
        kind(**{name: value for name, value in given.items() if value is not None}),
        shingle_scheme(complete, Fingerprints.of(complete, complete.seed)),
        WeightedScheme(Weighting(options.tf or "raw", options.idf or "unary")),
    )


def estimate_shares(
    hits: Int64s, n_samples: Int64s, correction: Floats, is_exact: Bools
) -> Estimates:
    """Estimate the share of marked elements from samples' ``hits``.

    Samples are drawn without replacement. ``correction`` is the finite population correction of the
    variance: (N - n) / (N - 1) for n of N elements, or an estimate of it. A sample ``is_exact`` if
    it is the whole population; its share is 0 if it is empty. The standard error of a share v is
    sqrt(v (1 - v) / n * correction), which is 0 if v is 0 or 1; use the intervals there, Wilson's
    for n / correction samples.
    """
    n = n_samples.astype(np.float64)
    correction = np.where(is_exact, 0.0, correction)
    values = np.where(is_exact, 0.0, np.nan)
    np.divide(hits, n, out=values, where=n > 0)
    variances = values * (1 - values) * correction / np.maximum(n, 1)
    errors = np.where(n > 0, np.sqrt(variances), values)
    effective = np.full(len(n), np.inf)
    np.divide(n, correction, out=effective, where=correction > 0)
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
    scale = 1 + z * z / n
    middle = (shares + z * z / (2 * n)) / scale
    spread = z * np.sqrt(shares * (1 - shares) / n + z * z / (4 * n * n)) / scale
    # Rounding must not put the share itself outside its bounds.
    low = np.clip(np.minimum(middle - spread, shares), 0.0, 1.0)
    high = np.clip(np.maximum(middle + spread, shares), 0.0, 1.0)
    return np.where(seen, low, 0.0), np.where(seen, high, 1.0)


def make_pair_estimates(
    shares: Mapping[str, Estimates], measures: Mapping[str, Estimates]
) -> PairEstimates:
    """Make the columns of some shares and their errors, ``similarity`` first."""
    columns: dict[str, pa.Array] = {}
    for name, share in shares.items():
        prefix = "" if name == "similarity" else f"{name}_"
        numbers = {name: share.values, f"{prefix}error": share.errors}
        numbers |= {f"{prefix}low": share.low, f"{prefix}high": share.high}
        is_usable = share.is_usable(LEAST_SAMPLES)
        columns |= {each: where_known(is_usable, values) for each, values in numbers.items()}
    columns["samples"] = pa.array(shares["similarity"].n_samples)
    return PairEstimates(columns, {name: _as_counts(each) for name, each in measures.items()})


def _as_counts(estimates: Estimates) -> EstimatedShares:
    """Return shares as whole numbers of hits, to compare them with a threshold exactly."""
    samples = np.maximum(estimates.n_samples, 1)
    hits = np.rint(np.nan_to_num(estimates.values) * samples).astype(np.int64)
    return EstimatedShares(hits, samples, estimates.is_usable(LEAST_SAMPLES))


def where_known(is_known: Bools, values: Floats) -> pa.Array:
    """Return values as a column, null if unknown."""
    return pa.array(values, mask=~np.asarray(is_known))


def list_pairs(n: int, n_left: int | None) -> Iterator[Pairs]:
    """Yield all pairs of rows in ascending pieces."""
    rows: Int64s = np.arange(n if n_left is None else n_left, dtype=np.int64)
    starts = rows + 1 if n_left is None else np.full(len(rows), n_left, np.int64)
    for first, stop in cut_runs(n - starts, _PIECE):
        widths = n - starts[first:stop]
        right, _ = places_of_lists(starts[first:stop], widths)
        yield np.repeat(rows[first:stop], widths), right


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


def digest_column(digests: Uint64s) -> pa.Array:
    """Return digests as a column of 16 bytes each."""
    data = pa.py_buffer(np.ascontiguousarray(digests, "<u8"))
    return pa.Array.from_buffers(pa.binary(DIGEST_BYTES), len(digests), [None, data])


class DamagedColumnError(Exception):
    """A stored column of sketches has an impossible number."""


def check_column(is_right: bool | np.bool_) -> None:
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
    check_column(null is not None or column.null_count == 0)
    check_column(not pc.any(pc.less(column, 0)).as_py())
    numbers: Int64s = np.array(column.fill_null(null or 0).to_numpy(), np.int64)
    return numbers


def read_lists(table: pa.Table, kind: pa.DataType) -> tuple[pa.Array, Int64s]:
    """Return the values and the offsets of column ``sketch``."""
    column = read_column(table, "sketch")
    # List views may have offsets in any order.
    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    check_column(any(test(column.type) for test in is_list))
    lists = column.cast(pa.large_list(kind))
    check_column(lists.null_count == 0)
    offsets: Int64s = np.array(lists.offsets.to_numpy(), np.int64)
    values = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    check_column(values.null_count == 0)
    return values, offsets - offsets[0]


def to_arrow(scheme: dict[str, Any], ids: pa.Array, rows: Any, digests: pa.Array) -> pa.Table:
    """Return sketches as a table."""
    columns = {"id": ids, "digest": digests, **parse_scheme(scheme).to_columns(rows)}
    about: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "neardup": __version__,
        "scheme": scheme,
        "scheme_checksum": checksum_of(scheme),
        "digests": True,
    }
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(about)})


def checksum_of(scheme: dict[str, Any]) -> int:
    """Return the CRC-32 of a scheme, which checksums of pages leave out."""
    return zlib.crc32(json.dumps(scheme, sort_keys=True).encode())


def read_scheme(metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """Read the scheme of sketches from a table's metadata.

    SketchFormatError if it is not of sketches, is damaged, or has a newer format.
    """
    try:
        about = json.loads((metadata or {})[METADATA_KEY])
        version, scheme = about["format"], about["scheme"]
    except (KeyError, TypeError, ValueError, RecursionError):
        message = "not a file of sketches; make one with neardup sketch"
        raise SketchFormatError(message) from None
    if version != FORMAT_VERSION or not isinstance(scheme, dict):
        message = (
            f"sketches of format {version}, this neardup reads {FORMAT_VERSION}; use a newer "
            "neardup, or make the sketches again"
        )
        raise SketchFormatError(message)
    parse_scheme(scheme)
    if about.get("scheme_checksum", None) != checksum_of(scheme):
        message = "the scheme is damaged; make the sketches again, or get another copy"
        raise SketchFormatError(message)
    return scheme


def from_arrow(table: pa.Table) -> tuple[dict[str, Any], pa.Array, Any, pa.Array]:
    """Read and check a table's scheme, ids, rows and digests.

    SketchFormatError if anything is not as ``to_arrow`` writes it.
    """
    scheme = read_scheme(table.schema.metadata)
    try:
        table.validate(full=True)
        ids = join_ids([read_column(table, "id")])
        check_column(ids.null_count == 0)
        rows: Any = parse_scheme(scheme).from_columns(table)
        digests = _read_digests(table)
    except (KeyError, pa.ArrowException, DamagedColumnError):
        message = "the columns are not those of sketches of this kind; make the sketches again"
        raise SketchFormatError(message) from None
    if pc.count_distinct(ids).as_py() != len(ids):
        raise SketchFormatError(REPEATED_ID)
    return scheme, ids, rows, digests


def _read_digests(table: pa.Table) -> pa.Array:
    column = read_column(table, "digest")
    is_bytes = (pa.types.is_fixed_size_binary, pa.types.is_binary, pa.types.is_large_binary)
    check_column(column.null_count == len(column) or any(test(column.type) for test in is_bytes))
    return column.cast(pa.binary(DIGEST_BYTES))
