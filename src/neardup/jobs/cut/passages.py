"""Passages that go: similar ones by alignment, equal ones by hashes of their tokens.

They are located in their texts, and what was repeated most is kept for the report of the cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np

from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import Collections, CutSpans, count_documents
from neardup.passages.additions import index_tokens
from neardup.passages.cutting import PassageCutter, RemovedPassages
from neardup.passages.matches import character_spans, group_overlapping
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import read_texts, text_has_changed
from neardup.reading.sign import ReadingPlan
from neardup.runs.runner import Runner
from neardup.runs.work import WorkFolder, Workspace
from neardup.tables import Int64s, Texts, TokenSpans


@dataclass(frozen=True)
class Located:
    """Characters of passages; ``wide`` ones with what has no place in the text without them."""

    starts: Int64s
    stops: Int64s
    wide_starts: Int64s
    wide_stops: Int64s


@dataclass(frozen=True)
class _Wanted:
    """Passages to be located: which, in tokens, and how many tokens each document has.

    Documents are those that have a passage, numbered as they are ordered; the passages of document
    k are ``rows[bounds[k] : bounds[k + 1]]``.
    """

    starts: Int64s
    stops: Int64s
    rows: Int64s
    bounds: Int64s
    n_tokens: Int64s

    def rows_of(self, documents: Int64s) -> tuple[Int64s, Int64s]:
        """Return the passages of some documents, and for each the place of its document there."""
        counts = self.bounds[documents + 1] - self.bounds[documents]
        which = np.repeat(np.arange(len(documents)), counts)
        firsts = self.bounds[documents] - (np.cumsum(counts) - counts)
        return self.rows[firsts[which] + np.arange(len(which))], which


def locate_passages(
    catalogues: Sequence[Catalogue],
    plan: ReadingPlan,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    n_wide: int,
    runner: Runner,
) -> Located:
    """Read documents again and find where their passages stand.

    Parameters
    ----------
    catalogues
        The collections; their documents are numbered one collection after the other.
    plan
        How they were read.
    documents, starts, stops
        Of each passage its document, first token, and the one behind its last (n,).
    n_wide
        Of so many of them, the first ones, it is also found what goes with them.
    runner
        Does the work.
    """
    named, passages_of = np.unique(documents, return_inverse=True)
    places: Int64s = np.full(sum(map(len, catalogues)), -1, np.int64)
    places[named] = np.arange(len(named))
    sizes = [len(catalogue) for catalogue in catalogues]
    order = np.argsort(passages_of, kind="stable")
    wanted = _Wanted(
        starts,
        stops,
        order,
        np.searchsorted(passages_of[order], np.arange(len(named) + 1)),
        np.concatenate([catalogue.n_tokens for catalogue in catalogues])[named],
    )
    nothing = np.empty(n_wide, np.int64)
    located = Located(np.empty_like(starts), np.empty_like(stops), nothing, nothing.copy())

    def locate(texts: Texts, own: Int64s, name: str) -> None:
        tokens, spans = plan.shingles.tokenizer.locate_tokens(texts)
        if not np.array_equal(np.diff(tokens.offsets), wanted.n_tokens[own]):
            raise text_has_changed(name)
        rows, which = wanted.rows_of(own)
        first = tokens.offsets[which] + starts[rows]
        behind = tokens.offsets[which] + stops[rows]
        located.starts[rows], located.stops[rows] = character_spans(
            texts.to_arrow(), which, spans.starts[first], spans.stops[behind - 1]
        )
        wide = np.flatnonzero(rows < n_wide)
        rows, which = rows[wide], which[wide]
        places = (first[wide], behind[wide], tokens.offsets[which], tokens.offsets[which + 1])
        n_left, n_right = _margins_of(texts, spans, which, places)
        located.wide_starts[rows] = located.starts[rows] - n_left
        located.wide_stops[rows] = located.stops[rows] + n_right

    for _ in read_texts(catalogues, np.split(places, np.cumsum(sizes)[:-1]), plan, runner, locate):
        pass
    return located


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
    n_left = _marks_at_end(left)
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


def _marks_at_end(gap: str) -> int:
    """Count the characters behind the last space."""
    return _marks_at_start(gap[::-1])


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
    first = spans.select(first_rows[most])
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


def cut_passages(
    collections: Collections, plan: CutJobPlan, workspace: Workspace, runner: Runner
) -> CutSpans:
    """Find the passages that go for a similar one, and where they stand."""
    with runner.stage("cut") as note:
        found = find_similar(collections, plan, workspace, runner)
        note(passages=len(found))
    with runner.stage("locate"):
        return locate_cuts(found, collections.catalogues, plan, runner)


def find_similar(
    collections: Collections, plan: CutJobPlan, workspace: Workspace, runner: Runner
) -> RemovedPassages:
    """Find passages that are similar to one that stays, as ``passages.cutting`` says.

    Documents of both collections are numbered together, the other one first.
    """
    assert plan.passages is not None
    assert plan.scheme is not None
    order, n_other = collections.order, len(collections.other)
    with workspace.passing_folder() as folder:
        make_index = partial(
            index_tokens, scheme=plan.scheme, tokenizer=plan.options.tokenizer, runner=runner
        )
        # Nobody goes on with what waits there.
        work = None if workspace.work is None else WorkFolder.temporary(folder, "found")
        cutter = PassageCutter(
            collections.own_tokens,
            collections.other_tokens if n_other else None,
            plan.passages,
            make_index,
            folder,
            runner,
            Workspace(workspace.memory, work),
            order,
        )
        found = cutter.cut()
    # The cutter numbers other texts behind those that it cuts.
    numbers = np.concatenate([n_other + order, np.arange(n_other)])
    return RemovedPassages(
        numbers[found.documents],
        found.starts,
        found.stops,
        numbers[found.kept_documents],
        found.kept_starts,
        found.kept_stops,
        found.similarities,
    )


def locate_cuts(
    found: RemovedPassages,
    catalogues: tuple[Catalogue, Catalogue],
    plan: CutJobPlan,
    runner: Runner,
) -> CutSpans:
    """Turn tokens into characters; what goes takes the space around it along.

    Documents of both collections are numbered together, the other one first.
    """
    n = len(found)
    located = locate_passages(
        catalogues,
        plan.reading,
        np.concatenate([found.documents, found.kept_documents]),
        np.concatenate([found.starts, found.kept_starts]),
        np.concatenate([found.stops, found.kept_stops]),
        n,
        runner,
    )
    return CutSpans(
        found.documents - len(catalogues[0]),
        located.wide_starts,
        located.wide_stops,
        found.kept_documents,
        located.starts[n:],
        located.stops[n:],
        found.similarities,
    ).in_order()
