"""Remove near-duplicate passages from texts in keep order.

A text is looked up in the remaining text of its predecessors. Similar passages are removed, best
first, one source per stretch, and the shortened text is looked up again until nothing is found.
Then the text is looked up in itself, and later repeats are removed. The remainder joins the index.
So repeated text is indexed once, and cutting a collection again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from neardup.passages.align import AlignmentPlan, PassageMaker
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import GrowingIndex, Later, LookUp, WindowHits, lists_of, tokens_within
from neardup.passages.windows import PassageScheme
from neardup.tables import Bools, CutSpans, Int64s, TokenLists, Uint64s


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
    """Remaining tokens of a text at a step of cutting.

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
        """Return the form without some passages, cached."""
        key = tuple((each.first, each.last) for each in chosen)
        if key not in self._shorter:
            are_left: Bools = np.ones(len(self.places), np.bool_)
            for first, last in key:
                are_left[first:last] = False
            places, tokens = self.places[are_left], self.tokens[are_left]
            heads = self.heads[np.append(are_left, True)] if len(self.heads) else self.heads
            self._shorter[key] = Form(self.text, places, tokens, heads, self._scheme)
        return self._shorter[key]


def shingles_of(forms: Iterable[Form]) -> TokenLists:
    """Return the shingles of forms."""
    return lists_of([form.shingles for form in forms])


class SearchedDocuments:
    """The searched documents, and their tokens and positions.

    ``shingles_of`` yields the shingles of documents, which are forms in the order of addition.
    """

    def __init__(
        self,
        plan: AlignmentPlan,
        scheme: PassageScheme,
        shingles_of: Callable[[Int64s], Iterable[TokenLists]],
    ) -> None:
        self.texts: list[int] = []
        # Token positions of shortened texts, token counts of the others.
        self._left: list[Int64s | int] = []
        self._heads: list[Bools] = []
        self._maker = PassageMaker(plan, scheme, None, shingles_of, self._heads.__getitem__)
        # A shingle extends over this many further tokens.
        self._overlap = scheme.shingles.ngram - 1

    def add(self, forms: Sequence[Form]) -> None:
        """Add forms, whose tokens are stored elsewhere."""
        for form in forms:
            n_tokens = len(form.places)
            is_beginning = not n_tokens or int(form.places[-1]) < n_tokens
            self.texts.append(form.text)
            self._left.append(n_tokens if is_beginning else form.places)
            self._heads.append(form.heads)

    def candidates(self, form: Form, hits: WindowHits, own: int = -1) -> list[Candidate]:
        """Return a form's removable passages, only later copies in ``own``."""
        found, overlap = [], self._overlap
        passages = self._maker.refine(form.shingles, hits, own, form.heads)
        columns = (column.tolist() for column in vars(passages).values())
        for *span, document, kept_start, kept_stop, similarity in zip(*columns, strict=True):
            left = self._left[document]
            places = np.arange(left, dtype=np.int64) if isinstance(left, int) else left
            spans = [span, (kept_start, kept_stop)]
            (first, last), (kept_first, kept_last) = spans if own < 0 else spans[::-1]
            n_tokens = last - first + kept_last - kept_first
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
                    self.texts[document],
                    int(kept[0]),
                    int(kept[-1]) + 1,
                    similarity,
                    similarity * n_tokens / (1 + similarity),
                )
            )
        return sorted(found, key=Candidate.order)


def choose_passages(
    form: Form, found: Sequence[tuple[SearchedDocuments, WindowHits]]
) -> list[Candidate]:
    """Choose the passages to remove from a form.

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


def _rank_documents(
    documents: Sequence[SearchedDocuments], kinds: Int64s, hits: WindowHits
) -> Int64s:
    """Rank the documents of hits by evidence, then by text.

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
        documents[kind].texts[document]
        for kind, document in zip(*(each[firsts].tolist() for each in columns[:2]), strict=True)
    ]
    ranks_of_groups: Int64s = np.empty(len(firsts), np.int64)
    ranks_of_groups[np.lexsort((texts, -evidence))] = np.arange(len(firsts))
    ranks: Int64s = np.empty(len(order), np.int64)
    ranks[order] = ranks_of_groups[groups]
    return ranks


class StayingText:
    """Indexed forms of the remaining texts, in order of addition."""

    def __init__(self, plan: AlignmentPlan, look_up: LookUp) -> None:
        self._index = GrowingIndex(look_up)
        self.documents = SearchedDocuments(plan, look_up.scheme, self._index.tokens_of)

    @property
    def n_tokens(self) -> int:
        """Count the shingles of all texts."""
        return self._index.n_tokens

    def add(self, forms: Sequence[Form], index: OpenPassages | None = None) -> None:
        """Add forms, with their index if it exists already."""
        self.documents.add(forms)
        self._index.add(shingles_of(forms), index)

    def find(self, forms: Sequence[Form]) -> Iterator[WindowHits]:
        """Yield the similar passages for the windows of each form."""
        return self._index.find(shingles_of(forms))


