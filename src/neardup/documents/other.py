"""An index of documents where another collection may be named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.documents.index import OpenDocuments
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.inputs import Inputs
from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.tableblocks import StoredBlock
from neardup.storage.manifest import kind_of_manifest, load_manifest
from neardup.storage.named import index_named
from neardup.text.tokenizers import NAMED

if TYPE_CHECKING:
    from neardup.documents.index import DocumentHandle
    from neardup.files.destinations import Destination
    from neardup.text.tokenizers import TokenFunction

# The documents of an index as a collection, for what reads all texts.

_BLOCK_ROWS = 2048


class IndexSource(Source):
    """The documents of an index, in the order in which they were added; written as Parquet.

    Columns are ``id``, ``text`` and those of the user's that the index keeps. Text and ids are
    read of the former, whatever columns those of other collections are in.

    Parameters
    ----------
    index
        What is read, as it was when it was opened.
    folder
        Where it is.
    block_rows
        Most rows of a block.
    """

    has_lasting_rows = False

    def __init__(
        self, index: OpenDocuments, folder: Path, *, block_rows: int = _BLOCK_ROWS
    ) -> None:
        if not index.scheme.with_text:
            message = (
                "the index keeps no texts, which are to be read; build one with them. What "
                "only looks documents up needs none: search, and dedup and pairs by method minhash"
            )
            raise InvalidInputError(message, path=str(folder))
        self.name, self.origin = f"{folder.name}.parquet", str(folder)
        self._index, self._block_rows = index, block_rows

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return ["id", "text", *self._index.scheme.columns]

    def blocks(self) -> Iterator[RowBlock]:
        """Read the documents that are there; one without a text, added as tokens, is bad."""
        index, number = self._index, 1
        for segment in range(len(index.segments)):
            documents = index.live_rows(segment) + index.first_documents[segment]
            for start in range(0, len(documents), self._block_rows):
                rows = index.read_rows(documents[start : start + self._block_rows])
                yield StoredBlock(rows, number)
                number += len(rows)

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the ids that the documents have in the index."""
        index = self._index
        live = [
            index.live_rows(segment) + index.first_documents[segment]
            for segment in range(len(index.segments))
        ]
        return as_text(index.ids_of(np.concatenate([np.empty(0, np.int64), *live])[numbers - 1]))

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        rows = next((block.to_table() for block in self.blocks()), None)
        schema = pa.schema([]) if rows is None else rows.schema
        return TableWriter(folder / self.name, schema)


def index_among(
    against: Any, tokenizer: str | Path | TokenFunction | None = None
) -> DocumentHandle | None:
    """Return the index of documents that is named as the other collection, None if none is.

    An index is a folder, in a list a ``Path``, or an object such as a ``DocumentIndex``; what that
    has inserted is committed, so that it is seen.
    """
    named = [against]
    if isinstance(against, list | tuple):
        # Strings in a list are texts.
        named = [None if isinstance(each, str) else each for each in against]
    found = [each for each in named if index_named(each) or _has_handle(each)]
    if not found:
        return None
    if len(named) > 1:
        message = (
            f"an index is compared against alone, got {len(named)} collections; add the others to "
            "it, or run once for each"
        )
        raise InvalidParameterError(message, "against")
    return _handle_of(found[0], tokenizer)


def resolve_other(
    against: Any,
    resolve: Callable[[Any], Inputs],
    tokenizer: str | Path | TokenFunction | None = None,
) -> Inputs:
    """Return the sources of another collection, which may be an index whose texts are all read.

    All else ``resolve`` finds. A tokenizer that is a file or a function may be that of the index.
    """
    handle = index_among(against, own_tokenizer(tokenizer))
    if handle is None:
        return resolve(against)
    from neardup.runtime.runner import Runner

    return Inputs([IndexSource(handle.view(Runner(1)), handle.folder)])


def own_tokenizer(
    tokenizer: str | Path | TokenFunction | None,
) -> str | Path | TokenFunction | None:
    """Return a tokenizer that an index cannot find by its name, None for all others."""
    return None if tokenizer in NAMED else tokenizer


def _has_handle(data: Any) -> bool:
    # Nothing has one before the module is loaded.
    module = sys.modules.get("neardup.documents.index")
    return module is not None and isinstance(getattr(data, "handle", None), module.DocumentHandle)


def _handle_of(data: Any, tokenizer: str | Path | TokenFunction | None) -> DocumentHandle:
    from neardup.documents.index import DocumentHandle
    from neardup.runtime.runner import Runner

    folder = index_named(data)
    if folder is None:
        data.commit()
        handle: DocumentHandle = data.handle
        handle.latest(Runner(1))
        return handle
    if kind_of_manifest(load_manifest(folder)) != "documents":
        message = (
            f"{folder} is an index of passages, in which search and align look; build one of "
            "documents with index build --kind documents"
        )
        raise InvalidParameterError(message, "against")
    return DocumentHandle(folder, tokenizer)
