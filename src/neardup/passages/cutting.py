"""Remove near-duplicate passages from texts in keep order.

A text is looked up in the remaining text of its predecessors. Similar passages are removed, best
first, one source per stretch, and the shortened text is looked up again until nothing is found.
Then the text is looked up in itself, and later repeats are removed. The remainder joins the index.
So repeated text is indexed once, and cutting a collection again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from neardup.passages.aligner import AlignmentPlan, PassageMaker
from neardup.passages.open_passages import OpenPassages
from neardup.passages.passage_lookup import (
    DocumentLimits,
    GrowingIndex,
    LookUp,
    WindowHits,
    lists_of,
    tokens_within,
)
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
    """Remaining tokens of a text, and their window hits.

    ``heads`` marks tokens that begin a character, and the end; it is empty if all do. ``staying``
    are hits in the remaining text, ``near`` the hits in each form of the block by its number, and
    ``own`` the hits in the form itself. The first ``n_seen`` indexes of the block were searched; -1
    if not even the remaining text was. ``number`` is the form's number in the indexes, or -1.
    """

    def __init__(
        self, text: int, places: Int64s, tokens: Uint64s, heads: Bools, scheme: PassageScheme
    ) -> None:
        self.text, self.places, self.tokens, self.heads = text, places, tokens, heads
        has_shingles = scheme.shingles.ngram > 1
        self.shingles = scheme.shingle(lists_of([tokens])).values if has_shingles else tokens
        self._scheme = scheme
        self._shorter: dict[tuple[tuple[int, int], ...], Form] = {}
        self.staying, self.own = WindowHits.of_none(), WindowHits.of_none()
        self.near: dict[int, WindowHits] = {}
        self.n_seen, self.number = -1, -1
        # Passages of other texts by the near forms that are kept, and repeats of the own text.
        self.chosen: dict[tuple[int, ...], list[Candidate]] = {}
        self.repeats: list[Candidate] | None = None

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


class _NearIndex(NamedTuple):
    """An index of forms from ``first`` on, the last text first."""

    opened: OpenPassages
    first: int
    texts: Int64s

    def limit(self, forms: Sequence[Form]) -> DocumentLimits:
        """Restrict each form to forms of earlier texts and itself."""
        texts, numbers = np.array([(form.text, form.number) for form in forms], np.int64).T
        firsts = np.searchsorted(-self.texts, -texts)
        are_own = numbers - self.first == firsts
        # Another form of the same text is not an earlier text.
        inside = np.minimum(firsts, len(self.texts) - 1)
        firsts += (self.texts[inside] == texts) & ~are_own
        return DocumentLimits(firsts, are_own)


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
        self._indexes: list[_NearIndex] = []
        self._indexed: list[Form] = []
        # The remainder of each text.
        self._stays: dict[int, Form] = {}

    def cut(self) -> list[list[Step]]:
        """Return the steps of each text, ending with its remainder."""
        self._find(self._forms)
        while True:
            self._stays = {}
            cuts = [self._cut_text(form) for form in self._forms]
            forms = [step.form for steps in cuts for step in steps]
            asked = [form for form in forms if form.n_seen < len(self._indexes)]
            if not asked:
                if self._is_apart or not self._index_new():
                    return cuts
                asked = forms
            self._find(asked)

    def add_to(self, staying: StayingText, cuts: Sequence[Sequence[Step]]) -> None:
        """Add the remaining forms to the remaining text."""
        forms = [steps[-1].form for steps in cuts][::-1]
        is_indexed = len(self._indexes) == 1 and forms == self._indexed
        staying.add(forms, self._indexes[0].opened if is_indexed else None)

    def _cut_text(self, whole: Form) -> list[Step]:
        steps, n_put_back = [Step(whole)], 0
        while True:
            step = steps[-1]
            if step.form.n_seen < len(self._indexes):
                return steps
            step.chosen = self._choose(step, has_own=n_put_back < _MOST_PUT_BACK)
            if not step.chosen:
                self._stays[whole.text] = step.form
                return steps
            orphan = _first_orphan(steps)
            if orphan is None:
                steps.append(Step(step.form.without(step.chosen)))
                continue
            # The kept copy of a repeat would be removed: put the repeat back, and go on from there.
            number, repeat = orphan
            n_put_back += 1
            if n_put_back == _MOST_PUT_BACK:
                # No own repeat is removed any more: go on from the first step that removed some.
                are_own = [step.chosen[0].kept_text == whole.text for step in steps]
                number = are_own.index(True)
            del steps[number + 1 :]
            steps[number].put_back.add(repeat)

    def _choose(self, step: Step, *, has_own: bool) -> list[Candidate]:
        """Return copies of other texts, else the text's own repeats."""
        form, indexed = step.form, self._indexed
        near = tuple(k for k in form.near if self._stays.get(indexed[k].text) is indexed[k])
        if near not in form.chosen:
            hits = WindowHits.joined([form.near[number] for number in near])
            form.chosen[near] = choose_passages(
                form, [(self._staying.documents, form.staying), (self._near, hits)]
            )
        if form.chosen[near] or not has_own:
            return form.chosen[near]
        if form.repeats is None and len(form.own):
            form.repeats = self._near.candidates(form, form.own, form.number)
        allowed = [each for each in form.repeats or () if each not in step.put_back]
        return _pick_repeats(form, allowed) if allowed else allowed

    def _index_new(self) -> bool:
        """Index new remaining forms, and return whether any were new."""
        stays = [form for form in self._stays.values() if form.number < 0]
        new = sorted(stays, key=lambda form: -form.text)
        if not new:
            return False
        first = len(self._indexed)
        for number, form in enumerate(new, first):
            form.number = number
        texts = np.array([form.text for form in new], np.int64)
        self._indexes.append(_NearIndex(self._look_up.index(shingles_of(new)), first, texts))
        self._indexed += new
        self._near.add(new)
        return True

    def _find(self, forms: Sequence[Form]) -> None:
        """Look up forms in the remaining text and the block."""
        new = [form for form in dict.fromkeys(forms) if form.n_seen < 0]
        for form, hits in zip(new, self._staying.find(new), strict=True):
            form.staying, form.n_seen = hits, 0
        for number, near in enumerate(self._indexes):
            asked = [
                form for form in forms if form.n_seen <= number and form.text >= near.texts[-1]
            ]
            if not asked:
                continue
            limits = near.limit(asked)
            found = self._look_up.find(near.opened, shingles_of(asked), limits)
            for form, hits in zip(asked, found, strict=True):
                for document in np.unique(hits.documents).tolist():
                    rows = np.flatnonzero(hits.documents == document)
                    of_one = hits.take(rows)
                    of_one.documents[:] += near.first
                    if document + near.first == form.number:
                        form.own = of_one
                    else:
                        form.near[document + near.first] = of_one
        for form in forms:
            form.n_seen = len(self._indexes)


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


