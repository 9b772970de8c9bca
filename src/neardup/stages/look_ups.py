"""What it takes to look documents up in an index, told from look-ups of some of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.documents.index import OpenDocuments
from neardup.documents.lookup import Hits, look_up
from neardup.documents.segment import DocumentSegment
from neardup.files.ids import choose_id_column
from neardup.files.rows import ColumnNames, Source
from neardup.matching.measures import Measure
from neardup.passages.additions import BYTES_OF_TOKEN
from neardup.passages.documents import PassageReading
from neardup.passages.index import OpenPassages
from neardup.passages.index_size import INDEX_SECONDS, OF_QUERY, IndexSize, bounds_of_parts
from neardup.passages.lookup import (
    FILES_SHARE,
    QUERIES_SHARE,
    SEARCH_SHARE,
    WAITING_SHARE,
    within_memory,
)
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.bench import try_queries
from neardup.stages.forecasts import (
    PROCESS,
    Between,
    Planned,
    Spread,
    StageForecast,
    StagesForecast,
)
from neardup.tables import Int64s

# In an index of documents.

# Bytes of a token of a block that is looked up, with its shingle, which is hashed and sorted; of a
# document that is found, with both ids, while those of a block are put together, and as it stays;
# and of its row in the table.
_OF_TOKEN, _TOGETHER, _MATCH, _ROW = 40, 300, 90, 20
# On Spark: bytes of a document that is looked up, and of one that is found, as they are packed.
_ASKED, _FOUND = 12, 20


@dataclass(frozen=True)
class DocumentLookUp:
    """Documents that are looked up in an index: what is asked of it, and what of it is kept.

    Of hits those stay that ``keep`` returns. They are in memory, or in a ``share`` of it, and
    beyond that in files. ``opening`` are the seconds in which the index was opened.
    """

    index: OpenDocuments
    sources: Sequence[Source]
    columns: ColumnNames
    measure: Measure
    skip_bad: bool
    opening: float
    keep: Callable[[Hits], Hits] | None = None
    share: float | None = None

    def forecast(
        self, stage: str, results: str, runner: Runner, planned: Planned
    ) -> StagesForecast:
        """Tell what it would take of a sample of the documents.

        Some of them are looked up for trial. ``stage`` is what the look-up is called, ``results``
        what it finds.
        """
        index, columns = self.index, choose_id_column(self.columns, self.sources)
        tokenizer = index.scheme.shingles.tokenizer
        drawn = draw_tokens(self.sources, columns, self.skip_bad, tokenizer, runner)
        read = PassageReading(columns, self.skip_bad)
        ready = self._make_ready(drawn.rows.n_documents)

        def count(sources: Sequence[Source]) -> Iterator[Int64s]:
            skip_bad = self.skip_bad
            with Runner(planned.workers) as runner:
                for found in look_up(
                    index, sources, columns, self.measure, runner, skip_bad=skip_bad
                ):
                    hits = found.hits if self.keep is None else self.keep(found.hits)
                    index.ids_of(hits.documents)
                    yield np.bincount(hits.queries, minlength=len(found.n_tokens))

        tried = try_queries(drawn, read, count, are_alone=False)
        work = tried.seconds.plus(ready + tried.ready)
        n_found = round(tried.results.number)
        kept = _MATCH * n_found
        files = 0 if self.share is None else planned.spilled(kept, self.share)
        blocks = drawn.under_way(planned.workers, of_token=_OF_TOKEN, more=_TOGETHER * n_found)
        reading = drawn.rows.reading
        n_parts = 1 if planned.executors is None else planned.executors.tasks
        stages = [
            open_stage(self.opening),
            StageForecast(
                stage,
                int(PROCESS + blocks + self._touched(tried.share) + kept - files),
                files,
                max(reading, (reading + work.number) / planned.workers),
                "blocks that are looked up, what is read of the index, and found",
                Spread(
                    reading,
                    # Each task opens the index, and makes it ready.
                    tried.seconds.number + (self.opening + ready + tried.ready) * n_parts,
                    stored=_ASKED * drawn.rows.n_documents + _FOUND * n_found,
                    met=drawn.under_way(1, of_token=_OF_TOKEN) * n_parts,
                    parts=n_parts,
                    held=kept - files,
                    files=files,
                    jobs=2,
                ),
            ),
        ]
        counts = {"tokens": round(drawn.tokens), results: n_found}
        return StagesForecast.of(
            [drawn],
            planned,
            stages,
            counts,
            n_found * _ROW,
            self.sources,
            between=told_between(results, tried.results, work, stages, planned),
        )

    def _make_ready(self, n_queries: int) -> float:
        """Check the keys of those segments in which so many queries touch nearly all.

        Returns the seconds of one core that this took. Few queries would be told to take longer
        each, for of what they touch nothing has been checked.
        """
        start = time.process_time()
        for segment in self._segments():
            if n_queries * self.index.scheme.banding.bands > len(segment.lists.pages.is_checked):
                segment.lists.pages.check_all()
        return time.process_time() - start

    def _touched(self, share: float) -> float:
        """Return the bytes that all queries touch, of which a share has been looked up.

        They are mapped, and in memory then.
        """
        n_bytes = 0.0
        for pages in (each for segment in self._segments() for each in segment.all_pages()):
            touched = float(pages.is_checked.mean()) if len(pages.is_checked) else 0.0
            n_bytes += pages.array.nbytes * min(1.0, touched / share if share else 0.0)
        return n_bytes

    def _segments(self) -> list[DocumentSegment]:
        # Others are in memory.
        return [each for each in self.index.segments if isinstance(each, DocumentSegment)]


# In an index of passages.

# Bytes of a token of a block that is looked up, and of a passage that is found.
OF_TOKEN, PASSAGE = 80, 150
# On Spark: bytes of a token of a segment that is kept beside the text; of one of a query on its
# way, with what there is to tell of different ones; and of a passage.
_KEPT, _SENT, _PACKED = 5, 4, 90
# Bytes of a mapped file that come into memory with those that are touched, on Linux.
_AROUND = 1 << 16


def passages_looked_up(
    stage: str,
    queries: DrawnTokens,
    blocks: float,
    index: IndexSize,
    planned: Planned,
    *,
    seconds: float,
    passages: float,
    waiting: float,
    spread: Spread,
) -> StageForecast:
    """Tell what a look-up takes in memory and files.

    Parameters
    ----------
    stage
        What it is called.
    queries, blocks
        What is looked up, and the bytes of blocks that are under way.
    index
        What it is looked up in.
    planned
        What the job may use.
    seconds
        Those of one core.
    passages, waiting
        The number of passages found, and bytes of what waits of all queries until those of a part
        of them have been looked up in all segments.
    spread
        What executors have of it.
    """
    stored, searched = index.stored, index.searched
    # Texts are looked up in as many segments as fit, so many at a time.
    asked = 0 if index.fits else planned.within(queries.tokens * OF_QUERY, QUERIES_SHARE)
    # What is found for a part of the queries waits, which is a block where nothing is forgotten.
    parts = index.rounds(queries.tokens)
    if index.fits:
        parts = max(1.0, queries.bytes / max(1, queries.largest))
    return StageForecast(
        stage,
        int(
            PROCESS
            + blocks
            + PASSAGE * passages
            + max(index.largest, planned.within(searched, SEARCH_SHARE))
            + planned.within(stored, FILES_SHARE)
            + asked
            + planned.within(waiting / parts, WAITING_SHARE)
        ),
        int(index.files + planned.spilled(waiting / parts, WAITING_SHARE)),
        seconds / planned.workers,
        "segments that are searched, and what is looked up",
        spread,
    )


def kept_on_executors(
    drawn: Sequence[DrawnTokens], work: float, planned: Planned, held: float
) -> Spread:
    """Return what executors have of documents of which they make segments in so many seconds."""
    return Spread(
        sum(each.rows.reading for each in drawn),
        work,
        stored=sum(each.scaled(each.packed_texts) + _KEPT * each.tokens for each in drawn),
        rows=sum(each.bytes + _KEPT * each.tokens for each in drawn),
        met=BYTES_OF_TOKEN * sum(each.tokens for each in drawn),
        parts=0 if planned.executors is None else planned.executors.tasks,
        held=held,
        jobs=2 * len(drawn),
    )


def looked_up_on_executors(
    queries: DrawnTokens,
    work: float,
    searched: float,
    passages: float,
    n_parts: float,
    looked_in: float,
) -> Spread:
    """Return what executors have of a look-up in parts, each of which a task has.

    A text is looked up in ``looked_in`` of them, in the mean.
    """
    return Spread(
        work=work,
        sent=queries.tokens * _SENT * looked_in + passages * _PACKED,
        stored=passages * _PACKED,
        met=searched,
        parts=n_parts,
        held=PASSAGE * passages,
        jobs=4,
    )


# Looks the documents of some sources up in an index, and yields of some of them at a time how many
# passages each has, and how many rows all of these have while they wait.
LookUpPassages = Callable[
    [OpenPassages, Sequence[Source], Workspace, Runner], Iterator[tuple[Int64s, int]]
]


@dataclass(frozen=True)
class PassageLookUp:
    """Documents that are looked up in an index of passages that is there.

    ``look_up`` is who does it, each of whose rows takes so many bytes while it ``waits``. A ``row``
    of the table has so many. ``opening`` are the seconds in which the index was opened. With
    ``has_hits`` it looks at the min-hashes of windows.
    """

    index: OpenPassages
    sources: Sequence[Source]
    read: PassageReading
    opening: float
    look_up: LookUpPassages
    waits: int
    row: int
    has_hits: bool

    def forecast(self, stage: str, runner: Runner, planned: Planned) -> StagesForecast:
        """Tell what it would take of a sample of the documents, some of which are looked up."""
        index, read = self.index, self.read
        tokenizer = index.scheme.tokenizer
        drawn = draw_tokens(self.sources, read.columns, read.skip_bad, tokenizer, runner)
        size = IndexSize.of(index, planned.memory, planned.workers)
        workspace = Workspace(planned.memory)
        searched = within_memory(index, workspace)
        # Documents, passages and rows of all trials.
        seen = np.zeros(3)

        def count(sources: Sequence[Source]) -> Iterator[Int64s]:
            with Runner(planned.workers) as runner:
                for counts, n_rows in self.look_up(searched, sources, workspace, runner):
                    seen[:] += len(counts), counts.sum(), n_rows
                    yield counts

        tried = try_queries(drawn, read, count, is_kept=size.fits)
        n_seen, n_found, n_rows = seen.tolist()
        passages = round(tried.results.number)
        waiting = n_rows * (
            passages / n_found if n_found else drawn.rows.n_documents / max(1.0, n_seen)
        )
        again = tried.ready_again * (size.rounds(drawn.tokens) - 1)
        # While one thread makes it ready the others wait.
        work = tried.seconds.plus(planned.workers * tried.ready + again)
        stages = [open_stage(self.opening)]
        n_parts = 1
        if planned.executors is not None:
            n_tokens = [record.n_tokens for record in index.manifest.segments]
            n_parts = len(bounds_of_parts(n_tokens, planned.executors.slots)) - 1
            making = drawn.scaled(drawn.tokenizing) + INDEX_SECONDS * drawn.tokens
            spread = kept_on_executors([drawn], making, planned, 0.0)
            stages.append(StageForecast("read", 0, 0, 0.0, "queries that are kept", spread))
        looked_up = passages_looked_up(
            stage,
            drawn,
            drawn.under_way(planned.workers, of_token=OF_TOKEN),
            replace(size, stored=self._touched(passages)),
            planned,
            seconds=work.number + drawn.rows.reading,
            passages=passages,
            waiting=self.waits * waiting,
            spread=looked_up_on_executors(
                drawn, work.number, size.searched, passages, n_parts, n_parts
            ),
        )
        stages.append(looked_up)
        counts = {"tokens": round(drawn.tokens), "passages": passages}
        between = told_between("passages", tried.results, work, stages, planned)
        return StagesForecast.of(
            [drawn], planned, stages, counts, passages * self.row, self.sources, between=between
        )

    def _touched(self, passages: float) -> float:
        """Return the bytes of files that look-ups touch, beside the tokens, which are searched.

        They are mapped, and in memory then: what tells the places of passages around each of them,
        and min-hashes, which may stand anywhere, as a whole.
        """
        segments = self.index.segments
        around = (
            sum(segment.texts.nbytes for segment in segments),
            sum(segment.gaps.nbytes for segment in segments),
            sum(segment.lengths.nbytes for segment in segments),
        )
        touched = sum(n * -np.expm1(-passages * _AROUND / n) for n in around if n)
        if self.has_hits:
            touched += sum(
                each.nbytes for segment in segments for each in vars(segment.windows).values()
            )
        return float(touched)


# Of either kind.


def open_stage(seconds: float) -> StageForecast:
    """Tell what it takes to open an index, which the driver does alone."""
    content = "checksums of the index"
    return StageForecast("open", PROCESS, 0, seconds, content, Spread(alone=seconds, jobs=0))


def told_between(
    results: str, number: Between, work: Between, stages: Sequence[StageForecast], planned: Planned
) -> dict[str, Between]:
    """Return what numbers lie between, for ``StagesForecast.of``.

    ``work`` are seconds of one core, which some of the stages have.
    """
    found = {results: number}
    if planned.executors is None:
        of_work = work.times(1 / planned.workers)
        known = sum(each.seconds for each in stages) - of_work.number
        found["seconds"] = of_work.plus(known)
    return found
