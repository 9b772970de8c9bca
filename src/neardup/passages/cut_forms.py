"""Texts at steps of a near cut, their removable passages, and the remaining text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from neardup.passages.align import AlignmentPlan, PassageMaker
from neardup.passages.growing import GrowingIndex, LookUp, lists_of
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import WindowHits
from neardup.passages.scheme import PassageScheme
from neardup.tables import Bools, Int64s, Uint64s


class Candidate(NamedTuple):
    """A removable passage, and a similar passage that is kept.

    The passage is tokens ``first`` to ``last`` (exclusive) of a form of a text, ``start`` to
    ``stop`` of the whole text. ``worth`` is the number of tokens that both passages share.
    """

    first: int
    last: int
    start: int
    stop: int
    kept_text: int
    kept_start: int
    kept_stop: int
    similarity: float
    worth: float

    def order(self) -> tuple[float, ...]:
        """Return the sort key, the best first."""
        kept = self.kept_text, self.kept_start, self.kept_stop
        return -self.worth, -self.similarity, self.first, self.last, *kept


class Form:
    """A text at a step of its cut: the remaining tokens and their positions in the whole text.

    ``heads`` marks tokens that begin a character, and the end; it is empty if all do.
    """

    def __init__(
        self, text: int, places: Int64s, tokens: Uint64s, heads: Bools, scheme: PassageScheme
    ) -> None:
        self.text, self.places, self.tokens, self.heads = text, places, tokens, heads
        has_shingles = scheme.shingles.ngram > 1
        self.shingles = scheme.shingle(lists_of([tokens])).values if has_shingles else tokens
        self._scheme = scheme
        self._shorter: dict[tuple[tuple[int, int], ...], Form] = {}

    def without(self, chosen: Sequence[Candidate]) -> Form:
        """Return the form without some passages; equal calls return the same object."""
        key = tuple((each.first, each.last) for each in chosen)
        if key not in self._shorter:
            are_left: Bools = np.ones(len(self.places), np.bool_)
            for first, last in key:
                are_left[first:last] = False
            places, tokens = self.places[are_left], self.tokens[are_left]
            heads = self.heads[np.append(are_left, True)] if len(self.heads) else self.heads
            self._shorter[key] = Form(self.text, places, tokens, heads, self._scheme)
        return self._shorter[key]


class Documents:
    """The searched documents, and their tokens and positions.

    ``shingles_of``, ``text_of``, ``places_of`` and ``heads_of`` return a document's shingles, the
    number of its text, the positions of its tokens in that text, and the tokens that begin a
    character.
    """

    def __init__(
        self,
        plan: AlignmentPlan,
        scheme: PassageScheme,
        shingles_of: Callable[[int], Uint64s],
        text_of: Callable[[int], int],
        places_of: Callable[[int], Int64s],
        heads_of: Callable[[int], Bools],
    ) -> None:
        self._maker = PassageMaker(plan, scheme, None, shingles_of, heads_of)
        self.text_of, self._places_of = text_of, places_of
        # A shingle extends over this many further tokens.
        self._overlap = scheme.shingles.ngram - 1

    def candidates(self, form: Form, hits: WindowHits, own: int | None = None) -> list[Candidate]:
        """Return the removable passages of a form; for document ``own``, only later copies."""
        found, overlap = [], self._overlap
        for document, hit, similarity in self._maker.settle(form.shingles, hits, own, form.heads):
            places = self._places_of(document)
            spans = [(hit.query_start, hit.query_stop), (hit.start, hit.stop)]
            (first, last), (kept_first, kept_last) = spans if own is None else spans[::-1]
            gone = form.places[first : last + overlap]
            kept = places[kept_first : kept_last + overlap]
            # Overlapping shingles without a whole token are not removed.
            if min(len(gone), len(kept)) <= overlap:
                continue
            found.append(
                Candidate(
                    first,
                    first + len(gone),
                    int(gone[0]),
                    int(gone[-1]) + 1,
                    self.text_of(document),
                    int(kept[0]),
                    int(kept[-1]) + 1,
                    similarity,
                    similarity * hit.size / (1 + similarity),
                )
            )
        return sorted(found, key=Candidate.order)


def choose_passages(form: Form, found: Sequence[tuple[Documents, WindowHits]]) -> list[Candidate]:
    """Choose the passages of a form to remove, given the hits of its windows.

    Documents with most evidence come first. A window is compared in only one document, and not if
    it overlaps a removed passage: the shortened form is looked up again.
    """
    hits = WindowHits.joined([of_kind for _, of_kind in found])
    chosen: list[Candidate] = []
    kinds = np.repeat(np.arange(len(found)), [len(of_kind) for _, of_kind in found])
    ranks = _rank_documents([documents for documents, _ in found], kinds, hits)
    are_open: Bools = np.ones(len(hits), np.bool_)
    while are_open.any():
        rows = np.flatnonzero(are_open & (ranks == ranks[are_open].min()))
        are_open &= ~np.isin(hits.query_starts, hits.query_starts[rows])
        for each in found[kinds[rows[0]]][0].candidates(form, hits.take(rows)):
            if all(each.last <= other.first or other.last <= each.first for other in chosen):
                chosen.append(each)
                are_open &= (hits.query_stops <= each.first) | (each.last <= hits.query_starts)
    return chosen


def _rank_documents(documents: Sequence[Documents], kinds: Int64s, hits: WindowHits) -> Int64s:
    """Rank the document of each hit: most evidence first, then the first text.

    Evidence is the sum of the windows' best similarities in the document.
    """
    order = np.lexsort((-hits.similarities, hits.query_starts, hits.documents, kinds))
    columns = kinds[order], hits.documents[order], hits.query_starts[order]
    is_new = [np.diff(column, prepend=-1) != 0 for column in columns]
    is_document = is_new[0] | is_new[1]
    groups = np.cumsum(is_document) - 1
    best = np.where(is_document | is_new[2], hits.similarities[order], 0.0)
    evidence = np.bincount(groups, best)
    firsts = np.flatnonzero(is_document)
    texts = [
        documents[kind].text_of(document)
        for kind, document in zip(
            columns[0][firsts].tolist(), columns[1][firsts].tolist(), strict=True
        )
    ]
    ranks_of_groups: Int64s = np.empty(len(firsts), np.int64)
    ranks_of_groups[np.lexsort((texts, -evidence))] = np.arange(len(firsts))
    ranks: Int64s = np.empty(len(order), np.int64)
    ranks[order] = ranks_of_groups[groups]
    return ranks


class StayingText:
    """The remaining text: forms of texts, numbered and indexed in order of addition."""

    def __init__(self, plan: AlignmentPlan, look_up: LookUp) -> None:
        self._index = GrowingIndex(look_up)
        shingles_of, scheme = self._index.shingles_of, look_up.scheme
        self.documents = Documents(
            plan,
            scheme,
            shingles_of,
            lambda number: self._texts[number],
            self._places_of,
            lambda number: self._heads[number],
        )
        self._texts: list[int] = []
        # Token positions of shortened texts, token counts of the others.
        self._left: list[Int64s | int] = []
        self._heads: list[Bools] = []

    @property
    def n_tokens(self) -> int:
        """Count the shingles of all texts."""
        return self._index.n_tokens

    def add(self, forms: Sequence[Form], index: OpenPassages | None = None) -> None:
        """Add forms, with their index if it exists already."""
        for form in forms:
            n_tokens = len(form.places)
            is_beginning = not n_tokens or int(form.places[-1]) < n_tokens
            self._texts.append(form.text)
            self._left.append(n_tokens if is_beginning else form.places)
            self._heads.append(form.heads)
        self._index.add(lists_of([form.shingles for form in forms]), index)

    def find(self, forms: Sequence[Form]) -> Iterator[WindowHits]:
        """Yield the similar passages for the windows of each form."""
        return self._index.find(lists_of([form.shingles for form in forms]))

    def _places_of(self, document: int) -> Int64s:
        left = self._left[document]
        return np.arange(left, dtype=np.int64) if isinstance(left, int) else left
