"""Which passages of a collection go, each for a similar one that stays.

Texts are taken in keep order. One whose turn it is is as it will stay, because all before it had
theirs; what later texts have of it goes there and then, so that the second copy of something and
the thousandth each cost one comparison. Where something has gone, what was before it and what was
behind it are neighbours now and may together be like a passage elsewhere. So texts that have
changed are compared again, in rounds, until none changes: then a collection cut once more stays as
it is.

Texts are looked up before they take turns, many at a time. Where those of a text have been in the
meantime, it is looked up anew, as it is then; so it does not matter how many they were. That is
cheap where all that is searched is in memory. Where it is not, each time all of it is made ready
again: then as many texts are looked up together as the memory has room for, as what they will be by
their turns. That is foreseen by a cut of these texts alone.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from neardup.passages.align import AlignmentPlan, PassageMaker
from neardup.passages.cut_texts import CutTexts, Mask, Passage, RemovedPassages
from neardup.passages.lookup import Later, WindowHits
from neardup.passages.searched import (
    HowSearched,
    SearchedInThreads,
    SearchedTexts,
    Views,
    join_lists,
)
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, Uint64s

# Tokens of the texts that are looked up together, in memory. The first are few: what most texts
# have is found in them, and need not be looked up again.
_FIRST_BATCH, _LARGEST_BATCH = 1 << 10, 1 << 16

_NO_TOKENS: Uint64s = np.empty(0, np.uint64)

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
    """Texts as they were when they were indexed, ascending, and their versions.

    ``maker`` makes passages of what is found in them.
    """

    views: Views
    versions: Int64s
    maker: PassageMaker

    @property
    def texts(self) -> Int64s:
        """The texts, by the number of the document."""
        return self.views.texts


@dataclass(frozen=True, eq=False)
class _State:
    """A text as it is looked up: as it is in a version, or ``foreseen`` to be in a later one."""

    text: int
    version: int
    foreseen: Mask | None = None

    def is_of(self, texts: CutTexts) -> bool:
        """Return whether the text is like that now."""
        is_same = int(texts.versions[self.text]) == self.version
        if self.foreseen is None:
            return is_same
        now = texts.mask(self.text)
        return not is_same and now is not None and bool((now.bits == self.foreseen.bits).all())

    def mask(self, texts: CutTexts) -> Mask | None:
        """Return what is left of it like that, if it is like that now or will be."""
        return texts.mask(self.text) if self.foreseen is None else self.foreseen


@dataclass(frozen=True)
class _Found:
    """What windows of a text, ``tokens`` of it as it was then, are like in one of the indexes.

    ``own`` is the document of that index which is the text itself, if one is.
    """

    number: int
    tokens: Uint64s
    hits: WindowHits
    own: int | None


@dataclass(frozen=True)
class Candidate:
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
    texts
        The texts, and those that all stay. With such, nothing goes but what one of them has.
    plan
        What goes.
    how
        How texts are indexed, and looked up.
    searched
        Texts that are looked up in, which has none yet. What goes does not depend on who does it,
        nor on how many are looked up together.
    folder
        Where what texts will be is foreseen.
    runner
        Does the work; the stage is ``cut``, its work are tokens.
    """

    def __init__(
        self,
        texts: CutTexts,
        plan: CutPlan,
        how: HowSearched,
        searched: SearchedTexts,
        folder: Path,
        runner: Runner,
    ) -> None:
        self._plan, self._how, self._searched = plan, how, searched
        self._folder, self._runner, self._texts = folder, runner, texts
        n_all = len(texts.versions)
        self._n_own = n_all - texts.n_others
        # Texts that take turns, and so stay as they then are; others are numbered behind the own.
        self._turns = range(self._n_own if texts.n_others else 0, n_all)
        self._indexed: list[_Indexed] = []
        # In which of them a text was last, and as which version it last had its turn.
        self._latest: Int64s = np.full(self._n_own, -1, np.int64)
        self._at_turn: Int64s = np.full(n_all, -1, np.int64)
        self.n_rounds = 0

    def cut(self) -> RemovedPassages:
        """Find all that goes; others are numbered behind the texts as what stays."""
        changed: Int64s = np.arange(self._n_own, dtype=np.int64)
        while len(changed):
            self._index(changed)
            self._take_turns()
            changed = self._changed()
        return self._texts.removed()

    def _take_turns(self) -> None:
        """Let each text have its turn, once."""
        for batch in self._batches():
            n_done = 0
            while n_done < len(batch):
                # What has turned out otherwise than foreseen is foreseen anew from there on.
                states = self._states(batch[n_done:])
                with closing(self._look_up(states)) as found:
                    ahead = Ahead(states, found, self._texts)
                    for text in batch[n_done:]:
                        if not self._take_turn(text, ahead):
                            break
                        n_done += 1

    def _changed(self) -> Int64s:
        """Return the texts that are not as an index has them."""
        known: Int64s = np.zeros(self._n_own, np.int64)
        for number, indexed in enumerate(self._indexed):
            is_latest = self._latest[indexed.texts] == number
            known[indexed.texts[is_latest]] = indexed.versions[is_latest]
        return np.flatnonzero(self._texts.versions[: self._n_own] != known)

    def _index(self, texts: Int64s) -> None:
        versions, masks = self._texts.versions[texts], {}
        for row in np.flatnonzero(versions).tolist():
            mask = self._texts.mask(int(texts[row]))
            if mask is not None:
                masks[row] = mask
        views = Views(texts, masks)
        maker = PassageMaker(
            self._plan.alignment, self._how.scheme, None, partial(self._shingles, views)
        )
        self._searched.add(views)
        self._latest[texts] = len(self._indexed)
        self._indexed.append(_Indexed(views, versions, maker))
        self.n_rounds += 1

    def _shingles(self, views: Views, row: int) -> Uint64s:
        """Return the shingles of a text."""
        return self._how.scheme.shingle(join_lists([views.tokens(row, self._texts)])).values

    @property
    def _is_in_memory(self) -> bool:
        """Whether what is searched is in memory as a whole."""
        return self._searched.tokens_at_a_time == 1

    def _batches(self) -> Iterator[list[int]]:
        """Part the texts that take turns, the first ones into few tokens, later ones into many."""
        batch: list[int] = []
        n_tokens, n_done = 0, 0
        room = _FIRST_BATCH if self._is_in_memory else self._searched.tokens_at_a_time
        for text in self._turns:
            batch.append(text)
            n_tokens += int(self._sizes[text])
            if n_tokens >= room:
                yield batch
                n_done += n_tokens
                self._runner.report("cut", n_done, self._n_turn_tokens)
                batch, n_tokens = [], 0
                if self._is_in_memory:
                    room = min(2 * room, _LARGEST_BATCH)
        if batch:
            yield batch

    @cached_property
    def _sizes(self) -> Int64s:
        return self._texts.sizes()

    @cached_property
    def _n_turn_tokens(self) -> int:
        return int(self._sizes[self._turns.start : self._turns.stop].sum())

    def _states(self, batch: Sequence[int]) -> list[_State]:
        """Return as what texts are best looked up that are to take turns now."""
        states = self._states_now(batch)
        if self._is_in_memory or self._turns.start == self._n_own:
            return states
        # Others have been compared with each other as they are.
        are_new = (self._latest[batch] == len(self._indexed) - 1).tolist()
        new = [text for text, is_new in zip(batch, are_new, strict=True) if is_new]
        if not new:
            return states
        known = [state for state, is_new in zip(states, are_new, strict=True) if not is_new]
        return sorted(known + self._foreseen(new), key=lambda state: state.text)

    def _states_now(self, batch: Sequence[int]) -> list[_State]:
        return list(map(_State, batch, self._texts.versions[batch].tolist()))

    def _foreseen(self, batch: Sequence[int]) -> list[_State]:
        """Return what texts will be at their turns, and when their own copies have gone."""
        states = []
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            texts = CutTexts(join_lists([self._texts.left(text) for text in batch]))
            searched = SearchedInThreads(texts, self._how, Path(folder), self._runner)
            foresight = _Foresight(
                texts, self._plan, self._how, searched, Path(folder), self._runner
            )
            for k, of_left in foresight.see():
                text, foreseen = batch[k], None
                if of_left is not None:
                    are_left = np.zeros(self._texts.size(text), np.bool_)
                    are_left[self._texts.places_left(text)] = of_left.unpack()
                    foreseen = Mask.of(are_left)
                states.append(_State(text, int(self._texts.versions[text]), foreseen))
        return states

    def _look_up(self, states: Sequence[_State]) -> Generator[list[_Found]]:
        """Yield what windows of some texts, each in a state, are like in later ones."""
        looked_up = [self._look_up_in(number, states) for number in range(len(self._indexed))]
        for found in zip(*looked_up, strict=True):
            yield [each for each in found if each is not None]

    def _look_up_in(self, number: int, states: Sequence[_State]) -> Iterator[_Found | None]:
        """Yield what each state of a text finds in one of the indexes; None where it may not."""
        indexed = self._indexed[number]
        are_asked = np.array([self._is_asked(state, number) for state in states], np.bool_)
        later = self._later(states, number)
        are_asked &= later.firsts < len(indexed.texts)
        asked = np.flatnonzero(are_asked).tolist()
        if not asked:
            yield from (None for _ in states)
            return
        later = Later(later.firsts[asked], later.are_own[asked])
        masks = {row: states[k].mask(self._texts) for row, k in enumerate(asked)}
        views = Views(
            np.array([states[k].text for k in asked], np.int64),
            {row: mask for row, mask in masks.items() if mask is not None},
        )
        found = enumerate(self._searched.find(number, views, later))
        for is_asked in are_asked.tolist():
            if not is_asked:
                yield None
                continue
            row, hits = next(found)
            tokens = self._shingles(views, row) if len(hits) else _NO_TOKENS
            own = int(later.firsts[row]) if later.are_own[row] else None
            yield _Found(number, tokens, hits, own)

    def _is_asked(self, state: _State, number: int) -> bool:
        """Return whether a text may find something in an index that it has not found before."""
        if number == len(self._indexed) - 1 or self._plan.min_documents is not None:
            return True
        return state.foreseen is not None or state.version != self._at_turn[state.text]

    def _later(self, states: Sequence[_State], number: int) -> Later:
        """Return from which document of an index on texts find something."""
        indexed = self._indexed[number]
        numbers = np.array([state.text for state in states], np.int64)
        if self._turns.start == self._n_own:
            return Later(np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.bool_))
        places = np.searchsorted(indexed.texts, numbers)
        inside = np.minimum(places, len(indexed.texts) - 1)
        is_there = indexed.texts[inside] == numbers
        # A text finds itself where it was indexed as it is now.
        versions = [state.version if state.foreseen is None else -1 for state in states]
        is_same = indexed.versions[inside] == np.array(versions, np.int64)
        are_own = is_there & is_same & (self._latest[numbers] == number)
        return Later(np.where(is_there & ~are_own, places + 1, places), are_own)

    def _candidates(self, text: int, found: Sequence[_Found]) -> Iterator[Candidate]:
        """Make passages of what was found for a text."""
        places = self._texts.places_left(text)
        n_more = self._how.scheme.shingles.ngram - 1
        for each in found:
            if not len(each.hits):
                continue
            indexed, number = self._indexed[each.number], each.number
            hits = each.hits.take(self._are_there(number, each.hits))
            for document, hit, similarity in indexed.maker.settle(each.tokens, hits, each.own):
                # The last shingle reaches over as many tokens more, but in a text that is shorter.
                kept_tokens = places[hit.query_start : hit.query_stop + n_more]
                other = int(indexed.texts[document])
                tokens = indexed.views.places_of(document, hit.start, hit.stop + n_more)
                if min(len(kept_tokens), len(tokens)) <= n_more:
                    continue
                kept = Passage(text, int(kept_tokens[0]), int(kept_tokens[-1]) + 1)
                gone = Passage(other, int(tokens[0]), int(tokens[-1]) + 1)
                yield Candidate(kept, gone, similarity, kept_tokens, tokens)

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
        n_more = self._how.scheme.shingles.ngram - 1
        for row in np.flatnonzero(are_there & has_changed).tolist():
            document, stop = int(hits.documents[row]), int(hits.stops[row]) + n_more
            places = indexed.views.places_of(document, int(hits.starts[row]), stop)
            are_there[row] = not self._texts.has_lost(int(texts[row]), places)
        return are_there

    def _take_turn(self, text: int, ahead: Ahead) -> bool:
        """Take out of later texts, and of the text behind itself, what it has.

        Returns False, and does nothing, if it is better looked up together with others.
        """
        found = ahead.of(text)
        if found is None and not self._is_in_memory:
            return False
        if found is None:
            found = self._look_up_now(text)
        candidates = self._chosen(text, found)
        own = [candidate for candidate in candidates if candidate.gone.text == text]
        if self._remove_own(own):
            found = ahead.of(text)
            candidates = self._chosen(text, self._look_up_now(text) if found is None else found)
        self._at_turn[text] = self._texts.versions[text]
        for candidate in candidates:
            if candidate.gone.text == text:
                continue
            if self._may_go(candidate):
                self._texts.remove(candidate.gone, candidate.kept, candidate.similarity)
        return True

    def _look_up_now(self, text: int) -> list[_Found]:
        (found,) = self._look_up([_State(text, int(self._texts.versions[text]))])
        return found

    def _remove_own(self, candidates: list[Candidate]) -> bool:
        """Take out of a text what it has before; returns whether there is something."""
        taken: list[Candidate] = []
        for candidate in candidates:
            in_the_way = any(
                candidate.kept.meets(other.gone) or candidate.gone.meets(other.kept)
                for other in taken
            )
            if not in_the_way and self._may_go(candidate):
                taken.append(candidate)
                self._texts.remove(candidate.gone, candidate.kept, candidate.similarity)
        return bool(taken)

    def _may_go(self, candidate: Candidate) -> bool:
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

    def _chosen(self, text: int, found: Sequence[_Found]) -> list[Candidate]:
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

    def _has_enough(self, candidate: Candidate, candidates: list[Candidate]) -> bool:
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


class _Foresight(PassageCutter):
    """Lets texts that are in memory have their turns, and tells as what each was looked up."""

    def see(self) -> list[tuple[int, Mask | None]]:
        """Return each text at its turn, and again if it had copies of its own parts then."""
        self._seen: list[tuple[int, Mask | None]] = []
        self._index(np.arange(self._n_own, dtype=np.int64))
        self._take_turns()
        return self._seen

    def _chosen(self, text: int, found: Sequence[_Found]) -> list[Candidate]:
        self._seen.append((text, self._texts.mask(text)))
        return super()._chosen(text, found)


class Ahead:
    """What texts have found that were looked up before their turns, in some states, in order."""

    def __init__(
        self, states: Sequence[_State], found: Iterator[list[_Found]], texts: CutTexts
    ) -> None:
        self._states, self._found, self._texts = deque(states), found, texts

    def of(self, text: int) -> list[_Found] | None:
        """Return what the text has found, as it is now; None if it was not looked up like that.

        Texts are asked for in the order of the states.
        """
        while self._states and self._states[0].text <= text:
            state, found = self._states.popleft(), next(self._found)
            if state.text == text and state.is_of(self._texts):
                return found
        return None
