"""Which passages of a collection go, each for a similar one that stays.

Texts are taken in keep order. One whose turn it is is as it will stay, because all before it had
theirs; what later texts have of it goes there and then, so that the second copy of something and
the thousandth each cost one comparison. Where something has gone, what was before it and what was
behind it are neighbours now and may together be like a passage elsewhere. So texts that have
changed are compared again, in rounds, until none changes: then a collection cut once more stays as
it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from neardup.passages.align import Aligner, AlignmentPlan
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import Later, WindowHits
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.tables import Bools, Floats, Int64s, TokenLists, Uint64s

# Texts that lose passages, each for one that stays, and take them back if that one goes.


@dataclass(frozen=True)
class RemovedPassages:
    """Passages that go, each for one that stays; arrays have a row for each.

    Starts and stops (exclusive) are tokens, counted in the whole document. Of a passage that spans
    a place where something had gone before, what is left is meant, on both sides. Rows are by
    document and start.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True, eq=False)
class Passage:
    """A part of a text, in tokens of the whole document; ``stop`` is exclusive."""

    text: int
    start: int
    stop: int

    def meets(self, other: Passage) -> bool:
        """Return whether two passages have a place in common."""
        return self.common(other) > 0

    def common(self, other: Passage) -> int:
        """Return how many places two passages have in common."""
        if self.text != other.text:
            return 0
        return max(min(self.stop, other.stop) - max(self.start, other.start), 0)


@dataclass(frozen=True, eq=False)
class Removal:
    """A passage that goes for one that stays; ``tokens`` are those that were left of it."""

    gone: Passage
    kept: Passage
    similarity: float
    tokens: Int64s = field(repr=False)


