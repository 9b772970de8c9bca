"""Resolve another collection, or an index in its place."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neardup.documents.document_handle import DocumentHandle
from neardup.errors import InvalidParameterError
from neardup.files.formats import is_readable
from neardup.files.inputs import Inputs
from neardup.index.handle import IndexHandle
from neardup.index.open_index import IndexSource
from neardup.index.store import index_kind, index_named
from neardup.options.choices import TokenizerChoice
from neardup.runs.runner import Runner
from neardup.text.tokenizers import named_tokenizer


def open_handle(folder: Path, tokenizer: TokenizerChoice | None = None) -> IndexHandle[Any]:
    """Return the handle of an index, of its stored kind."""
    if index_kind(folder) == "documents":
        return DocumentHandle(folder, tokenizer)
    from neardup.passages.open_passages import PassageHandle

    return PassageHandle(folder, tokenizer)


def index_among(
    against: Any, tokenizer: TokenizerChoice | None = None, *, may_be_new: bool = False
) -> DocumentHandle | None:
    """Return the index of documents named as the other collection, or None.

    With ``may_be_new``, a path that does not exist names a new index. A URL, a pattern or a file
    name of a known format does not.
    """
    handle = _handle_among(against, tokenizer)
    if handle is None and may_be_new:
        named = against[0] if isinstance(against, list | tuple) and len(against) == 1 else against
        return DocumentHandle(Path(named), tokenizer) if _names_nothing(named) else None
    if handle is None or isinstance(handle, DocumentHandle):
        return handle
    message = (
        f"{handle.folder} is an index of passages, in which search and align look; build one of "
        "documents, with DocumentIndex or `neardup index build --kind documents`"
    )
    raise InvalidParameterError(message, "against")


def _handle_among(against: Any, tokenizer: TokenizerChoice | None) -> IndexHandle[Any] | None:
    """Return the index named as the only other collection, or None.

    An index is a folder, in a list a ``Path``, or an object such as a ``DocumentIndex``, whose
    insertions are committed so that they are seen.
    """
    named = against if isinstance(against, list | tuple) else [against]
    found = [
        each
        for each in named
        # Strings in a list are texts, and dictionaries rows.
        if (each is against or not isinstance(each, str | dict))
        and (index_named(each) or isinstance(getattr(each, "_handle", None), IndexHandle))
    ]
    if not found:
        return None
    if len(named) > 1:
        message = (
            "against names an index and other documents; add these to it, or run once for each"
        )
        raise InvalidParameterError(message, "against")
    folder = index_named(found[0])
    if folder is not None:
        return open_handle(folder, tokenizer)
    handle: IndexHandle[Any] = found[0]._handle  # noqa: SLF001 - jobs are above
    if isinstance(handle, DocumentHandle):
        found[0].commit()
    return handle


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
    tokenizer: TokenizerChoice | None = None,
) -> Inputs:
    """Return the sources of another collection or an index.

    ``resolve`` finds everything but an index, whose texts are all read. A tokenizer that is a file
    or a function may belong to the index.
    """
    handle = _handle_among(against, own_tokenizer(tokenizer))
    if handle is None:
        return resolve(against)
    return Inputs([IndexSource(handle.view(Runner(1)), handle.folder)])


def own_tokenizer(
    tokenizer: TokenizerChoice | None,
) -> TokenizerChoice | None:
    """Return a tokenizer that indexes cannot name, else None."""
    return None if named_tokenizer(tokenizer) is not None else tokenizer
