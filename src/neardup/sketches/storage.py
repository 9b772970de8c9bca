"""Sketches as Arrow tables: a row a document, the scheme in the metadata, and no text.

Columns are ``id``, what the kind knows of the document's size, and ``sketch``:

- minhash: ``size`` (distinct shingles), a list of num_perm uint32; all ones for an empty set.
- weighted: ``size`` and ``weight``, the sum of all weights in units of 2^-20; likewise.
- smallest: ``size``, null where it is not known, a list of ascending uint64.
- modulo: ``size``, ``modulus``, a list of ascending uint64.
- edit: ``length`` in characters, a list of uint32; with two letters ``symbols``, their number, and
  their bits as bytes, eight to a byte, the first one highest.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError, SketchFormatError
from neardup.sketches.edit.letters import pack_letters, unpack_letters
from neardup.sketches.edit.signature import EditScheme
from neardup.sketches.minhash import MinHashScheme
from neardup.sketches.modulo import ModuloScheme
from neardup.sketches.rows import KindScheme, SketchRows
from neardup.sketches.smallest import SmallestScheme
from neardup.sketches.weighted_minhash import WeightedMinHashScheme
from neardup.tables import Bools, EditSignatures, Int64s, SetSketches, Signatures, Uint64s
from neardup.version import __version__

FORMAT_VERSION = 1
METADATA_KEY = b"neardup.sketches"

KIND_SCHEMES: dict[str, type[KindScheme]] = {
    "minhash": MinHashScheme,
    "weighted": WeightedMinHashScheme,
    "smallest": SmallestScheme,
    "modulo": ModuloScheme,
    "edit": EditScheme,
}


def scheme_of(fields: dict[str, Any]) -> KindScheme:
    """Make the scheme of a kind from what ``SketchMaker.describe`` gave.

    Raises
    ------
    SketchFormatError
        For an unknown kind, and fields that are missing or out of range.
    """
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in KIND_SCHEMES:
        message = f"unknown kind of sketches {kind!r}; it may come from a newer version of neardup"
        raise SketchFormatError(message)
    own = KIND_SCHEMES[kind]
    # A modulo scheme with a modulus has no size.
    names = [name for name in own.__dataclass_fields__ if fields.get(name) is not None]
    if any(type(fields[name]) not in (int, str) for name in names):
        message = f"the scheme of kind {kind} has fields that are neither whole numbers nor names"
        raise SketchFormatError(message)
    try:
        scheme = own(**{name: fields[name] for name in names})
    except (InvalidParameterError, TypeError) as error:
        message = f"the scheme is not valid: {error}"
        raise SketchFormatError(message) from None
    if any(
        name not in fields or fields[name] != value for name, value in scheme.describe().items()
    ):
        message = f"the scheme of kind {kind} is not complete; make the sketches again"
        raise SketchFormatError(message)
    return scheme


def to_arrow(scheme: dict[str, Any], ids: pa.Array, rows: SketchRows) -> pa.Table:
    """Give sketches as a table."""
    columns: dict[str, Any] = {"id": ids}
    if isinstance(rows, Signatures):
        columns["size"] = rows.sizes
        if rows.totals is not None:
            columns["weight"] = rows.totals
        values = pa.array(np.ascontiguousarray(rows.values).reshape(-1))
        columns["sketch"] = pa.FixedSizeListArray.from_arrays(values, rows.values.shape[1])
    elif isinstance(rows, SetSketches):
        columns["size"] = pa.array(rows.sizes, mask=rows.sizes < 0)
        if scheme["kind"] == "modulo":
            columns["modulus"] = rows.moduli
        columns["sketch"] = pa.LargeListArray.from_arrays(rows.offsets, rows.values)
    else:
        columns["length"] = rows.lengths
        if scheme["letters"] == 2:
            packed, starts = pack_letters(rows)
            columns["symbols"] = np.diff(rows.offsets)
            buffers = [None, pa.py_buffer(starts), pa.py_buffer(packed)]
            columns["sketch"] = pa.Array.from_buffers(pa.large_binary(), len(rows), buffers)
        else:
            columns["sketch"] = pa.LargeListArray.from_arrays(rows.offsets, rows.symbols)
    about = {
        "format": FORMAT_VERSION,
        "neardup": __version__,
        "scheme": scheme,
        "scheme_checksum": checksum_of(scheme),
    }
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(about)})


def checksum_of(scheme: dict[str, Any]) -> int:
    """Give the CRC-32 of a scheme as JSON: checksums of pages do not cover metadata."""
    return zlib.crc32(json.dumps(scheme, sort_keys=True).encode())


def read_about(metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """Read what the metadata say: ``format``, ``neardup`` and ``scheme``.

    Raises
    ------
    SketchFormatError
        If they are not those of sketches, damaged, or of a newer format.
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
    scheme_of(scheme)
    if about.pop("scheme_checksum", None) != checksum_of(scheme):
        message = "the scheme is damaged; make the sketches again, or get another copy"
        raise SketchFormatError(message)
    return dict(about)