class CutTexts:
    """Texts, what has gone out of each so far, and why.

    Parameters
    ----------
    tokens
        The texts, whole.
    others
        Texts that stay whatever happens, numbered behind these.

    Notes
    -----
    What is named as the reason of a removal stays: when some of it goes all the same, the removal
    is undone, and with it those after it that counted on the text as it was.
    """

    def __init__(self, tokens: TokenLists, others: TokenLists | None = None) -> None:
        self._tokens, self._others = tokens, others
        n_others = 0 if others is None else len(others)
        self.versions: Int64s = np.zeros(len(tokens) + n_others, np.int64)
        self._left: dict[int, Bools] = {}
        # In the order in which they were made.
        self._of_text: dict[int, list[Removal]] = defaultdict(list)
        self._kept_in: dict[int, list[Removal]] = defaultdict(list)

    def whole(self, text: int) -> Uint64s:
        """Return a text as it was."""
        tokens = self._tokens
        if self._others is not None and text >= len(tokens):
            tokens, text = self._others, text - len(tokens)
        start, stop = tokens.offsets[text : text + 2]
        return tokens.values[start:stop]

    def size(self, text: int) -> int:
        """Return how many tokens a text has had."""
        return len(self.whole(text))

    def places_left(self, text: int) -> Int64s:
        """Return which tokens of a text are left."""
        left = self._left.get(text)
        if left is None:
            return np.arange(self.size(text), dtype=np.int64)
        return np.flatnonzero(left).astype(np.int64)

    def left(self, text: int) -> Uint64s:
        """Return the tokens of a text that are left."""
        whole, left = self.whole(text), self._left.get(text)
        return whole if left is None else whole[left]

    def has_lost(self, text: int, places: Int64s) -> bool:
        """Return whether any of some tokens of a text has gone."""
        left = self._left.get(text)
        return left is not None and not left[places].all()

    def has_any(self, text: int, places: Int64s) -> bool:
        """Return whether any of some tokens of a text is left."""
        left = self._left.get(text)
        return left is None or bool(left[places].any())

    def has_more(self, passage: Passage, places: Int64s) -> bool:
        """Return whether anything is left of a passage besides some tokens."""
        left = self._left.get(passage.text)
        if left is None:
            return len(places) < passage.stop - passage.start
        n_left = np.count_nonzero(left[passage.start : passage.stop])
        return bool(n_left > np.count_nonzero(left[places]))

    def undoes(self, gone: Passage) -> bool:
        """Return whether something would be taken back if a passage went."""
        return bool(self._standing_for(gone))

    def fills(self, gone: Passage, passages: Sequence[Passage]) -> bool:
        """Return whether what would be taken back if a passage went is in one of some passages."""
        return any(
            passage.text == removal.gone.text
            and bool(((removal.tokens >= passage.start) & (removal.tokens < passage.stop)).any())
            for removal in self._undone_by(gone)
            for passage in passages
        )

    def remove(self, gone: Passage, kept: Passage, similarity: float) -> None:
        """Take what is left of a passage out of its text, for one that stays."""
        places = self.places_left(gone.text)
        inside = places[(places >= gone.start) & (places < gone.stop)]
        for removal in self._undone_by(gone):
            self._undo(removal)
        left = self._left.setdefault(gone.text, np.ones(len(self.whole(gone.text)), np.bool_))
        left[inside] = False
        self.versions[gone.text] += 1
        removal = Removal(gone, kept, similarity, inside)
        self._of_text[gone.text].append(removal)
        self._kept_in[kept.text].append(removal)

    def removed(self) -> RemovedPassages:
        """Return what has gone, by text and place."""
        rows = sorted(
            (removal for removals in self._of_text.values() for removal in removals),
            key=lambda row: (row.gone.text, row.gone.start, row.gone.stop, row.kept.text),
        )

        def column(values: list[int]) -> Int64s:
            return np.array(values, np.int64)

        return RemovedPassages(
            column([row.gone.text for row in rows]),
            column([row.gone.start for row in rows]),
            column([row.gone.stop for row in rows]),
            column([row.kept.text for row in rows]),
            column([row.kept.start for row in rows]),
            column([row.kept.stop for row in rows]),
            np.array([row.similarity for row in rows], np.float64),
        )

    def _standing_for(self, place: Passage) -> list[Removal]:
        """Return the removals whose kept passage a place meets."""
        named = self._kept_in.get(place.text, ())
        return [removal for removal in named if removal.kept.meets(place)]

    def _undone_by(self, gone: Passage) -> list[Removal]:
        """Return the removals that do not stand without a passage, nor without each other."""
        undone: list[Removal] = []
        found = self._standing_for(gone)
        while found:
            removal = found.pop()
            if removal in undone:
                continue
            undone.append(removal)
            own = self._of_text[removal.gone.text]
            later = own[own.index(removal) + 1 :]
            found += [other for other in later if other.gone.meets(removal.gone)]
            found += self._standing_for(removal.gone)
        return undone

    def _undo(self, removal: Removal) -> None:
        """Put back what went; no other removal has taken any of it."""
        self._of_text[removal.gone.text].remove(removal)
        self._kept_in[removal.kept.text].remove(removal)
        self._left[removal.gone.text][removal.tokens] = True
        self.versions[removal.gone.text] += 1


# Tokens of the texts that are looked up together. The first are few: what most texts have is found
# in them, and need not be looked up again.
_FIRST_BATCH, _LARGEST_BATCH = 1 << 10, 1 << 16

# After so many rounds nothing that is named as a reason goes any more, so that there is an end.
_FREE_ROUNDS = 20


@dataclass(frozen=True)
class CutPlan:
    """What goes: passages found by ``alignment``, those that ``min_documents`` texts have.

    None is any that is there twice, also in one text.
    """

    alignment: AlignmentPlan
    min_documents: int | None = None


@dataclass(frozen=True)
class _Indexed:
    """Texts as they were when they were indexed: their numbers, ascending, and their versions."""

    index: OpenPassages
    texts: Int64s
    versions: Int64s
    places: dict[int, Int64s]

    def places_of(self, text: int, start: int, stop: int) -> Int64s:
        """Return the tokens of the whole text that tokens of the indexed one are."""
        places = self.places.get(text)
        if places is None:
            return np.arange(start, stop, dtype=np.int64)
        return places[start:stop]


