"""Queries looked up in the other collection, whoever does it: what is asked, and what is found.

``in_threads`` looks up some queries at a time in all of the index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from neardup.files.passes import ReadingPass
from neardup.files.rows import Source
from neardup.jobs.align.other import Made, NewDocuments, Other, open_other
from neardup.options.passages import AlignOptions
from neardup.passages.additions import gather
from neardup.passages.align import Aligner, AlignmentPlan
from neardup.passages.document_pairs import Extents, HiddenText, extents_of
from neardup.passages.documents import PassageReading, read_documents
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import Later, WindowCounts, tokens_at_a_time, within_memory
from neardup.passages.matches import match_table
from neardup.passages.places import Placer
from neardup.passages.scheme import PassageScheme
from neardup.results import SkippedRow
from neardup.runs.runner import Runner, release_memory
from neardup.runs.work import Workspace
from neardup.tables import Int64s


@dataclass(frozen=True)
class Asked:
    """The queries of an alignment, what they are looked up in, and what is asked of it.

    With ``is_one`` they are the other collection themselves. ``hidden`` text counts nowhere.
    ``placer`` names the beginnings of passages, if they are wanted.
    """

    sources: Sequence[Source]
    read: PassageReading
    other: Other
    options: AlignOptions
    hidden: HiddenText | None
    placer: Placer | None

    @property
    def is_one(self) -> bool:
        """Whether there is one collection alone."""
        return isinstance(self.other, NewDocuments) and self.other.is_input


@dataclass(frozen=True)
class Aligned:
    """Some queries in the order of the input, and what they share with the other collection.

    ``sizes`` are their numbers of tokens, beside which ``n_ignored`` were left out. ``places`` are
    rows of query, its first token, document, its first token, all counted through the collections;
    there are ``extents`` where somebody wants pairs of documents.
    """

    sizes: Int64s
    id_type: pa.DataType
    passages: pa.Table
    places: Int64s
    extents: Extents | None
    n_ignored: int = 0
    skipped: Sequence[SkippedRow] = ()


@dataclass
class LookUp(ABC):
    """The other collection, ready to be looked up: its scheme, its documents, and the counts.

    ``sizes`` are the numbers of tokens of the documents that can be found.
    """

    scheme: PassageScheme
    sizes: Int64s
    id_type: pa.DataType
    made: Made
    counts: WindowCounts = field(default_factory=WindowCounts, init=False)

    @abstractmethod
    def find(self, plan: AlignmentPlan) -> Iterator[Aligned]:
        """Yield all queries, some at a time; the counts are right when the last have come."""


# Makes it ready for as long as a block lasts.
OpenLookUp = Callable[[Asked, Workspace, Runner], AbstractContextManager[LookUp]]


@contextmanager
def in_threads(asked: Asked, workspace: Workspace, runner: Runner) -> Iterator[LookUp]:
    """Open or make an index, to look queries up in threads."""
    with open_other(asked.other, workspace, runner) as (index, made):
        yield _InThreads(index, made, asked, workspace, runner)


class _InThreads(LookUp):
    """Looks queries up in threads."""

    def __init__(
        self,
        index: OpenPassages,
        made: Made,
        asked: Asked,
        workspace: Workspace,
        runner: Runner,
    ) -> None:
        super().__init__(index.scheme, index.document_sizes(), index.id_type, made)
        self._index, self._asked = within_memory(index, workspace), asked
        self._workspace, self._runner = workspace, runner

    def find(self, plan: AlignmentPlan) -> Iterator[Aligned]:
        """Look up some blocks of queries at a time."""
        index, asked, runner, options = self._index, self._asked, self._runner, self._asked.options
        aligner = Aligner(index, plan, self._workspace, runner)
        self.counts = aligner.counts
        n_queries = 0
        reading = ReadingPass("align", asked.sources, runner, waits=True)
        blocks = read_documents(asked.sources, index.scheme.tokenizer, asked.read, reading)
        for block in gather(blocks, tokens_at_a_time([index], self._workspace, runner)):
            numbers = np.arange(n_queries, n_queries + len(block))
            later = later_than(numbers, options) if asked.is_one else None
            matches = aligner.align(block.tokens, reading.within, later)
            passages = match_table(
                matches, block, index, with_text=options.with_text, placer=asked.placer
            )
            columns = (
                numbers[matches.queries],
                matches.query_starts,
                matches.documents,
                matches.starts,
            )
            extents = None
            if options.summary is not None:
                extents = extents_of(matches, passages, block, index, asked.hidden)
            yield Aligned(
                np.diff(block.tokens.offsets),
                block.ids.type,
                passages,
                np.stack(columns, axis=1),
                extents,
                block.n_ignored,
                block.skipped,
            )
            n_queries += len(block)
            reading.finish()
            # Before the next ones are put together.
            del block, matches, passages, extents
            if index.gives_back:
                release_memory()


def later_than(own: Int64s, options: AlignOptions) -> Later:
    """Return what documents of a collection find in it: later ones, themselves, too, or others.

    ``own`` are their numbers, below 0 for one that stands before all that are looked through.
    """
    nobody = np.zeros(len(own), np.bool_)
    if options.most_times:
        # That one is contained in another does not say that this is in it.
        return Later(own, nobody, finds_before=True)
    firsts = np.maximum(own if options.within else own + 1, 0)
    return Later(firsts, own >= 0 if options.within else nobody)