# Texts of a block are cut together, with the same result as one after the other.

# A text with this many restored repeats keeps all its own repeats.
_MOST_PUT_BACK = 20


@dataclass
class Step:
    """A form, its removed passages, and its protected repeats."""

    form: Form
    chosen: list[Candidate] = field(default_factory=list)
    put_back: set[Candidate] = field(default_factory=set)


class _Known:
    """Known hits of a form's windows.

    ``staying`` are hits in the remaining text, ``near`` the hits in each form of the block by its
    number, and ``own`` the hits in the form itself. The first ``n_seen`` indexes of the block were
    searched. ``number`` is the form's number if it is indexed there, else -1.
    """

    def __init__(self, staying: WindowHits) -> None:
        self.staying = staying
        self.near: dict[int, WindowHits] = {}
        self.own: WindowHits | None = None
        self.n_seen, self.number = 0, -1
        # By the near forms that are kept.
        self.chosen: dict[tuple[int, ...], list[Candidate]] = {}
        if not len(staying):
            self.chosen[()] = []
        self.repeats: list[Candidate] | None = None


class _NearIndex:
    """An index of a block's forms, the last text first."""

    def __init__(self, forms: Sequence[Form], index: OpenPassages, first: int) -> None:
        self.index, self.first = index, first
        self._texts = np.array([form.text for form in forms], np.int64)
        self.first_text = int(self._texts[-1])

    def earlier(self, forms: Sequence[Form], numbers: Int64s) -> Later:
        """Restrict each form to forms of earlier texts and itself.

        ``numbers`` are the numbers of the forms, if they are indexed.
        """
        texts = np.array([form.text for form in forms], np.int64)
        firsts = np.searchsorted(-self._texts, -texts)
        are_own = numbers - self.first == firsts
        # Another form of the same text is not an earlier text.
        inside = np.minimum(firsts, len(self._texts) - 1)
        firsts += (self._texts[inside] == texts) & ~are_own
        return Later(firsts, are_own)