def _first_orphan(steps: Sequence[Step]) -> tuple[int, Candidate] | None:
    """Return the step and repeat of the first own repeat whose kept copy is removed."""
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


# Tokens of texts that are looked up together: a share of the remaining tokens, within bounds.
# Repeats within a block cost more than repeats of earlier texts, and each block costs a search of
# all segments.
_BLOCK_SHARE, _LEAST_BLOCK, _LARGEST_BLOCK = 8, 1 << 12, 1 << 20


def cut_similar(
    tokens: TokenLists,
    order: Int64s,
    n_others: int,
    plan: AlignmentPlan,
    min_documents: int | None,
    look_up: LookUp,
) -> CutSpans:
    """Find repeated similar passages as spans of tokens.

    ``order`` has the documents in keep order; texts are numbered by it. The first ``n_others`` are
    of another collection and stay whole; then only passages that one of them has are removed. A
    removed passage is in ``min_documents`` texts; None removes all repeats, also within a text. A
    passage across an earlier removal means its remaining tokens on both sides.
    """
    staying, removed = StayingText(plan, look_up), list[tuple[int, Candidate]]()
    ends, text = np.cumsum(np.diff(tokens.offsets)[order]), 0
    before = int(ends[n_others - 1]) if n_others else 0
    while text < len(order):
        first, text = text, _block_end(text, n_others, ends, staying, look_up)
        forms = [_whole(number, tokens, order, look_up.scheme) for number in range(first, text)]
        if first < n_others:
            staying.add(forms)
            continue
        block = CutBlock(forms, staying, plan, look_up, is_apart=n_others > 0)
        cuts = block.cut()
        for number, steps in enumerate(cuts, first):
            removed += [(number, each) for step in steps for each in step.chosen]
        if not n_others:
            block.add_to(staying, cuts)
        look_up.runner.report("cut", int(ends[text - 1]) - before, int(ends[-1]) - before)
    rows = np.array([(number, *each[2:7]) for number, each in removed], np.int64).reshape(-1, 6)
    similarities = np.array([each.similarity for _, each in removed], np.float64)
    found = CutSpans(*[*rows.T, similarities])
    if min_documents is not None:
        found = _of_enough(found, min_documents)
    found = found.take(np.lexsort((found.stops, found.starts, found.documents)))
    documents, kept = order[found.documents], order[found.kept_documents]
    return replace(found, documents=documents, kept_documents=kept)


def _block_end(
    first: int, n_others: int, ends: Int64s, staying: StayingText, look_up: LookUp
) -> int:
    """Return the end of the next block of texts."""
    most = _LARGEST_BLOCK
    if look_up.workspace.work is not None:
        most = min(most, tokens_within(look_up.workspace))
    n_tokens = min(max(staying.n_tokens // _BLOCK_SHARE, _LEAST_BLOCK), most)
    before = int(ends[first - 1]) if first else 0
    stop = int(np.searchsorted(ends, before + n_tokens, side="right"))
    return min(max(stop, first + 1), n_others if first < n_others else len(ends))


def _whole(text: int, lists: TokenLists, order: Int64s, scheme: PassageScheme) -> Form:
    start, stop = lists.offsets[order[text] :][:2]
    tokens, heads = lists.values[start:stop], lists.heads[start:stop]
    places = np.arange(len(tokens), dtype=np.int64)
    return Form(text, places, tokens, np.append(heads, True) if len(heads) else heads, scheme)


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
