"""A segment of an index: the windows of some documents, and what shows a passage of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import IndexFormatError
from neardup.kernels.passage import segments
from neardup.passages.scheme import PassageScheme
from neardup.storage.ids import IdTable
from neardup.storage.segments import Segment
from neardup.tables import Bytes, Int32s, Int64s, TokenLists, Uint32s, Uint64s

DOCUMENT_SCHEMA = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])

# Ids are stored as strings. Where they were whole numbers, the schema's metadata have their type.
_ID_TYPE = b"neardup.id_type"
_INTEGERS = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
)
_BY_NAME = {str(kind).encode(): kind for kind in _INTEGERS}


@dataclass(frozen=True)
class WindowIndex:
    """The windows of all hash functions; see ``WindowLists``.

    Function f has the keys ``key_starts[f]`` to ``key_starts[f + 1]``.
    """

    key_starts: Int64s
    keys: Uint64s
    list_starts: Int64s
    starts: Uint32s
    spans: npt.NDArray[np.uint16]
    wide_rows: Int64s
    wide_spans: Uint32s


@dataclass(frozen=True)
class PassageSegment:
    """An open segment.

    ``tokens`` are numbers of entries of ``vocabulary``, which are token hashes, ascending; document
    d has ``tokens[offsets[d] : offsets[d + 1]]``. If they are shingles, they ``overlap``. ``ids``
    are large strings, of integers too; ``id_type`` is what they were read as.
    """

    name: str
    windows: WindowIndex
    vocabulary: Uint64s
    tokens: Int32s
    offsets: Int64s
    overlap: bool
    gaps: Bytes
    lengths: Bytes
    samples: Int64s
    far_places: Int64s
    far_values: Int64s
    ids: pa.Array
    id_type: pa.DataType
    texts: pa.Array

    @cached_property
    def id_table(self) -> IdTable:
        """Finds documents by their ids; made when it is first asked for."""
        return IdTable(self.ids)

    def token_lists(self) -> TokenLists:
        """Give the token hashes of all documents again."""
        return TokenLists(self.vocabulary[self.tokens], self.offsets)

    def byte_places(self, tokens: Int64s, documents: Int64s) -> tuple[Int64s, Int64s]:
        """Tell where tokens, counted through the segment, start and stop in their texts' bytes."""
        starts, stops = np.empty_like(tokens), np.empty_like(tokens)
        segments.find_places(
            tokens,
            self.offsets[documents],
            self.overlap,
            self.gaps,
            self.lengths,
            self.samples,
            self.far_places,
            self.far_values,
            starts,
            stops,
        )
        return starts, stops


def document_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of stored documents whose ids were of a type."""
    if not pa.types.is_integer(id_type):
        return DOCUMENT_SCHEMA
    return DOCUMENT_SCHEMA.with_metadata({_ID_TYPE: str(id_type)})


def read_segment(stored: Segment, scheme: PassageScheme) -> PassageSegment:
    """See the files of a segment as what they are, after a look at how they fit together.

    Raises
    ------
    IndexFormatError
        If they do not.
    """
    record = stored.record
    n_docs, n_tokens = record.n_documents, record.n_tokens
    table = stored.table("documents", DOCUMENT_SCHEMA)
    key_starts = stored.array("key-starts", np.int64, length=scheme.num_perm + 1)
    keys = stored.array("keys", np.uint64)
    list_starts = stored.array("list-starts", np.int64, length=len(keys) + 1)
    starts = stored.array("starts", np.uint32)
    wide_rows = stored.array("wide-rows", np.int64)
    windows = WindowIndex(
        key_starts,
        keys,
        list_starts,
        starts,
        stored.array("spans", np.uint16, ndim=2, length=len(starts)),
        wide_rows,
        stored.array("wide-spans", np.uint32, ndim=2, length=len(wide_rows)),
    )
    far_places = stored.array("far-places", np.int64)
    segment = PassageSegment(
        record.name,
        windows,
        stored.array("vocabulary", np.uint64),
        stored.array("tokens", np.int32, length=n_tokens),
        stored.array("offsets", np.int64, length=n_docs + 1),
        scheme.shingles.ngram > 1,
        stored.array("gaps", np.uint8, length=n_tokens),
        stored.array("lengths", np.uint8, length=n_tokens),
        stored.array("samples", np.int64, length=-(-n_tokens // segments.STEP)),
        far_places,
        stored.array("far-values", np.int64, length=len(far_places)),
        _in_one(table["id"]),
        _BY_NAME.get((table.schema.metadata or {}).get(_ID_TYPE, b""), pa.large_string()),
        _in_one(table["text"]),
    )
    _check_ascending(stored, "offsets", segment.offsets, n_tokens)
    _check_ascending(stored, "key-starts", key_starts, len(keys))
    _check_ascending(stored, "list-starts", list_starts, len(starts))
    if len(table) != n_docs:
        raise _misfit(stored, "documents.arrow")
    return segment


def _check_ascending(stored: Segment, name: str, array: npt.NDArray[Any], last: int) -> None:
    if array[0] != 0 or array[-1] != last or (np.diff(array) < 0).any():
        raise _misfit(stored, f"{name}.npy")


def _misfit(stored: Segment, name: str) -> IndexFormatError:
    message = "the file does not fit to the others of its segment; build the index again"
    return IndexFormatError(message, path=str(stored.path / name))


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; where it is one already, without a copy."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
