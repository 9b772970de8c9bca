"""Passages that go: similar ones by alignment, equal ones by hashes of their tokens.

They are located in their texts, and what was repeated most is kept for the report of the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.engine.engine import Change, Engine, Read
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import (
    CutSpans,
    Spans,
    count_documents,
    join_spans,
    keep_order,
    read_collections,
    spans_in,
    take_out,
)
from neardup.passages.cutting import PassageCutter, RemovedPassages
from neardup.passages.growing import LookUp
from neardup.passages.matches import character_spans, group_overlapping
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import OfTexts, read_texts, text_has_changed
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import hash_tokens
from neardup.runs.arrays import GrowingArray
from neardup.runs.runner import Runner
from neardup.runs.work import WorkFolder, Workspace
from neardup.tables import Bools, Int64s, Texts, TokenLists, TokenSpans, offsets_of
from neardup.text.tokenizers import Tokenizer


class Located(NamedTuple):
    """Characters of passages; ``wide`` ones with what has no place in the text without them."""

    starts: Int64s
    stops: Int64s
    wide_starts: Int64s
    wide_stops: Int64s


# Reads documents again, given their numbers in both collections, which ascend, and yields what is
# made of them, in their order.
ReadAgain = Callable[[Int64s, OfTexts[Any]], Iterator[Any]]


if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class _Locate:
    """Finds passages in the texts of their documents: which, in tokens, by document.

    The passages of document k, which has ``n_tokens[k]``, are rows ``bounds[k]`` to
    ``bounds[k + 1]``; those that ``are_wide`` go, with what has no place without them.
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
        """Return the characters of the passages of some documents, in order."""
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


def locate_passages(
    tokenizer: Tokenizer,
    n_tokens: Int64s,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    n_wide: int,
    read_again: ReadAgain,
) -> Located:
    """Read documents again and find where their passages stand.

    Parameters
    ----------
    tokenizer
        Cuts texts into tokens.
    n_tokens
        Of each document of both collections how many it had.
    documents, starts, stops
        Of each passage its document, first token, and the one behind its last (n,).
    n_wide
        Of so many of them, the first ones, it is also found what goes with them.
    read_again
        Reads documents.
    """
    order = np.argsort(documents, kind="stable")
    named, counts = np.unique(documents, return_counts=True)
    bounds = offsets_of(counts)
    locate = _Locate(
        tokenizer, n_tokens[named], bounds, starts[order], stops[order], order < n_wide
    )
    found = [np.empty((4, 0), np.int64)]
    found += [np.stack(located) for located in read_again(named, locate)]
    in_order = np.concatenate(found, axis=1)
    # As they were given.
    located = np.empty_like(in_order)
    located[:, order] = in_order
    return Located(*located)


def _margins_of(
    texts: Texts, spans: TokenSpans, which: Int64s, places: tuple[Int64s, ...]
) -> tuple[Int64s, Int64s]:
    """Return the margins of passages, each in the text ``which``.

    ``places`` are the numbers of its first token and of the one behind it, and those of the first
    token of its text and of the one behind that.
    """
    first, behind, text_first, text_behind = places
    is_first, is_last = first == text_first, behind == text_behind
    # What is between the tokens around it; the ends of the text where there is none.
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
    """Return how many characters before and behind a passage go with it.

    Parameters
    ----------
    left, right
        What stands between the passage and the tokens around it.
    is_first
        No token stands before it.

    Notes
    -----
    Marks that adjoin the passage go with it, such as quotes and a full stop, and the space behind
    it, if there is one before it, too. A break of the line is not taken for a space that is none.
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
    """Count the characters before the first space."""
    return next((i for i, mark in enumerate(gap) if mark.isspace()), len(gap))


# How many are listed, and how much of the text of each.
_LISTED, _EXCERPT = 20, 200


class Repeated(NamedTuple):
    """What stays for others that go, and is counted: copies, their documents, their characters.

    Copies are those of one passage that stays. ``document``, ``start`` and ``stop`` are those of
    the first copy that went.
    """

    copies: int
    documents: int
    characters: int
    document: int
    start: int
    stop: int

    @staticmethod
    def most(found: Iterable[Repeated]) -> list[Repeated]:
        """Return those of the most copies, then of the most text, then the first ones."""
        return nsmallest(
            _LISTED,
            found,
            key=lambda each: (-each.copies, -each.characters, each.document, each.start),
        )


class FoundSpans(NamedTuple):
    """What goes of a collection, ``own``, for what stays there or in the ``other`` one.

    ``most`` is repeated most of it, None if that has not been counted. ``change`` cuts it out.
    """

    other: Catalogue
    own: Catalogue
    spans: Spans
    most: list[Repeated] | None
    change: Change


def change_of(own: Catalogue, spans: CutSpans, plan: CutJobPlan) -> Change:
    """Return the change that cuts spans out of blocks of their documents."""
    apply = partial(take_out, own.columns.texts, plan.options.replacement)
    return Change(spans, apply, join_spans, spans_in)


def count_repeated(spans: CutSpans, groups: Int64s) -> list[Repeated]:
    """Return what is repeated most among some spans, given the number of what each goes for."""
    if not len(spans):
        return []
    counts = np.bincount(groups)
    sizes = np.bincount(groups, spans.stops - spans.starts).astype(np.int64)
    first_rows = np.full(len(counts), len(spans), np.int64)
    first_rows[groups[::-1]] = np.arange(len(spans))[::-1]
    # Among those of as many copies as the last one of these, text and place decide.
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
    """Return what went most often; passages that stay and overlap are one."""
    groups = group_overlapping(spans.kept_documents, spans.kept_starts, spans.kept_stops)
    return count_repeated(spans, groups)


def describe_repeated(
    own: Catalogue, found: Sequence[Repeated], plan: ReadingPlan, runner: Runner
) -> list[dict[str, Any]]:
    """Describe what went most often; ``text`` is the start of the first copy that went."""
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
    """Return the starts of some passages' texts."""
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

    for _ in read_texts([own], [wanted], plan, runner, take):
        pass
    return found


