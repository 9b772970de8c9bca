"""Texts at steps of a near cut, the passages of them that may go, and the text that stays."""

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
    """A passage that may go, and a passage that stays and is similar to it.

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
        """Return a key that puts the best of several first."""
        kept = self.kept_text, self.kept_start, self.kept_stop
        return -self.worth, -self.similarity, self.first, self.last, *kept


class Form:
    """A text at a step of its cut: the tokens that are left, and their places in the whole text.

    ``heads`` are those that begin a character, and the end; none if all do.
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
        """Return the form without some passages, always the same object."""
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
    """Documents in which windows of forms are found.

    ``shingles_of``, ``text_of``, ``places_of`` and ``heads_of`` give the shingles of a document,
    the text that it is left of, the places of its tokens in that, and which begin a character.
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
        # A shingle reaches over so many tokens more.
        self._overlap = scheme.shingles.ngram - 1

    def candidates(self, form: Form, hits: WindowHits, own: int | None = None) -> list[Candidate]:
        """Return the passages of a form that may go; of document ``own``, those further on."""
        found, overlap = [], self._overlap
        for document, hit, similarity in self._maker.settle(form.shingles, hits, own, form.heads):
            places = self._places_of(document)
            spans = [(hit.query_start, hit.query_stop), (hit.start, hit.stop)]
            (first, last), (kept_first, kept_last) = spans if own is None else spans[::-1]
            gone = form.places[first : last + overlap]
            kept = places[kept_first : kept_last + overlap]
            # Of shingles alone, without a token of its own, nothing goes.
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
    """Choose the passages of a form that go, given the documents that its windows are found in.

    The documents with most evidence come first. A window is compared in one of them only, and not
    at all where it meets a passage that goes: then it is looked up again without that.
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
    """Return the rank of each hit's document: that with most evidence first, then the first text.

    Evidence is the sum of the similarities of windows to the best place in the document.
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
    """The text that stays: forms of texts, numbered and indexed as they are added."""

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
        # The places of texts that have lost something, else how many tokens they have.
        self._left: list[Int64s | int] = []
        self._heads: list[Bools] = []

    @property
    def n_tokens(self) -> int:
        """Count the shingles of all texts."""
        return self._index.n_tokens

    def add(self, forms: Sequence[Form], index: OpenPassages | None = None) -> None:
        """Add forms, given an index of them if there is one already."""
        for form in forms:
            n_tokens = len(form.places)
            is_beginning = not n_tokens or int(form.places[-1]) < n_tokens
            self._texts.append(form.text)
            self._left.append(n_tokens if is_beginning else form.places)
            self._heads.append(form.heads)
        self._index.add(lists_of([form.shingles for form in forms]), index)

    def find(self, forms: Sequence[Form]) -> Iterator[WindowHits]:
        """Yield the passages that windows of each form are similar to."""
        return self._index.find(lists_of([form.shingles for form in forms]))

    def _places_of(self, document: int) -> Int64s:
        left = self._left[document]
        return np.arange(left, dtype=np.int64) if isinstance(left, int) else left
