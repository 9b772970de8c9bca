"""The other collection of an alignment: an index that is there, or documents to index for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from neardup.engine.workspaces import are_short
from neardup.errors import InvalidParameterError
from neardup.files.resolve import told_apart
from neardup.files.rows import Source
from neardup.indexes.index import create_index
from neardup.indexes.manifest import index_named, kind_of
from neardup.jobs.align.plan import usual_of
from neardup.options.choices import InverseFrequency
from neardup.options.option import no_effect
from neardup.options.passages import AlignOptions
from neardup.passages.additions import (
    add_documents,
    index_in_memory,
    segment_tokens_within,
)
from neardup.passages.align import make_window_scheme
from neardup.passages.documents import PassageReading
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.results import SkippedRow
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.options import columns_of, other_columns_of

# Among fewer documents a word that all of them have may be one of few that two texts share.
_FEW = 5


@dataclass(frozen=True)
class NewDocuments:
    """Documents that an index is made of, in a temporary folder that goes afterwards.

    The index of a few that are in memory is in no folder.

    Passages of ``min_tokens`` tokens are found in it; ``scheme`` are its other options. Few
    documents are weighed by ``idf_of_few``, if that is given. With ``is_input`` they are the very
    documents whose passages are looked for.
    """

    sources: Sequence[Source]
    read: PassageReading
    min_tokens: int
    scheme: Mapping[str, Any]
    idf_of_few: InverseFrequency | None = None
    is_input: bool = False

    def idf_for(self, n_documents: int) -> InverseFrequency | None:
        """Return by what so many documents are weighed in place of what the scheme says."""
        return self.idf_of_few if n_documents < _FEW else None

    def weighed(self, index: OpenPassages) -> OpenPassages:
        """Return the index that was made of them with the weights that it is to have."""
        idf = self.idf_for(index.n_documents)
        return index if idf is None else index.weighed_by(idf)


# What the passages of some documents are looked for in.
Other = PassageHandle | NewDocuments


def choose_other(
    data: Any,
    resolve: Callable[[Any], Sequence[Source]],
    options: AlignOptions,
    scheme: Mapping[str, Any],
    queries: Sequence[Source],
) -> Other:
    """Decide whether a collection is an index or documents.

    A ``PassageIndex``, and the path of a folder that holds one, are an index; all else is
    documents, which ``resolve`` finds, also those of an index of documents. ``scheme`` are options
    that only an index that is made here can have; so has what a preset says of it. Files have
    names that tell them from those of ``queries``.
    """
    handle = getattr(data, "_handle", None)
    if isinstance(handle, PassageHandle):
        _check_no_scheme(scheme)
        handle.latest(Runner(1))
        return handle
    folder = index_named(data)
    if folder is not None and kind_of(folder) == "passages":
        _check_no_scheme({name: value for name, value in scheme.items() if name != "tokenizer"})
        return PassageHandle(folder, scheme.get("tokenizer"))
    read = PassageReading(other_columns_of(options), options.skip_bad)
    return _new(told_apart(resolve(data), queries), read, options, scheme)


def no_other(
    sources: Sequence[Source], options: AlignOptions, scheme: Mapping[str, Any]
) -> NewDocuments:
    """Return the documents of one collection, to be aligned with each other."""
    read = PassageReading(columns_of(options), options.skip_bad)
    return _new(sources, read, options, scheme, is_input=True)


def _new(
    sources: Sequence[Source],
    read: PassageReading,
    options: AlignOptions,
    scheme: Mapping[str, Any],
    *,
    is_input: bool = False,
) -> NewDocuments:
    usual = usual_of(options)
    least = usual.min_tokens if options.min_tokens is None else options.min_tokens
    if options.hits is None:
        for name in ("num_perm", "seed"):
            if scheme.get(name) is not None:
                raise no_effect(name, "without hits", "give hits", "hits")
    # Min-hashes are made only where they are asked for.
    hashes = {"num_perm": 0} if options.hits is None else {}
    # In few documents nearly every word is in all.
    idf: InverseFrequency | None = None
    if usual.scheme.get("idf") == "standard" and scheme.get("idf") is None:
        idf = "smooth"
    options_of_index = {**usual.scheme, **hashes, **scheme}
    return NewDocuments(sources, read, least, options_of_index, idf, is_input)


class Made(NamedTuple):
    """What was left out of a collection: bad rows, and so many tokens that are ignored."""

    skipped: Sequence[SkippedRow] = ()
    n_ignored: int = 0


@contextmanager
def open_other(
    other: Other, workspace: Workspace, runner: Runner
) -> Iterator[tuple[OpenPassages, Made]]:
    """Open an index, or make one of documents for as long as the block lasts.

    Yields it with what was left out to make it. An index that is made lies in the
    work folder, and goes with the block.
    """
    if isinstance(other, PassageHandle):
        yield other.view(runner), Made()
        return
    scheme = make_window_scheme(other.min_tokens, **other.scheme)
    if are_short(other.sources):
        with runner.stage("read") as note:
            index, addition = index_in_memory(other.sources, other.read, scheme, runner)
            note(documents=addition.n_documents, tokens=addition.n_tokens)
        yield other.weighed(index), Made(addition.skipped, addition.n_ignored)
        return
    with workspace.passing_folder() as folder:
        handle = PassageHandle(folder / "index", other.scheme.get("tokenizer"))
        create_index(handle.folder, scheme)
        with runner.stage("read") as note:
            addition = add_documents(
                handle,
                other.sources,
                other.read,
                runner,
                segment_tokens=segment_tokens_within(workspace),
            )
            note(documents=addition.n_documents, tokens=addition.n_tokens)
        yield other.weighed(handle.view(runner)), Made(addition.skipped, addition.n_ignored)


def _check_no_scheme(chosen: Mapping[str, Any]) -> None:
    for name in chosen:
        message = f"{name} has no effect with an index, which has its own; leave it out"
        raise InvalidParameterError(message, name)
