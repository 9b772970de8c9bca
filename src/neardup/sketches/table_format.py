"""Sketches as Arrow tables: a row a document, the scheme in the metadata, and no text.

Columns are ``id``, strings or integers, ``digest``, 16 bytes that only exact copies share, null or
missing where they are not known, ``start`` and ``end`` of a block in its document if not whole
documents were sketched, what the kind knows of the document's size, and ``sketch``:

- minhash: ``size`` (distinct shingles), null where it is not known, a list of num_perm uint32; all
  ones for an empty set.
- weighted: ``size`` and ``weight``, the sum of all weights in units of 2^-20; likewise.
- smallest: ``size``, null where it is not known, a list of ascending uint64.
- modulo: ``size``, ``modulus``, a list of ascending uint64.
- edit: ``length`` in characters, a list of uint32; with two letters ``symbols``, their number, and
  their bits as bytes, eight to a byte, the first one highest.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import SketchFormatError
from neardup.files.ids import join_ids
from neardup.sketches.kind import (
    DIGEST_BYTES,
    DamagedColumnError,
    SketchRows,
    check,
    no_digests,
    read_column,
    read_counts,
)
from neardup.sketches.registry import kind_of
from neardup.tables import Bytes, Int64s, Texts
from neardup.version import __version__

# Blocks of large texts: runs of characters that are sketched one by one.
#
# A small part of a large text is lost in the sketch of the whole; in that of a block it is not.

# Bytes of a text in which characters are counted at a time.
_PIECE = 1 << 20


@dataclass(frozen=True)
class BlockPlaces:
    """Where blocks of about ``size`` characters lie in their texts: ``ends`` are exclusive.

    Of texts that are bytes they are bytes.
    """

    size: int
    starts: Int64s
    ends: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Int64s) -> BlockPlaces:
        """Return the places of some blocks."""
        return BlockPlaces(self.size, self.starts[rows], self.ends[rows])


def cut_texts(texts: Texts, size: int, *, is_bytes: bool) -> tuple[Texts, Int64s, BlockPlaces]:
    """Cut each text into blocks of a size, the last one of half to one and a half of that.

    Parameters
    ----------
    texts
        n texts.
    size
        Characters of a block, 1 or more.
    is_bytes
        Whether texts are bytes, each of which counts as a character.

    Returns
    -------
    The blocks, sharing the memory of the texts; the text of each; and their places there. A text of
    less than one and a half blocks is one block, an empty one too.
    """
    offsets, owners, starts, ends = [], [], [], []
    for number in range(len(texts)):
        first, stop = int(texts.offsets[number]), int(texts.offsets[number + 1])
        data = texts.data[first:stop]
        is_wide = not is_bytes and bool((data >= 128).any())
        length = _count_characters(data) if is_wide else len(data)
        cuts = np.arange(max(1, (2 * length + size) // (2 * size)), dtype=np.int64) * size
        offsets.append(first + (_find_characters(data, cuts) if is_wide else cuts))
        owners.append(np.full(len(cuts), number, np.int64))
        starts.append(cuts)
        ends.append(np.append(cuts[1:], length))
    nothing: Int64s = np.empty(0, np.int64)
    bounds = np.concatenate([nothing, *offsets, texts.offsets[-1:]]).astype(np.int64)
    places = BlockPlaces(size, np.concatenate([nothing, *starts]), np.concatenate([nothing, *ends]))
    return Texts(texts.data, bounds), np.concatenate([nothing, *owners]), places


def join_places(size: int, parts: list[BlockPlaces]) -> BlockPlaces:
    """Put places one behind the other."""
    nothing: Int64s = np.empty(0, np.int64)
    return BlockPlaces(
        size,
        np.concatenate([nothing, *(part.starts for part in parts)]),
        np.concatenate([nothing, *(part.ends for part in parts)]),
    )


def _count_characters(data: Bytes) -> int:
    return sum(
        int(np.count_nonzero(_begins(data[start : start + _PIECE])))
        for start in range(0, len(data), _PIECE)
    )


def _find_characters(data: Bytes, numbers: Int64s) -> Int64s:
    """Return the bytes at which some characters begin, by their ascending numbers."""
    found: Int64s = np.empty(len(numbers), np.int64)
    n_before = 0
    for start in range(0, len(data), _PIECE):
        begins = np.flatnonzero(_begins(data[start : start + _PIECE]))
        here = slice(*np.searchsorted(numbers, [n_before, n_before + len(begins)]))
        found[here] = start + begins[numbers[here] - n_before]
        n_before += len(begins)
    return found


def _begins(data: Bytes) -> Bytes:
    """Mark the bytes of UTF-8 that begin a character."""
    marked: Bytes = (data & np.uint8(0xC0)) != 0x80
    return marked


FORMAT_VERSION = 1
METADATA_KEY = b"neardup.sketches"

REPEATED_ID = "an id comes twice; ids must differ, make the sketches again"


def to_arrow(
    scheme: dict[str, Any],
    ids: pa.Array,
    rows: SketchRows,
    digests: pa.Array,
    blocks: BlockPlaces | None,
) -> pa.Table:
    """Return sketches as a table."""
    columns = {"id": ids, "digest": digests}
    if blocks is not None:
        columns |= {"start": pa.array(blocks.starts), "end": pa.array(blocks.ends)}
    columns |= kind_of(scheme).to_columns(rows)
    about: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "neardup": __version__,
        "scheme": scheme,
        "scheme_checksum": checksum_of(scheme),
        # Names of columns have no checksum, and without digests the table would be one, too.
        "digests": True,
    }
    if blocks is not None:
        about["block_size"] = blocks.size
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(about)})


def checksum_of(scheme: dict[str, Any]) -> int:
    """Return the CRC-32 of a scheme as JSON: checksums of pages do not cover metadata."""
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
    kind_of(scheme)
    if about.pop("scheme_checksum", None) != checksum_of(scheme):
        message = "the scheme is damaged; make the sketches again, or get another copy"
        raise SketchFormatError(message)
    return dict(about)


def from_arrow(
    table: pa.Table,
) -> tuple[dict[str, Any], pa.Array, SketchRows, pa.Array, BlockPlaces | None]:
    """Read sketches back: scheme, ids, rows, digests and blocks, checked in every number.

    Raises
    ------
    SketchFormatError
        If anything is not as ``to_arrow`` writes it.
    """
    about = read_about(table.schema.metadata)
    scheme: dict[str, Any] = about["scheme"]
    try:
        table.validate(full=True)
        ids = join_ids([read_column(table, "id")])
        check(ids.null_count == 0)
        rows: SketchRows = kind_of(scheme).from_columns(table)
        digests = _read_digests(table, are_there="digests" in about)
        blocks = _read_blocks(table, about["block_size"]) if "block_size" in about else None
    except (KeyError, pa.ArrowException, DamagedColumnError):
        message = "the columns are not those of sketches of this kind; make the sketches again"
        raise SketchFormatError(message) from None
    if blocks is None and pc.count_distinct(ids).as_py() != len(ids):
        raise SketchFormatError(REPEATED_ID)
    return scheme, ids, rows, digests, blocks


def _read_blocks(table: pa.Table, size: Any) -> BlockPlaces:
    """Read where blocks lie."""
    check(type(size) is int and size > 0)
    places = BlockPlaces(size, read_counts(table, "start"), read_counts(table, "end"))
    check(bool((places.starts <= places.ends).all()))
    return places


def _read_digests(table: pa.Table, *, are_there: bool) -> pa.Array:
    """Read digests, which tables of earlier versions do not have."""
    if not are_there and "digest" not in table.column_names:
        return no_digests(len(table))
    column = read_column(table, "digest")
    is_bytes = (pa.types.is_fixed_size_binary, pa.types.is_binary, pa.types.is_large_binary)
    check(column.null_count == len(column) or any(test(column.type) for test in is_bytes))
    return column.cast(pa.binary(DIGEST_BYTES))
