"""Similar passages to cut, found by alignment, located in texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.engine.engine import Change, Engine, Read
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.plan import (
    CutJobPlan,
    CutSpans,
    count_documents,
    join_spans,
    keep_order,
    read_collections,
    spans_in,
    take_out,
)
from neardup.passages.cutting import PassageCutter, RemovedPassages
from neardup.passages.lookup import LookUp
from neardup.passages.matches import character_spans, group_overlapping
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import OfTexts, read_texts, text_has_changed
from neardup.reading.sign import ListedBlock, ReadingPlan, hash_tokens, listed
from neardup.runs.exchange import GrowingArray
from neardup.runs.runner import Runner
from neardup.runs.work import WorkFolder, Workspace
from neardup.tables import Bools, Int64s, Texts, TokenLists, TokenSpans, offsets_of
from neardup.text.tokenizers import Tokenizer


class Located(NamedTuple):
    """Character positions of passages, with and without surrounding text."""

    starts: Int64s
    stops: Int64s
    wide_starts: Int64s
    wide_stops: Int64s


# Reads documents again by ascending numbers in both collections, and yields a function's results in
# order.
ReadAgain = Callable[[Int64s, OfTexts[Any]], Iterator[Any]]


@dataclass(frozen=True)
class _Locate:
    """Locate passages in texts, from their token positions by document.

    Document k has ``n_tokens[k]`` tokens, and its passages are rows ``bounds[k]`` to ``bounds[k +
    1]``; those that ``are_wide`` include surrounding text to cut.
    """

    tokenizer: Tokenizer
    n_tokens: Int64s
    bounds: Int64s
    starts: Int64s
    stops: Int64s
    are_wide: Bools

    def part(self, first: int, behind: int) -> _Locate:
        bounds = self.bounds[first : behind + 1]
        rows = slice(bounds[0], bounds[-1])
        return _Locate(
            self.tokenizer,
            self.n_tokens[first:behind],
            bounds - bounds[0],
            self.starts[rows],
            self.stops[rows],
            self.are_wide[rows],
        )

    def __call__(self, texts: Texts, places: Int64s, name: str) -> Located:
        tokens, spans = self.tokenizer.locate_tokens(texts)
        if not np.array_equal(np.diff(tokens.offsets), self.n_tokens[places]):
            raise text_has_changed(name)
        counts = self.bounds[places + 1] - self.bounds[places]
        which = np.repeat(np.arange(len(places)), counts)
        firsts = self.bounds[places] - (np.cumsum(counts) - counts)
        rows = firsts[which] + np.arange(len(which))
        first = tokens.offsets[which] + self.starts[rows]
        behind = tokens.offsets[which] + self.stops[rows]
        starts, stops = character_spans(
            texts.to_arrow(), which, spans.starts[first], spans.stops[behind - 1]
        )
        wide = np.flatnonzero(self.are_wide[rows])
        which = which[wide]
        edges = (first[wide], behind[wide], tokens.offsets[which], tokens.offsets[which + 1])
        n_left, n_right = _margins_of(texts, spans, which, edges)
        wide_starts, wide_stops = starts.copy(), stops.copy()
        wide_starts[wide] -= n_left
        wide_stops[wide] += n_right
        return Located(starts, stops, wide_starts, wide_stops)


def _margins_of(
    texts: Texts, spans: TokenSpans, which: Int64s, places: tuple[Int64s, ...]
) -> tuple[Int64s, Int64s]:
    """Return the margins of passages, each in the text ``which``.

    ``places`` are the numbers of its first and end token, and of the first and end token of its
    text.
    """
    first, behind, text_first, text_behind = places
    is_first, is_last = first == text_first, behind == text_behind
    # Text up to the neighbouring tokens, or to the ends of the text.
    before = np.where(is_first, 0, spans.stops[np.maximum(first - 1, 0)])
    after = spans.starts[np.minimum(behind, len(spans) - 1)]
    after = np.where(is_last, np.diff(texts.offsets)[which], after)
    base = texts.offsets[which]
    edges = np.stack([before, spans.starts[first], spans.stops[behind - 1], after]) + base
    data = texts.data.data
    found = [
        margins(str(data[a:b], "utf-8"), str(data[c:d], "utf-8"), is_first=at_start)
        for (a, b, c, d), at_start in zip(edges.T.tolist(), is_first.tolist(), strict=True)
    ]
    both = np.array(found, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@lru_cache(maxsize=4096)
def margins(left: str, right: str, *, is_first: bool) -> tuple[int, int]:
    """Return the number of characters to cut around a passage.

    ``left`` and ``right`` are the text between the passage and its neighbouring tokens, and
    ``is_first`` is whether the passage is the first in its text. Adjoining marks such as quotes and
    a full stop are cut with the passage, and so is the space after it, if there is one before it,
    too. Line breaks do not count as this space.
    """
    n_left = _marks_at_start(left[::-1])
    has_space = n_left < len(left) or is_first
    if not has_space:
        return 0, 0
    n_right = _marks_at_start(right)
    space = right[n_right : len(right) - len(right[n_right:].lstrip())]
    space_before = left[len(left[: len(left) - n_left].rstrip()) : len(left) - n_left]
    if "\n" not in space or "\n" in space_before or (is_first and not space_before):
        n_right += len(space)
    return n_left, n_right


def _marks_at_start(gap: str) -> int:
    return next((i for i, mark in enumerate(gap) if mark.isspace()), len(gap))


# Number of listed passages, and maximum characters of each text.
_LISTED, _EXCERPT = 20, 200


class Repeated(NamedTuple):
    """A repeated passage: its copies, their documents, and their characters.

    Copies are of one kept passage. ``document``, ``start`` and ``stop`` are from the first
    removed copy.
    """

    copies: int
    documents: int
    characters: int
    document: int
    start: int
    stop: int

    @staticmethod
    def most(found: Iterable[Repeated]) -> list[Repeated]:
        """Return the most repeated texts, ties by length, then order."""
        return nsmallest(
            _LISTED,
            found,
            key=lambda each: (-each.copies, -each.characters, each.document, each.start),
        )


class FoundSpans(NamedTuple):
    """Spans to cut from ``own``, with copies in either collection.

    ``most`` are the most repeated ones, None if not counted. ``change`` cuts the spans, and
    ``change.gathered`` are these spans, as of ``Spans``.
    """

    other: Catalogue
    own: Catalogue
    most: list[Repeated] | None
    change: Change


def change_of(own: Catalogue, spans: CutSpans, plan: CutJobPlan) -> Change:
    """Return the change that cuts spans from blocks of documents."""
    apply = partial(take_out, own.columns.texts, plan.options.replacement)
    return Change(spans, apply, join_spans, spans_in)


def count_repeated(spans: CutSpans, groups: Int64s) -> list[Repeated]:
    """Return the most repeated spans, given each kept copy's group."""
    if not len(spans):
        return []
    counts = np.bincount(groups)
    sizes = np.bincount(groups, spans.stops - spans.starts).astype(np.int64)
    first_rows = np.full(len(counts), len(spans), np.int64)
    first_rows[groups[::-1]] = np.arange(len(spans))[::-1]
    # Ties at the last listed count are broken by text and position.
    least = np.partition(counts, -_LISTED)[-_LISTED] if len(counts) > _LISTED else 1
    most = np.flatnonzero(counts >= max(1, least))
    most = most[np.lexsort((first_rows[most], -sizes[most], -counts[most]))][:_LISTED]
    places = np.full(len(counts), -1, np.int64)
    places[most] = np.arange(len(most))
    rows = np.flatnonzero(places[groups] >= 0)
    n_documents = count_documents(places[groups[rows]], spans.documents[rows], len(most))
    first = spans.take(first_rows[most])
    columns = (counts[most], n_documents, sizes[most], first.documents, first.starts, first.stops)
    return [Repeated(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


def most_repeated(spans: CutSpans) -> list[Repeated]:
    """Return the most frequently cut passages, joining overlapping kept passages."""
    groups = group_overlapping(spans.kept_documents, spans.kept_starts, spans.kept_stops)
    return count_repeated(spans, groups)


def describe_repeated(
    own: Catalogue, found: Sequence[Repeated], plan: ReadingPlan, runner: Runner
) -> list[dict[str, Any]]:
    """Describe passages, with the start of the first removed copy."""
    if not found:
        return []
    return [
        {
            "copies": each.copies,
            "documents": each.documents,
            "characters": each.characters,
            "text": text,
        }
        for each, text in zip(found, _excerpts(own, found, plan, runner), strict=True)
    ]


def _excerpts(
    own: Catalogue, passages: Sequence[Repeated], plan: ReadingPlan, runner: Runner
) -> list[str]:
    found = [""] * len(passages)
    documents, rows_of = np.unique([each.document for each in passages], return_inverse=True)
    wanted: Int64s = np.full(len(own), -1, np.int64)
    wanted[documents] = np.arange(len(documents))

    def take(texts: Texts, places: Int64s, _: str) -> None:
        strings = texts.to_arrow()
        for k, place in enumerate(places.tolist()):
            text = strings[k].as_py()
            for row in np.flatnonzero(rows_of == place).tolist():
                start, stop = passages[row].start, passages[row].stop
                found[row] = text[start : min(stop, start + _EXCERPT)]

    for _ in read_texts([own], wanted, plan, runner, take):
        pass
    return found


# Tokens of all documents and marks of tokens that begin a character, with their shares of the
# memory.
_TOKEN, _HEAD = "token", "head"
_COLUMNS = {_TOKEN: (np.uint64, 0.5), _HEAD: (np.bool_, 0.06)}


def cut_passages(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the passages to remove because of a similar one."""
    with engine.stage("read") as note:
        read = engine.read(read_collections(sources, against, plan), _hash_block, "rows")
        other, own = read.catalogues
        sizes = [np.maximum(catalogue.n_tokens, 0) for catalogue in read.catalogues]
        columns = collect_columns(read, "tokens", _COLUMNS, engine.workspace)
        offsets = offsets_of(np.concatenate(sizes))
        tokens = TokenLists(columns[_TOKEN], offsets, columns[_HEAD])
        note(documents=len(own), tokens=len(tokens.values))
    with engine.stage("cut") as note:
        order = np.concatenate([np.arange(len(other)), len(other) + keep_order(own, plan.keep)])
        found = _find_similar(engine, tokens, order, len(other), plan)
        note(passages=len(found))
    with engine.stage("locate"):
        spans = locate_cuts(found, (other, own), plan, read.again)
    return FoundSpans(other, own, None, change_of(own, spans, plan))


def _hash_block(block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    """List the documents of a block, one row per token.

    If characters may have several tokens, rows mark tokens that begin one.
    """
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts, tokenizer = Texts.from_arrow(parsed.text, block.language), reading.shingles.tokenizer
    n_tokens, parts = hash_tokens(texts, tokenizer, with_heads=True)
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    columns: dict[str, Any] = {_TOKEN: values}
    if tokenizer.splits_characters:
        heads = np.concatenate([np.empty(0, np.bool_), *(part.heads for part in parts)])
        columns[_HEAD] = heads.view(np.uint8)
    rows = pa.RecordBatch.from_pydict(columns)
    return listed(block, parsed, n_tokens, reading, rows)


def collect_columns(
    read: Read,
    name: str,
    columns: Mapping[str, tuple[npt.DTypeLike, float]],
    workspace: Workspace,
) -> dict[str, Any]:
    """Return columns of all rows, in memory or mapped files.

    ``columns`` are their types, and their shares of the memory.
    """
    with ExitStack() as stack:
        growing = {
            column: stack.enter_context(
                GrowingArray(f"{name}-{column}", dtype, workspace, share=share)
            )
            for column, (dtype, share) in columns.items()
        }
        for _, [(_, batch)] in read.rows.collect("read"):
            assert batch is not None
            for column, values in growing.items():
                if column in batch.schema.names:
                    values.append(batch.column(column).to_numpy())
    return {column: values.array for column, values in growing.items()}


def _find_similar(
    engine: Engine, tokens: TokenLists, order: Int64s, n_other: int, plan: CutJobPlan
) -> RemovedPassages:
    assert plan.passages is not None
    assert plan.scheme is not None
    workspace = engine.workspace
    with workspace.passing_folder() as folder:
        # No later run resumes from the files of a lookup.
        work = None if workspace.work is None else WorkFolder.temporary(folder, "found")
        look_up = LookUp(
            plan.scheme,
            plan.passages.alignment.windows,
            plan.options.tokenizer,
            engine.runner,
            Workspace(workspace.memory, work),
            folder,
        )
        cutter = PassageCutter(tokens, order, n_other, plan.passages, look_up)
        return cutter.cut()


def locate_cuts(
    found: RemovedPassages,
    catalogues: tuple[Catalogue, Catalogue],
    plan: CutJobPlan,
    read_again: ReadAgain,
) -> CutSpans:
    """Convert tokens to characters, and widen cuts by adjoining space.

    Documents of both collections are numbered together, the other one first.
    """
    n = len(found)
    documents = np.concatenate([found.documents, found.kept_documents])
    starts = np.concatenate([found.starts, found.kept_starts])
    stops = np.concatenate([found.stops, found.kept_stops])
    n_tokens = np.concatenate([catalogue.n_tokens for catalogue in catalogues])
    order = np.argsort(documents, kind="stable")
    named, counts = np.unique(documents, return_counts=True)
    bounds, tokenizer = offsets_of(counts), plan.reading.shingles.tokenizer
    # Cut passages get wide positions, kept copies do not.
    locate = _Locate(tokenizer, n_tokens[named], bounds, starts[order], stops[order], order < n)
    parts = [np.empty((4, 0), np.int64)]
    parts += [np.stack(located_part) for located_part in read_again(named, locate)]
    columns = np.empty((4, len(order)), np.int64)
    columns[:, order] = np.concatenate(parts, axis=1)
    located = Located(*columns)
    return CutSpans(
        found.documents - len(catalogues[0]),
        located.wide_starts[:n],
        located.wide_stops[:n],
        found.kept_documents,
        located.starts[n:],
        located.stops[n:],
        found.similarities,
    ).in_order()
