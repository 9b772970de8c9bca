"""Passes over files, with worker threads and progress in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from neardup.errors import InvalidInputError, option_name
from neardup.files.ids import join_ids
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.runs.progress import job_logger, size
from neardup.tables import Int64s, with_wide_offsets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace


def keep_extracted(workspace: Workspace, *collections: Sequence[Source]) -> None:
    """Store extracted texts of some collections, extracting each row once.

    Texts last as long as both the sources and the workspace.
    """
    files = [file for sources in collections for source in sources for file in source.files]
    extracting = [file for file in files if file.extracts_text]
    if extracting:
        # Loads more than a job without such files needs.
        from neardup.files.plain import ExtractedTexts

        texts = ExtractedTexts(workspace)
        for file in extracting:
            file.kept_texts = texts


# Texts and ids of the rows of a block, bad ones left out.


@dataclass(frozen=True)
class TextBlock:
    """Some documents in input order.

    Texts are large strings, ids large strings or integers, all without nulls. Texts that were read
    as bytes are large binaries.

    ``numbers`` are the row numbers of the documents, without ``skipped`` rows (source, row,
    reason). ``files`` are the files of joined texts, None without joined texts.
    """

    ids: pa.Array
    texts: pa.Array
    numbers: Int64s
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    files: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.ids)


def read_text_block(
    source: Source, block: RowBlock, columns: ColumnNames, *, skip_bad: bool
) -> TextBlock:
    """Parse the texts and ids of a block."""
    import pyarrow as pa

    parsed = block.parse(columns, skip_bad=skip_bad)
    texts, numbers, ids = parsed.text, block.numbers, parsed.id
    if texts.null_count:
        is_good = texts.is_valid()
        texts, numbers = texts.filter(is_good), numbers[is_good.to_numpy(zero_copy_only=False)]
        ids = None if ids is None else ids.filter(is_good)
    if ids is None:
        ids = source.default_ids(numbers)
    # A copy, because a block of rows may hold a whole file's other columns in memory.
    texts = pa.concat_arrays([with_wide_offsets(texts)])
    skipped = [(source.name, row, reason) for row, reason in parsed.skipped]
    return TextBlock(join_ids([ids]), texts, numbers, skipped, parsed.files)


R = TypeVar("R")

_log, _hints = job_logger(__name__), job_logger("neardup.hints")

ROW_FACTOR = 9
"""Bytes of memory that a job takes for each byte of a row."""


def name_remedy(error: InvalidInputError, source: Source) -> InvalidInputError:
    """Return an error with its path and any bad-row remedy."""
    if error.path is None and error.row is None and source.origin is not None:
        return InvalidInputError(error.reason_in_both, path=source.origin)
    # Where the first row is bad all may be, by a wrong column or format.
    if not error.is_bad_row or error.row in (None, 0, 1):
        return error
    message = f"{error.reason_in_both}; on_error='skip' (--on-error skip) leaves bad rows out"
    return InvalidInputError(message, path=error.path, row=error.row, is_bad_row=True)


class ReadingPass:
    """A single pass over sources in order, with progress.

    Progress counts stored bytes, also of compressed files, because only these are known beforehand.
    Their number is not known for URLs.

    Parameters
    ----------
    stage
        Name of the stage in progress.
    sources
        All sources of the pass.
    runner
        Does the work.
    waits
        Whether blocks count as done at ``finish``, and not at the next block: several are in work
        at a time.
    """

    def __init__(
        self, stage: str, sources: Sequence[Source], runner: Runner, *, waits: bool = False
    ) -> None:
        self._stage, self._runner, self._waits = stage, runner, waits
        sizes = [source.size for source in sources]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        # Where the block that is out begins and ends, or all that are, in bytes of all sources.
        self._start = self._stop = 0
        self._reported = -1

    def map(
        self,
        function: Callable[[Source, RowBlock], R],
        sources: Sequence[Source],
        done: Sequence[int] = (),
    ) -> Iterator[tuple[int, R]]:
        """Apply a function to the next sources' blocks, in threads.

        Yields the number of each block's source among these, and the result, in the order of the
        blocks. Blocks that an earlier run has ``done``, so many of each source, are passed over.
        """

        def work(item: tuple[int, RowBlock, int]) -> tuple[int, R, int]:
            i, block, stop = item
            source = sources[i]
            try:
                result = function(source, block)
            except InvalidInputError as error:
                raise name_remedy(error, source) from None
            # The rows of some formats are known only now.
            self._note_large_row(source, block)
            return i, result, stop

        end = self._stop
        for source in sources:
            end += source.size or 0
        for i, result, stop in self._runner.map(work, self._blocks(sources, done)):
            self._stop = stop
            yield i, result
            if not self._waits:
                self.finish()
        self._stop = max(self._stop, end)
        if sources and not self._waits:
            self.finish()

    def finish(self) -> None:
        """Report that all blocks that are out are done."""
        self._start = self._stop
        self._report(self._stop)

    @property
    def share_done(self) -> float | None:
        """The share of bytes through the current block, or None."""
        return self._stop / self._total if self._total else None

    def within(self, share: float) -> None:
        """Report a share of work on the current blocks."""
        self._report(self._start + int(share * (self._stop - self._start)))

    def _blocks(
        self, sources: Sequence[Source], done: Sequence[int]
    ) -> Iterator[tuple[int, RowBlock, int]]:
        """Yield each block with its source number and end byte."""
        start = self._stop
        for i, source in enumerate(sources):
            stop = start
            _log.debug("%s: %s, %s bytes", self._stage, source.origin or source.name, source.size)
            n_done = done[i] if done else 0
            # Of a source that is followed by one that was begun all blocks are done.
            for block in () if any(done[i + 1 :]) else islice(source.blocks(), n_done, None):
                stop = start + block.end
                self._note_large_row(source, block)
                yield i, block, stop
            start = stop if source.size is None else start + source.size

    def _note_large_row(self, source: Source, block: RowBlock) -> None:
        """Log once that a row exceeds the memory limit."""
        runner, (n_bytes, row) = self._runner, block.largest_row()
        needed = ROW_FACTOR * n_bytes
        if runner.memory is None or needed <= runner.memory:
            return
        note = (
            f"{source.origin or source.name}, row {row} has {size(n_bytes)} and needs about "
            f"{size(needed)}, more than the {size(runner.memory)} of {option_name('memory')}; it "
            "is read all the same"
        )
        if runner.notes.setdefault("large_row", note) is note:
            _hints.info(note)

    def _report(self, done: int) -> None:
        # A file may have grown since its size was asked for.
        done = done if self._total is None else min(done, self._total)
        if done != self._reported:
            self._reported = done
            self._runner.report(self._stage, done, self._total)
