"""Another collection whose texts are all read: documents, or those of an index of either kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.documents.other import own_tokenizer, resolve_other
from neardup.files.inputs import Inputs
from neardup.indexes.manifest import index_named, kind_of_manifest, load_manifest
from neardup.indexes.source import IndexSource
from neardup.jobs.passages.passage_index import PassageIndex
from neardup.options.groups import AgainstOptions
from neardup.passages.index import PassageHandle
from neardup.runs.runner import Runner

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def resolve_against(
    against: Any,
    resolve: Callable[[Any], Inputs],
    options: AgainstOptions,
    tokenizer: str | Path | TokenFunction | None = None,
) -> Inputs:
    """Return the sources of the other collection; of an index all texts are read."""
    handle = against.handle if isinstance(against, PassageIndex) else None
    folder = index_named(against)
    if folder is not None and kind_of_manifest(load_manifest(folder)) == "passages":
        handle = PassageHandle(folder, own_tokenizer(tokenizer))
    if handle is None:
        return resolve_other(against, resolve, tokenizer)
    options.check_no_other("with an index", "name files with against", "against")
    return Inputs([IndexSource(handle.latest(Runner(1)), handle.folder)])
