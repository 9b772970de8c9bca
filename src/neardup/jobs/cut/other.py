"""What a collection is cut against: documents, or those of an index of either kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neardup.documents.other import own_tokenizer, resolve_other
from neardup.files.inputs import Inputs
from neardup.jobs.cut.plan import CutOptions
from neardup.jobs.passages.passage_index import PassageIndex
from neardup.passages.handle import PassageHandle
from neardup.passages.source import PassageIndexSource
from neardup.runtime.runner import Runner
from neardup.storage.manifest import kind_of_manifest, load_manifest
from neardup.storage.named import index_named


def resolve_against(against: Any, resolve: Callable[[Any], Inputs], options: CutOptions) -> Inputs:
    """Return the sources of the other collection; of an index all texts are read.

    Raises
    ------
    InvalidParameterError, ReadError, IndexFormatError, InvalidInputError
        As ``resolve_other``.
    """
    handle = against.handle if isinstance(against, PassageIndex) else None
    folder = index_named(against)
    if folder is not None and kind_of_manifest(load_manifest(folder)) == "passages":
        handle = PassageHandle(folder, own_tokenizer(options.tokenizer))
    if handle is None:
        return resolve_other(against, resolve, options.tokenizer)
    options.check_no_other("with an index", "name files with against", "against")
    return Inputs([PassageIndexSource(handle.view(Runner(1)), handle.folder)])