@dataclass(frozen=True)
class _Found:
    """What windows of a text, ``tokens`` as it was then, are like in one of the indexes.

    ``own`` is the document of that index which is the text itself, if one is.
    """

    number: int
    aligner: Aligner
    tokens: Uint64s
    hits: WindowHits
    own: int | None


@dataclass(frozen=True)
class _Candidate:
    """Two similar passages of which the second may go, and the tokens that were left of each."""

    kept: Passage
    gone: Passage
    similarity: float
    kept_tokens: Int64s
    tokens: Int64s


class PassageCutter:
    """Cuts passages out of some texts, for those that stay in them or that others have.

    Parameters
    ----------
    tokens
        The texts in keep order.
    others
        Texts that all stay. With them, nothing goes but what one of them has.
    plan
        What goes.
    make_index
        Makes an index of token lists in a new folder.
    folder
        Where folders of indexes are made.
    runner
        Does the work; the stage is ``cut``, its work are tokens.
    """

    def __init__(
        self,
        tokens: TokenLists,
        others: TokenLists | None,
        plan: CutPlan,
        make_index: Callable[[Path, TokenLists], OpenPassages],
        folder: Path,
        runner: Runner,
    ) -> None:
        self._plan, self._runner = plan, runner
        self._make_index, self._folder = make_index, folder
        self._texts = CutTexts(tokens, others)
        self._n_own = len(tokens)
        n_others = 0 if others is None else len(others)
        # Texts that take turns, and so stay as they then are; others are numbered behind the own.
        first = 0 if others is None else self._n_own
        self._turns = range(first, self._n_own + n_others)
        self._indexed: list[_Indexed] = []
        # In which of them a text was last, and as which version it last had its turn.
        self._latest: Int64s = np.full(self._n_own, -1, np.int64)
        self._at_turn: Int64s = np.full(self._n_own + n_others, -1, np.int64)
        self.n_rounds = 0
        self.n_windows = 0

    def cut(self) -> RemovedPassages:
        """Find all that goes; others are numbered behind the texts as what stays."""
        changed: Int64s = np.arange(self._n_own, dtype=np.int64)
        while len(changed):
            self._index(changed)
            self.n_rounds += 1
            for batch in self._batches():
                versions = self._texts.versions[batch]
                found = self._look_up(batch)
                for text, version in zip(batch, versions.tolist(), strict=True):
                    if self._texts.versions[text] != version:
                        found[text] = self._look_up([text])[text]
                    self._take_turn(text, found[text])
            changed = self._changed()
        return self._texts.removed()

    def _changed(self) -> Int64s:
        """Return the texts that are not as an index has them."""
        known: Int64s = np.zeros(self._n_own, np.int64)
        for number, indexed in enumerate(self._indexed):
            is_latest = self._latest[indexed.texts] == number
            known[indexed.texts[is_latest]] = indexed.versions[is_latest]
        return np.flatnonzero(self._texts.versions[: self._n_own] != known)

    def _index(self, texts: Int64s) -> None:
        lists = join_lists([self._texts.left(text) for text in texts.tolist()])
        versions = self._texts.versions[texts]
        places = {text: self._texts.places_left(text) for text in texts[versions > 0].tolist()}
        index = self._make_index(self._folder / f"round-{self.n_rounds}", lists)
        self._latest[texts] = len(self._indexed)
        self._indexed.append(_Indexed(index, texts, versions, places))

    def _batches(self) -> Iterator[list[int]]:
        """Part the texts that take turns, the first ones into few tokens, later ones into many."""
        batch: list[int] = []
        n_tokens, n_done, room = 0, 0, _FIRST_BATCH
        for text in self._turns:
            batch.append(text)
            n_tokens += self._texts.size(text)
            if n_tokens >= room:
                yield batch
                n_done += n_tokens
                self._runner.report("cut", n_done, self._n_turn_tokens)
                batch, n_tokens, room = [], 0, min(2 * room, _LARGEST_BATCH)
        if batch:
            yield batch

    @cached_property
    def _n_turn_tokens(self) -> int:
        return sum(self._texts.size(text) for text in self._turns)

    def _look_up(self, texts: Sequence[int]) -> dict[int, list[_Found]]:
        """Find what windows of some texts, as they are now, are like in later ones."""
        found: dict[int, list[_Found]] = {text: [] for text in texts}
        for number, indexed in enumerate(self._indexed):
            asked = [text for text in texts if self._is_asked(text, number)]
            later = self._later(asked, number)
            may_find = later.firsts < len(indexed.texts)
            if not may_find.any():
                continue
            asked = [asked[k] for k in np.flatnonzero(may_find).tolist()]
            later = Later(later.firsts[may_find], later.are_own[may_find])
            lists = join_lists([self._texts.left(text) for text in asked])
            lists = indexed.index.scheme.shingle(lists)
            aligner = Aligner(indexed.index, self._plan.alignment, IN_MEMORY, self._runner)
            for k, hits in enumerate(aligner.find(lists, _nowhere, later)):
                tokens = lists.values[lists.offsets[k] : lists.offsets[k + 1]]
                own = int(later.firsts[k]) if later.are_own[k] else None
                found[asked[k]].append(_Found(number, aligner, tokens, hits, own))
            self.n_windows += aligner.counts.windows
        return found

    def _is_asked(self, text: int, number: int) -> bool:
        """Return whether a text may find something in an index that it has not found before."""
        if number == len(self._indexed) - 1 or self._plan.min_documents is not None:
            return True
        return bool(self._texts.versions[text] != self._at_turn[text])

    def _later(self, texts: Sequence[int], number: int) -> Later:
        """Return from which document of an index on texts find something."""
        indexed = self._indexed[number]
        numbers = np.array(texts, np.int64)
        if self._turns.start == self._n_own:
            return Later(np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.bool_))
        places = np.searchsorted(indexed.texts, numbers)
        inside = np.minimum(places, len(indexed.texts) - 1)
        is_there = indexed.texts[inside] == numbers
        # A text finds itself where it was indexed as it is now.
        is_same = indexed.versions[inside] == self._texts.versions[numbers]
        are_own = is_there & is_same & (self._latest[numbers] == number)
        return Later(np.where(is_there & ~are_own, places + 1, places), are_own)

    def _candidates(self, text: int, found: Sequence[_Found]) -> Iterator[_Candidate]:
        """Make passages of what was found for a text."""
        places = self._texts.places_left(text)
        for each in found:
            if not len(each.hits):
                continue
            indexed, number = self._indexed[each.number], each.number
            n_more = indexed.index.scheme.shingles.ngram - 1
            hits = each.hits.take(self._are_there(number, each.hits))
            for document, hit, similarity in each.aligner.settle(each.tokens, hits, each.own):
                # The last shingle reaches over as many tokens more, but in a text that is shorter.
                kept_tokens = places[hit.query_start : hit.query_stop + n_more]
                other = int(indexed.texts[document])
                tokens = indexed.places_of(other, hit.start, hit.stop + n_more)
                if min(len(kept_tokens), len(tokens)) <= n_more:
                    continue
                kept = Passage(text, int(kept_tokens[0]), int(kept_tokens[-1]) + 1)
                gone = Passage(other, int(tokens[0]), int(tokens[-1]) + 1)
                yield _Candidate(kept, gone, similarity, kept_tokens, tokens)

    def _are_there(self, number: int, hits: WindowHits) -> Bools:
        """Return which hits are in texts as these are now; of others no passage is to be made.

        Where texts are counted that have something, it does not matter whether it has gone.
        """
        indexed = self._indexed[number]
        texts = indexed.texts[hits.documents]
        are_there: Bools = self._latest[texts] == number
        if self._plan.min_documents is not None:
            return are_there
        has_changed = self._texts.versions[texts] != indexed.versions[hits.documents]
        n_more = indexed.index.scheme.shingles.ngram - 1
        for row in np.flatnonzero(are_there & has_changed).tolist():
            text, stop = int(texts[row]), int(hits.stops[row]) + n_more
            places = indexed.places_of(text, int(hits.starts[row]), stop)
            are_there[row] = not self._texts.has_lost(text, places)
        return are_there

    def _take_turn(self, text: int, found: Sequence[_Found]) -> None:
        """Take out of later texts, and of the text behind itself, what it has."""
        candidates = self._chosen(text, found)
        own = [candidate for candidate in candidates if candidate.gone.text == text]
        if self._remove_own(own):
            candidates = self._chosen(text, self._look_up([text])[text])
        self._at_turn[text] = self._texts.versions[text]
        for candidate in candidates:
            if candidate.gone.text == text:
                continue
            if self._may_go(candidate):
                self._texts.remove(candidate.gone, candidate.kept, candidate.similarity)

    def _remove_own(self, candidates: list[_Candidate]) -> bool:
        """Take out of a text what it has before; returns whether there is something."""
        taken: list[_Candidate] = []
        for candidate in candidates:
            in_the_way = any(
                candidate.kept.meets(other.gone) or candidate.gone.meets(other.kept)
                for other in taken
            )
            if not in_the_way and self._may_go(candidate):
                taken.append(candidate)
                self._texts.remove(candidate.gone, candidate.kept, candidate.similarity)
        return bool(taken)

    def _may_go(self, candidate: _Candidate) -> bool:
        """Return whether two passages are what was compared, apart from what is gone of the second.

        What is left of that may have gone for passages that are more similar. A removal that was
        undone may have put tokens back, or be undone by this one: of a passage that was joined when
        its middle went, for what is in it itself, nothing goes.
        """
        gone, kept = candidate.gone, candidate.kept
        return self._texts.has_any(gone.text, candidate.tokens) and not (
            self._texts.has_more(gone, candidate.tokens)
            or self._texts.has_more(kept, candidate.kept_tokens)
            or self._texts.fills(gone, [gone, kept])
        )

    def _chosen(self, text: int, found: Sequence[_Found]) -> list[_Candidate]:
        """Return the passages that may go, the most similar first.

        Where a text has changed since it was indexed, passages are left for the next round.
        """
        candidates = list(self._candidates(text, found))
        allowed = [
            candidate
            for candidate in candidates
            if self._has_enough(candidate, candidates)
            and not self._texts.has_lost(candidate.gone.text, candidate.tokens)
            and not (self.n_rounds > _FREE_ROUNDS and self._texts.undoes(candidate.gone))
        ]
        return sorted(
            allowed,
            key=lambda each: (
                *(-each.similarity, each.gone.text, each.gone.start, each.gone.stop),
                *(each.kept.start, each.kept.stop),
            ),
        )

    def _has_enough(self, candidate: _Candidate, candidates: list[_Candidate]) -> bool:
        """Return whether enough texts have a passage, or most of it."""
        if self._plan.min_documents is None:
            return True
        kept = candidate.kept
        texts = {kept.text} | {
            other.gone.text
            for other in candidates
            if 2 * kept.common(other.kept) >= kept.stop - kept.start
        }
        return len(texts) >= self._plan.min_documents


def join_lists(texts: Sequence[Uint64s]) -> TokenLists:
    """Put the tokens of some texts one behind the other."""
    sizes = [len(text) for text in texts]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TokenLists(np.concatenate([np.empty(0, np.uint64), *texts]), offsets)


def _nowhere(_: float) -> None:
    """Report to nobody; tokens are reported by batches."""