class CutBlock:
    """Cut consecutive texts against the remaining text and each other.

    ``forms`` are the uncut texts, in keep order, and ``staying`` the remaining text of all earlier
    ones. Texts that are not ``is_apart`` are also cut against each other and themselves.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        staying: StayingText,
        plan: AlignmentPlan,
        look_up: LookUp,
        *,
        is_apart: bool,
    ) -> None:
        self._forms, self._staying = forms, staying
        self._look_up, self._is_apart = look_up, is_apart
        self._near = SearchedDocuments(
            plan,
            look_up.scheme,
            lambda numbers: [shingles_of(self._indexed[number] for number in numbers)],
        )
        self._known: dict[Form, _Known] = {}
        self._indexes: list[_NearIndex] = []
        self._indexed: list[Form] = []

    def cut(self) -> list[list[Step]]:
        """Return the steps of each text, ending with its remainder."""
        self._find(self._forms)
        while True:
            self._stays: dict[int, Form] = {}
            cuts = [self._cut_text(form) for form in self._forms]
            forms = [step.form for steps in cuts for step in steps]
            asked = [form for form in forms if not self._is_known(form)]
            if not asked:
                if not self._index_new():
                    return cuts
                asked = forms
            self._find(asked)

    def add_to(self, staying: StayingText, cuts: Sequence[Sequence[Step]]) -> None:
        """Add the remaining forms to the remaining text."""
        forms = [steps[-1].form for steps in cuts][::-1]
        is_indexed = len(self._indexes) == 1 and forms == self._indexed
        staying.add(forms, self._indexes[0].index if is_indexed else None)

    def _cut_text(self, whole: Form) -> list[Step]:
        steps, n_put_back = [Step(whole)], 0
        while True:
            step = steps[-1]
            if not self._is_known(step.form):
                return steps
            step.chosen = self._choose(step, has_own=n_put_back < _MOST_PUT_BACK)
            if not step.chosen:
                self._stays[whole.text] = step.form
                return steps
            removal = _first_hit(steps)
            if removal is None:
                steps.append(Step(step.form.without(step.chosen)))
                continue
            # A passage that was to be kept is removed itself.
            number, repeat = removal
            n_put_back += 1
            if n_put_back == _MOST_PUT_BACK:
                number = _first_of_own(steps)
            del steps[number + 1 :]
            steps[number].put_back.add(repeat)

    def _is_known(self, form: Form) -> bool:
        known = self._known.get(form)
        return known is not None and known.n_seen == len(self._indexes)

    def _choose(self, step: Step, *, has_own: bool) -> list[Candidate]:
        """Return copies of other texts, else the text's own repeats."""
        form, known = step.form, self._known[step.form]
        near = tuple(
            number
            for number in known.near
            if self._stays.get(self._indexed[number].text) is self._indexed[number]
        )
        if near not in known.chosen:
            hits = WindowHits.joined([known.near[number] for number in near])
            known.chosen[near] = choose_passages(
                form, [(self._staying.documents, known.staying), (self._near, hits)]
            )
        if known.chosen[near] or not has_own:
            return known.chosen[near]
        if known.repeats is None and known.own is not None:
            known.repeats = self._near.candidates(form, known.own, known.number)
        allowed = [each for each in known.repeats or () if each not in step.put_back]
        return _pick_repeats(form, allowed) if allowed else allowed

    def _index_new(self) -> bool:
        """Index new remaining forms, and return whether any were new."""
        if self._is_apart:
            return False
        stays = [form for form in self._stays.values() if self._known[form].number < 0]
        new = sorted(stays, key=lambda form: -form.text)
        if not new:
            return False
        first = len(self._indexed)
        for number, form in enumerate(new, first):
            self._known[form].number = number
        index = self._look_up.index(shingles_of(new))
        self._indexes.append(_NearIndex(new, index, first))
        self._indexed += new
        self._near.add(new)
        return True

    def _find(self, forms: Sequence[Form]) -> None:
        new = [form for form in forms if form not in self._known]
        for form, hits in zip(new, self._staying.find(new), strict=True):
            self._known[form] = _Known(hits)
        for number, near in enumerate(self._indexes):
            asked = [
                form
                for form in forms
                if self._known[form].n_seen <= number and form.text >= near.first_text
            ]
            numbers = np.array([self._known[form].number for form in asked], np.int64)
            later = near.earlier(asked, numbers)
            found = self._look_up.find(near.index, shingles_of(asked), later)
            for form, hits in zip(asked, found, strict=True):
                if len(hits):
                    self._note(form, replace(hits, documents=hits.documents + near.first))
        for form in forms:
            self._known[form].n_seen = len(self._indexes)

    def _note(self, form: Form, hits: WindowHits) -> None:
        known = self._known[form]
        order = np.argsort(hits.documents, kind="stable")
        firsts = np.flatnonzero(np.diff(hits.documents[order], prepend=-1)).tolist()
        for first, stop in pairwise([*firsts, len(order)]):
            number = int(hits.documents[order[first]])
            of_one = hits.take(order[first:stop])
            if number == known.number:
                known.own = of_one
            else:
                known.near[number] = of_one


