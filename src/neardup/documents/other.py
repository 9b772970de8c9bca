"""Resolve another collection, or an index in its place."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.documents.index import DocumentHandle
from neardup.documents.lookup import OpenDocuments
from neardup.errors import InvalidParameterError
from neardup.files.documents import as_text
from neardup.files.formats import is_readable
from neardup.files.inputs import Inputs
from neardup.index.handle import IndexHandle
from neardup.index.index import IndexSource
from neardup.index.store import index_named, kind_of
from neardup.options.choices import IndexKind
from neardup.options.groups import AgainstOptions
from neardup.runs.runner import Runner
from neardup.text.tokenizers import named_tokenizer

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def open_handle(
    folder: Path,
    tokenizer: str | Path | TokenFunction | None = None,
    kind: IndexKind | None = None,
) -> IndexHandle[Any]:
    """Return the handle of an index, of its stored kind by default."""
    if (kind or kind_of(folder)) == "documents":
        return DocumentHandle(folder, tokenizer)
    from neardup.passages.index import PassageHandle

    return PassageHandle(folder, tokenizer)


# The documents of an index as a collection, for what reads all texts.

_BLOCK_ROWS = 2048


class DocumentIndexSource(IndexSource):
    """The documents of an index of documents, with their texts.

    Columns of other collections do not matter.
    """

    has_lasting_rows = False

    def __init__(self, index: OpenDocuments, folder: Path) -> None:
        super().__init__(index, folder, block_rows=_BLOCK_ROWS)

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the ids that the documents have in the index."""
        live = self._index.live(0, self._index.n_documents)
        return as_text(self._index.ids_of(live[numbers - 1]))


def index_among(
    against: Any,
    tokenizer: str | Path | TokenFunction | None = None,
    *,
    may_be_new: bool = False,
) -> DocumentHandle | None:
    """Return the index named as the only other collection, or None.

    An index is a folder, in a list a ``Path``, or an object such as a ``DocumentIndex``, whose
    insertions are committed so that they are seen. With ``may_be_new``, a name of nothing is the
    name of a new index, unless it names documents.
    """
    named = [against]
    if isinstance(against, list | tuple):
        # Strings in a list are texts, and dictionaries rows.
        kinds = {kind for kind in set(map(type, against)) if not issubclass(kind, str | dict)}
        named = [each for each in against if type(each) in kinds] if kinds else []
    found = [
        each
        for each in named
        if index_named(each) or isinstance(getattr(each, "_handle", None), DocumentHandle)
    ]
    is_new = may_be_new and not found
    if is_new:
        found = [each for each in named if _names_nothing(each)]
    if not found:
        return None
    if isinstance(against, list | tuple) and len(against) > 1:
        message = (
            "against names an index and other documents; add these to it, or run once for each"
        )
        raise InvalidParameterError(message, "against")
    if is_new:
        return DocumentHandle(Path(found[0]), tokenizer)
    return _handle_of(found[0], tokenizer)


def _names_nothing(name: Any) -> bool:
    return (
        isinstance(name, str | os.PathLike)
        and not os.path.lexists(name)
        and not re.match("[a-z][a-z0-9+.-]+:/", os.fspath(name))
        and not glob.has_magic(os.fspath(name))
        and not is_readable(os.fspath(name))
    )


def resolve_other(
    against: Any,
    resolve: Callable[[Any], Inputs],
    tokenizer: str | Path | TokenFunction | None = None,
) -> Inputs:
    """Return the sources of another collection or an index.

    ``resolve`` finds everything but an index, whose texts are all read. A tokenizer that is a file
    or a function may belong to the index.
    """
    handle = index_among(against, own_tokenizer(tokenizer))
    if handle is None:
        return resolve(against)
    return Inputs([DocumentIndexSource(handle.view(Runner(1)), handle.folder)])


def resolve_against(
    against: Any,
    resolve: Callable[[Any], Inputs],
    options: AgainstOptions,
    tokenizer: str | Path | TokenFunction | None = None,
) -> Inputs | None:
    """Return the sources of another collection, None without any.

    All texts of an index of either kind are read.
    """
    if against is None:
        return None
    handle, folder = getattr(against, "_handle", None), index_named(against)
    if folder is not None:
        handle = open_handle(folder, own_tokenizer(tokenizer))
    if handle is None or handle.kind == "documents":
        return resolve_other(against, resolve, tokenizer)
    options.check_no_other("with an index", "name files with against", "against")
    return Inputs([IndexSource(handle.view(Runner(1)), handle.folder)])


def own_tokenizer(
    tokenizer: str | Path | TokenFunction | None,
) -> str | Path | TokenFunction | None:
    """Return a tokenizer that indexes cannot name, else None."""
    return None if named_tokenizer(tokenizer) is not None else tokenizer


def _handle_of(data: Any, tokenizer: str | Path | TokenFunction | None) -> DocumentHandle:
    folder = index_named(data)
    if folder is None:
        data.commit()
        handle: DocumentHandle = data._handle  # noqa: SLF001 - jobs are above
        return handle
    if kind_of(folder) != "documents":
        message = (
            f"{folder} is an index of passages, in which search and align look; build one of "
            "documents, with DocumentIndex or `neardup index build --kind documents`"
        )
        raise InvalidParameterError(message, "against")
    return DocumentHandle(folder, tokenizer)