# Shares of the memory for the tokens of all documents, and for which of them begin a character.
_TOKENS_SHARE, _HEADS_SHARE = 0.5, 0.06

_TOKEN, _HEAD = "token", "head"


def cut_passages(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the passages that go for a similar one."""
    with engine.stage("read") as note:
        read = engine.read("rows", read_collections(sources, against, plan), _hash_block)
        other, own = read.catalogues
        tokens = _collect_tokens(engine, read)
        engine.release(read)
        note(documents=len(own), tokens=len(tokens.values))
    with engine.stage("cut") as note:
        order = np.concatenate([np.arange(len(other)), len(other) + keep_order(own, plan.keep)])
        found = _find_similar(engine, tokens, order, len(other), plan)
        note(passages=len(found))
    with engine.stage("locate"):
        spans = locate_cuts(found, (other, own), plan, partial(engine.read_again, read))
    return FoundSpans(other, own, spans, None, change_of(own, spans, plan))


def _hash_block(block: RowBlock, reading: ReadingPlan) -> tuple[ListedBlock, pa.RecordBatch]:
    """List the documents of a block, with a row for each of their tokens.

    Where a character may be several tokens, rows say whether one begins with the token.
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
    return listed(block, parsed, n_tokens, with_lengths=reading.with_lengths), rows


def _collect_tokens(engine: Engine, read: Read) -> TokenLists:
    """Return the tokens of all documents; memory 8 or 9 bytes each, or files that are mapped."""
    workspace = engine.workspace
    with (
        GrowingArray("tokens", np.uint64, workspace, share=_TOKENS_SHARE) as values,
        GrowingArray("heads", np.bool_, workspace, share=_HEADS_SHARE) as heads,
    ):
        for _, [(_, batch)] in engine.collect(read.rows, "read"):
            assert batch is not None
            values.append(numbers_of(batch, _TOKEN))
            if _HEAD in batch.schema.names:
                heads.append(batch.column(_HEAD).to_numpy())
    sizes = [np.maximum(catalogue.n_tokens, 0) for catalogue in read.catalogues]
    return TokenLists(values.array, offsets_of(np.concatenate(sizes)), heads.array)


def _find_similar(
    engine: Engine, tokens: TokenLists, order: Int64s, n_other: int, plan: CutJobPlan
) -> RemovedPassages:
    """Find passages that are similar to one that stays, going through documents in an order."""
    assert plan.passages is not None
    assert plan.scheme is not None
    workspace = engine.workspace
    with workspace.passing_folder() as folder:
        # No later run resumes from the files of a look-up.
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
    """Turn tokens into characters; what goes takes the space around it along.

    Documents of both collections are numbered together, the other one first.
    """
    n = len(found)
    located = locate_passages(
        plan.reading.shingles.tokenizer,
        np.concatenate([catalogue.n_tokens for catalogue in catalogues]),
        np.concatenate([found.documents, found.kept_documents]),
        np.concatenate([found.starts, found.kept_starts]),
        np.concatenate([found.stops, found.kept_stops]),
        n,
        read_again,
    )
    return CutSpans(
        found.documents - len(catalogues[0]),
        located.wide_starts[:n],
        located.wide_stops[:n],
        found.kept_documents,
        located.starts[n:],
        located.stops[n:],
        found.similarities,
    ).in_order()