def _pick_repeats(form: Form, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Pick later repeats within a form, except protected ones."""
    chosen: list[Candidate] = []
    size = int(form.places[-1]) + 1 if len(form.places) else 0
    goes, stays = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    for each in sorted(candidates, key=lambda each: (each.first, *each.order())):
        gone, kept = slice(each.start, each.stop), slice(each.kept_start, each.kept_stop)
        if not (goes[gone].any() or stays[gone].any() or goes[kept].any()):
            goes[gone], stays[kept] = True, True
            chosen.append(each)
    return chosen


def _first_hit(steps: Sequence[Step]) -> tuple[int, Candidate] | None:
    """Return the first own repeat with a removed source."""
    *before, last = steps
    gone = [last.form.places[each.first : each.last] for each in last.chosen]
    places = np.concatenate(gone)
    for number, step in enumerate(before):
        for each in step.chosen:
            if (
                each.kept_text == step.form.text
                and ((places >= each.kept_start) & (places < each.kept_stop)).any()
            ):
                return number, each
    return None


def _first_of_own(steps: Sequence[Step]) -> int:
    text = steps[0].form.text
    return next(k for k, step in enumerate(steps) if step.chosen[0].kept_text == text)


# Tokens of texts that are looked up together: a share of the remaining tokens, within bounds.
# Repeats within a block cost more than repeats of earlier texts, and each block costs a search of
# all segments.
_BLOCK_SHARE, _LEAST_BLOCK, _LARGEST_BLOCK = 8, 1 << 12, 1 << 20


class PassageCutter:
    """Cut passages that other texts or the same text repeat.

    ``order`` has the documents in keep order; texts are numbered by it. The first ``n_others``
    are of another collection and stay whole; then only passages that one of them has are removed.
    A removed passage is in ``min_documents`` texts; None removes all repeats, also within a text.
    """

    def __init__(
        self,
        tokens: TokenLists,
        order: Int64s,
        n_others: int,
        plan: AlignmentPlan,
        min_documents: int | None,
        look_up: LookUp,
    ) -> None:
        self._tokens, self._order, self._n_others = tokens, order, n_others
        self._plan, self._min_documents, self._look_up = plan, min_documents, look_up
        self._sizes = np.diff(tokens.offsets)[order]
        self._staying = StayingText(plan, look_up)

    def cut(self) -> CutSpans:
        """Find all passages to remove, as spans of tokens.

        A passage across an earlier removal means its remaining tokens on both sides.
        """
        for texts in self._blocks(0, self._n_others):
            self._staying.add([self._whole(text) for text in texts])
        removed: list[tuple[int, Candidate]] = []
        n_tokens, n_done = int(self._sizes[self._n_others :].sum()), 0
        for texts in self._blocks(self._n_others, len(self._order)):
            block = CutBlock(
                [self._whole(text) for text in texts],
                self._staying,
                self._plan,
                self._look_up,
                is_apart=self._n_others > 0,
            )
            cuts = block.cut()
            for text, steps in zip(texts, cuts, strict=True):
                removed += [(text, each) for step in steps for each in step.chosen]
            if not self._n_others:
                block.add_to(self._staying, cuts)
            n_done += int(self._sizes[texts.start : texts.stop].sum())
            self._look_up.runner.report("cut", n_done, n_tokens)
        return self._removed(removed)

    def _blocks(self, first: int, end: int) -> Iterator[range]:
        most = _LARGEST_BLOCK
        if self._look_up.workspace.work is not None:
            most = min(most, tokens_within(self._look_up.workspace))
        ends = np.cumsum(self._sizes)
        while first < end:
            n_tokens = min(max(self._staying.n_tokens // _BLOCK_SHARE, _LEAST_BLOCK), most)
            before = int(ends[first - 1]) if first else 0
            stop = int(np.searchsorted(ends, before + n_tokens, side="right"))
            stop = min(max(stop, first + 1), end)
            yield range(first, stop)
            first = stop

    def _whole(self, text: int) -> Form:
        document = self._order[text]
        start, stop = self._tokens.offsets[document : document + 2]
        tokens = self._tokens.values[start:stop]
        places = np.arange(len(tokens), dtype=np.int64)
        heads = self._tokens.heads[start:stop]
        if len(heads):
            heads = np.append(heads, True)
        return Form(text, places, tokens, heads, self._look_up.scheme)

    def _removed(self, found: Sequence[tuple[int, Candidate]]) -> CutSpans:
        rows = np.array([(text, *each[2:7]) for text, each in found], np.int64).reshape(-1, 6)
        similarities = np.array([each.similarity for _, each in found], np.float64)
        texts, starts, stops, kept_texts, kept_starts, kept_stops = rows.T
        removed = CutSpans(texts, starts, stops, kept_texts, kept_starts, kept_stops, similarities)
        if self._min_documents is not None:
            removed = _of_enough(removed, self._min_documents)
        order = np.lexsort((removed.stops, removed.starts, removed.documents))
        removed = removed.take(order)
        documents, kept = self._order[removed.documents], self._order[removed.kept_documents]
        return replace(removed, documents=documents, kept_documents=kept)


def _of_enough(removed: CutSpans, min_documents: int) -> CutSpans:
    """Return the removed passages that enough documents have.

    A document that lost a passage counts for a kept passage if it covers half of it. If a passage
    is kept after all, passages that were compared without it are kept, too.
    """
    goes = _have_enough(removed, min_documents)
    n_left: int = len(removed)
    while n_left > np.count_nonzero(goes):
        n_left = int(np.count_nonzero(goes))
        back = removed.take(np.flatnonzero(~goes))
        for document in np.unique(back.documents).tolist():
            rows = np.flatnonzero(back.documents == document)
            starts, stops = back.starts[rows, None], back.stops[rows, None]
            is_around = (removed.starts < starts) & (stops < removed.stops)
            goes &= ~(is_around.any(axis=0) & (removed.documents == document))
            is_around = (removed.kept_starts < starts) & (stops < removed.kept_stops)
            goes &= ~(is_around.any(axis=0) & (removed.kept_documents == document))
    return removed.take(np.flatnonzero(goes))


def _have_enough(removed: CutSpans, min_documents: int) -> Bools:
    have_enough: Bools = np.zeros(len(removed), np.bool_)
    for kept in np.unique(removed.kept_documents).tolist():
        rows = np.flatnonzero(removed.kept_documents == kept)
        starts, stops = removed.kept_starts[rows], removed.kept_stops[rows]
        places, of_place = np.unique(np.stack([starts, stops]), axis=1, return_inverse=True)
        for number, (start, stop) in enumerate(places.T.tolist()):
            common = np.minimum(stops, stop) - np.maximum(starts, start)
            documents = removed.documents[rows[2 * common >= stop - start]]
            n_documents = len(np.union1d(documents, kept))
            have_enough[rows[of_place.ravel() == number]] = n_documents >= min_documents
    return have_enough