def from_arrow(table: pa.Table) -> tuple[dict[str, Any], pa.Array, SketchRows]:
    """Read sketches back: scheme, ids and rows, checked in every number.

    Raises
    ------
    SketchFormatError
        If anything is not as ``to_arrow`` writes it.
    """
    scheme: dict[str, Any] = read_about(table.schema.metadata)["scheme"]
    own = scheme_of(scheme)
    try:
        table.validate(full=True)
        ids = _column(table, "id").cast(pa.large_string())
        _check(ids.null_count == 0)
        rows: SketchRows
        if isinstance(own, EditScheme):
            rows = _read_edits(table, own)
        elif isinstance(own, MinHashScheme):
            rows = _read_signatures(table, own)
        else:
            rows = _read_sets(table, own)
    except (KeyError, pa.ArrowException, _DamagedError):
        message = "the columns are not those of sketches of this kind; make the sketches again"
        raise SketchFormatError(message) from None
    if pc.count_distinct(ids).as_py() != len(ids):
        message = "an id comes twice; ids must differ, make the sketches again"
        raise SketchFormatError(message)
    return scheme, ids, rows


class _DamagedError(Exception):
    """A number that no sketch has."""


def _check(is_right: bool | np.bool_) -> None:
    if not is_right:
        raise _DamagedError


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def _whole_numbers(table: pa.Table, name: str, *, null: int | None = None) -> Int64s:
    column = _column(table, name).cast(pa.int64())
    _check(null is not None or column.null_count == 0)
    _check(not pc.any(pc.less(column, 0)).as_py())
    numbers: Int64s = np.array(column.fill_null(null or 0).to_numpy(), np.int64)
    return numbers


def _lists(table: pa.Table, kind: pa.DataType) -> tuple[pa.Array, Int64s]:
    """Give the values of the lists of ``sketch``, and their offsets from 0."""
    column = _column(table, "sketch")
    # Others, list views, may have offsets in any order.
    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    _check(any(test(column.type) for test in is_list))
    lists = column.cast(pa.large_list(kind))
    _check(lists.null_count == 0)
    offsets: Int64s = np.array(lists.offsets.to_numpy(), np.int64)
    values = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    _check(values.null_count == 0)
    return values, offsets - offsets[0]


def _read_signatures(table: pa.Table, scheme: MinHashScheme) -> Signatures:
    values, offsets = _lists(table, pa.uint32())
    _check(bool((np.diff(offsets) == scheme.num_perm).all()))
    rows = np.array(values.to_numpy(), np.uint32).reshape(len(table), scheme.num_perm)
    sizes = _whole_numbers(table, "size")
    is_weighted = isinstance(scheme, WeightedMinHashScheme)
    return Signatures(rows, sizes, _whole_numbers(table, "weight") if is_weighted else None)


def _read_sets(table: pa.Table, scheme: SmallestScheme | ModuloScheme) -> SetSketches:
    column, offsets = _lists(table, pa.uint64())
    values: Uint64s = np.array(column.to_numpy(), np.uint64)
    is_first: Bools = np.zeros(len(values) + 1, np.bool_)
    is_first[offsets[:-1]] = True
    _check(bool((is_first[1:-1] | (values[1:] > values[:-1])).all()))
    sizes = _whole_numbers(table, "size", null=-1)
    n_values = np.diff(offsets)
    _check(bool(((sizes < 0) | (n_values <= sizes)).all()))
    if isinstance(scheme, SmallestScheme):
        _check(bool((n_values <= scheme.size).all()))
        full = n_values == scheme.size
        _check(bool(((sizes == n_values) | (full & (sizes < 0))).all()))
        return SetSketches(values, offsets, sizes, np.ones(len(table), np.int64))
    moduli = _whole_numbers(table, "modulus")
    _check(bool((moduli >= 1).all()))
    if scheme.modulus is None:
        _check(bool((moduli & (moduli - 1) == 0).all()))
    else:
        _check(bool((moduli == scheme.modulus).all()))
    _check(bool(((moduli > 1) | (sizes == n_values)).all()))
    _check(bool((values % np.repeat(moduli, n_values).astype(np.uint64) == 0).all()))
    return SetSketches(values, offsets, sizes, moduli)


def _read_edits(table: pa.Table, scheme: EditScheme) -> EditSignatures:
    lengths = _whole_numbers(table, "length")
    if scheme.letters == 2:
        sizes = _whole_numbers(table, "symbols")
        packed = _column(table, "sketch").cast(pa.large_binary())
        _check(packed.null_count == 0)
        _check(bool((pc.binary_length(packed).to_numpy() == -(-sizes // 8)).all()))
        data = b"".join(packed.to_pylist())
        offsets: Int64s = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        symbols = unpack_letters(np.frombuffer(data, np.uint8), offsets)
    else:
        column, offsets = _lists(table, pa.uint32())
        symbols = np.array(column.to_numpy(), np.uint32)
        _check(int(symbols.max(initial=0)) < scheme.letters)
    _check(bool((np.diff(offsets) <= lengths).all()))
    return EditSignatures(symbols, offsets, lengths)
