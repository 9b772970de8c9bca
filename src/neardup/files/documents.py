"""Documents of files: their ids, their texts, and passes over them.

Ids are strings, or whole numbers of one type. They keep the type of their column, so that tables of
results can be joined with the input. Only whole numbers are integers; in CSV all values are text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from logging import getLogger
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, option_name
from neardup.files.problems import id_advice
from neardup.files.rows import DEFAULT_ID, ColumnNames, RowBlock, Source
from neardup.kernels.common import hashing
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, Texts, Uint64s, with_wide_offsets

if TYPE_CHECKING:
    from neardup.runs.work import Workspace


def choose_id_column(columns: ColumnNames, sources: Iterable[Source]) -> ColumnNames:
    """Return the columns with ``id`` if all sources have it.

    A named column stays. Without a column, the labels of a data frame are its ids. Sources without
    rows do not count. Files are opened to read their first rows.
    """
    if columns.id is not None or not columns.id_is_default:
        return columns
    has_rows = False
    for source in sources:
        names = source.column_names()
        is_text = DEFAULT_ID in columns.texts
        if names is not None and (is_text or list(names).count(DEFAULT_ID) != 1):
            return replace(columns, id=source.label_column())
        has_rows |= names is not None
    return replace(columns, id=DEFAULT_ID) if has_rows else columns


def other_ids(columns: ColumnNames) -> str:
    """Describe how to choose other ids, empty without a column."""
    if columns.id is None or columns.id_is_default:
        return id_advice(columns)
    return f"; name another column with {option_name(columns.id_option)}, or '' for <file>:<row>"


def common_id_type(types: Iterable[pa.DataType]) -> pa.DataType:
    """Return the type that ids of some types have together.

    One type of whole numbers stays; several are int64, which holds all of them but uint64. All
    else, and nothing, is large strings.
    """
    different = set(types)
    if not different or not all(map(pa.types.is_integer, different)):
        return pa.large_string()
    if len(different) == 1:
        return different.pop()
    return pa.large_string() if pa.uint64() in different else pa.int64()


def join_ids(parts: Sequence[pa.Array]) -> pa.Array:
    """Concatenate ids that are not all null, with their common type."""
    kind = common_id_type(part.type for part in parts if part.null_count < len(part))
    cast = (
        pa.nulls(len(part), kind) if part.null_count == len(part) else part.cast(kind)
        for part in parts
    )
    return pa.concat_arrays([pa.array([], kind), *cast])


def as_text(ids: pa.Array) -> pa.Array:
    """Return ids as large strings."""
    return ids.cast(pa.large_string())


def check_unique(
    ids: Iterable[pa.Array], place: Callable[[int], tuple[str, int]], columns: ColumnNames
) -> None:
    """Raise if an id occurs twice. Memory is 8 bytes per id."""
    parts = [hash_ids(as_text(part.drop_null())) for part in ids]
    hashes = np.concatenate([np.empty(0, np.uint64), *parts])
    hashes.sort()
    repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    # Ids of equal hashes are nearly always equal, but must be compared.
    seen: dict[str, int] = {}
    first = 0
    for part in ids if len(repeated) else ():
        is_null = part.is_null().to_numpy(zero_copy_only=False)
        suspects = np.isin(hash_ids(as_text(part)), repeated) & ~is_null
        for i in np.flatnonzero(suspects).tolist():
            identifier = part[i].as_py()
            # A number is the same id in text.
            earlier = seen.setdefault(str(identifier), first + i)
            if earlier != first + i:
                (path, row), (file, earlier_row) = place(first + i), place(earlier)
                message = (
                    f"id {identifier!r} was used before, in {file}, row {earlier_row}; ids must "
                    f"differ{other_ids(columns)}"
                )
                raise InvalidInputError(message, path=path, row=row)
        first += len(part)


# Finding documents by their ids.


class IdTable:
    """Lookup of rows by id. Ids are large strings; memory is 16 bytes per row."""

    def __init__(self, ids: pa.Array) -> None:
        hashes = hash_ids(ids)
        self._ids = ids
        self._rows: Int64s = len(ids) - 1 - np.argsort(hashes[::-1], kind="stable")
        self._hashes = hashes[self._rows]

    def find(self, wanted: pa.Array) -> Int64s:
        """Return the last row of each id, -1 if missing."""
        hashes = hash_ids(wanted)
        found: Int64s = np.full(len(wanted), -1, np.int64)
        places = np.searchsorted(self._hashes, hashes)
        sought = np.arange(len(wanted))
        # Different ids may have one hash: one that is not there yet may be the next one.
        while len(sought):
            may_be = places < len(self._hashes)
            may_be[may_be] = self._hashes[places[may_be]] == hashes[sought[may_be]]
            sought, places = sought[may_be], places[may_be]
            rows = self._rows[places]
            is_same = pc.equal(self._ids.take(pa.array(rows)), wanted.take(pa.array(sought)))
            is_same = is_same.to_numpy(zero_copy_only=False)
            found[sought[is_same]] = rows[is_same]
            sought, places = sought[~is_same], places[~is_same] + 1
        return found


def hash_ids(ids: pa.Array) -> Uint64s:
    """Return hashes of large strings, with nulls as empty strings."""
    texts = Texts.from_arrow(ids)
    hashes: Uint64s = np.empty(len(texts), np.uint64)
    hashing.hash_strings(texts.data, texts.offsets, hashes)
    return hashes


# Texts and ids of the rows of a block, bad ones left out.


@dataclass(frozen=True)
class TextBlock:
    """Some documents in input order.

    Texts are large strings, ids large strings or integers, all without nulls.

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
    source: Source,
    block: RowBlock,
    columns: ColumnNames,
    *,
    skip_bad: bool,
    select: Bools | None = None,
) -> TextBlock:
    """Parse the texts and ids of a block, or of selected rows."""
    parsed = block.parse(columns, select=select, skip_bad=skip_bad)
    numbers = block.numbers if select is None else block.numbers[select]
    texts, ids = parsed.text, parsed.id
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

