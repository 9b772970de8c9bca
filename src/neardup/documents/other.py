"""An index of documents where another collection may be named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InvalidParameterError
from neardup.files.inputs import Inputs
from neardup.storage.manifest import kind_of_manifest, load_manifest
from neardup.storage.named import index_named
from neardup.text.tokenizers.named import NAMED

if TYPE_CHECKING:
    from neardup.documents.handle import DocumentHandle
    from neardup.text.tokenizers import TokenFunction


def index_among(
    against: Any, tokenizer: str | Path | TokenFunction | None = None
) -> DocumentHandle | None:
    """Return the index of documents that is named as the other collection, None if none is.

    An index is a folder, in a list a ``Path``, or an object such as a ``DocumentIndex``; what that
    has inserted is committed, so that it is seen.

    Raises
    ------
    InvalidParameterError
        If an index is one of several collections, or is of passages.
    ReadError, IndexFormatError
        If the manifest of an index cannot be read.
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

    Raises
    ------
    InvalidParameterError, ReadError, IndexFormatError
        As ``index_among``.
    InvalidInputError
        If the index keeps no texts, and what ``resolve`` raises.
    """
    handle = index_among(against, own_tokenizer(tokenizer))
    if handle is None:
        return resolve(against)
    from neardup.documents.source import IndexSource
    from neardup.runtime.runner import Runner

    return Inputs([IndexSource(handle.view(Runner(1)), handle.folder)])


def own_tokenizer(
    tokenizer: str | Path | TokenFunction | None,
) -> str | Path | TokenFunction | None:
    """Return a tokenizer that an index cannot find by its name, None for all others."""
    return None if tokenizer in NAMED else tokenizer


def _has_handle(data: Any) -> bool:
    # Nothing has one before the module is loaded.
    module = sys.modules.get("neardup.documents.handle")
    return module is not None and isinstance(getattr(data, "handle", None), module.DocumentHandle)


def _handle_of(data: Any, tokenizer: str | Path | TokenFunction | None) -> DocumentHandle:
    from neardup.documents.handle import DocumentHandle
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
