"""Store sketches as Arrow tables: one row per document, the scheme in the metadata.

Columns are ``id``, strings or integers, ``digest``, 16 bytes that only exact copies share, null if
unknown, the kind's columns of the document's size, and ``sketch``:

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

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import SketchFormatError
from neardup.files.ids import join_ids
from neardup.sketches.kind import (
    DIGEST_BYTES,
    DamagedColumnError,
    SketchRows,
    check,
    read_column,
)
from neardup.sketches.registry import kind_of
from neardup.version import __version__

FORMAT_VERSION = 1
METADATA_KEY = b"neardup.sketches"

REPEATED_ID = "an id comes twice; ids must differ, make the sketches again"


def to_arrow(
    scheme: dict[str, Any], ids: pa.Array, rows: SketchRows, digests: pa.Array
) -> pa.Table:
    """Return sketches as a table."""
    columns = {"id": ids, "digest": digests, **kind_of(scheme).to_columns(rows)}
    about: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "neardup": __version__,
        "scheme": scheme,
        "scheme_checksum": checksum_of(scheme),
        "digests": True,
    }
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(about)})


def checksum_of(scheme: dict[str, Any]) -> int:
    """Return the CRC-32 of a scheme as JSON, because checksums of pages exclude metadata."""
    return zlib.crc32(json.dumps(scheme, sort_keys=True).encode())


def read_scheme(metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """Read the scheme of sketches from a table's metadata.

    Raises
    ------
    SketchFormatError
        If the metadata is not of sketches, is damaged, or has a newer format.
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
    kind_of(scheme)
    if about.get("scheme_checksum", None) != checksum_of(scheme):
        message = "the scheme is damaged; make the sketches again, or get another copy"
        raise SketchFormatError(message)
    return scheme


def from_arrow(table: pa.Table) -> tuple[dict[str, Any], pa.Array, SketchRows, pa.Array]:
    """Read sketches back: scheme, ids, rows and digests, checked in every number.

    Raises
    ------
    SketchFormatError
        If anything is not as ``to_arrow`` writes it.
    """
    scheme = read_scheme(table.schema.metadata)
    try:
        table.validate(full=True)
        ids = join_ids([read_column(table, "id")])
        check(ids.null_count == 0)
        rows: SketchRows = kind_of(scheme).from_columns(table)
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
    check(column.null_count == len(column) or any(test(column.type) for test in is_bytes))
    return column.cast(pa.binary(DIGEST_BYTES))