_log = getLogger(__name__)


def name_remedy(error: InvalidInputError, source: Source) -> InvalidInputError:
    """Add the path of a source to an error, or the remedy of skipping bad rows."""
    reason = error.reason_in_both
    if error.path is None and error.row is None and source.origin is not None:
        return InvalidInputError(reason, path=source.origin)
    if not error.is_bad_row or not error.row:
        return error
    remedy = "skip bad rows with on_error='skip' (--on-error skip)"
    if error.row == 1:
        # If the first row is bad, all rows may be, because of a wrong column or format. The remedy
        # is wrong then, unless the reason is a value in a column, and names no option itself.
        is_about_value = reason.removeprefix("row 1: ").startswith("column")
        if not is_about_value or "(--" in reason:
            return error
        remedy = f"name another column, or {remedy}"
    message = f"{reason}; {remedy}"
    return InvalidInputError(message, path=error.path, row=error.row, is_bad_row=True)


class ReadingPass:
    """A single pass over sources in order, with progress.

    Progress counts stored bytes, also of compressed files, because only these are known beforehand.
    Their number is not known for URLs.

    With ``waits``, a block counts as done at ``finish``: several are in work at a time.
    """

    def __init__(
        self, stage: str, sources: Sequence[Source], runner: Runner, *, waits: bool = False
    ) -> None:
        self._stage, self._runner, self._waits = stage, runner, waits
        sizes = [source.size for source in sources]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        # Bytes of all sources: start and end of the blocks whose results are not complete yet.
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
            # If a later source has blocks done, this source is complete.
            for block in () if any(done[i + 1 :]) else islice(source.blocks(), n_done, None):
                stop = start + block.end
                yield i, block, stop
            start = stop if source.size is None else start + source.size

    def _report(self, done: int) -> None:
        # A file may have grown since its size was asked for.
        done = done if self._total is None else min(done, self._total)
        if done != self._reported:
            self._reported = done
            self._runner.report(self._stage, done, self._total)


def keep_extracted(workspace: Workspace, *collections: Sequence[Source]) -> None:
    """Store extracted texts of some collections, extracting each row once."""
    files = [file for sources in collections for source in sources for file in source.files]
    extracting = [file for file in files if file.extracts_text]
    if extracting:
        # Loads more than a job without such files needs.
        from neardup.files.plain import ExtractedTexts

        texts = ExtractedTexts(workspace)
        for file in extracting:
            file.kept_texts = texts
