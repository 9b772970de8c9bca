"""What is between one document and others: how alike they are, and which rule has decided.

One document is compared with all others, for the closest; the reason of what became of it is put in
a word; and of components there is the chain of similar documents to the one that stayed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
import pyarrow as pa

from neardup.jobs.explain.documents import Batch, DecidedDocuments, Document, Documents, come_first
from neardup.jobs.explain.evidence import (
    DecidingScheme,
    Evidence,
    SignedDocuments,
    compare_with_all,
    find_evidence,
)
from neardup.jobs.explain.values import Fate, Link, Reason, Relation, Rule, Terms, decide_rule
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Floats, Int64s, Texts, with_wide_offsets


@dataclass(frozen=True)
class Neighbour:
    """A document, how similar it is, and what that means.

    ``is_rival`` says that it stays and comes first, so that the other one should have gone.
    """

    similarity: float
    is_rival: bool
    document: Batch

    @property
    def rank(self) -> tuple[bool, float, int]:
        """By what the most important ones are listed first."""
        return self.is_rival, self.similarity, -int(self.document.numbers[0])


@dataclass(frozen=True)
class Neighbours:
    """What a comparison with many documents has found.

    ``n_compared`` documents; ``n_similar`` at the threshold, ``n_rivals`` of which come first and
    stay, and ``n_before`` come first and went. The most important ones are listed.
    """

    n_compared: int = 0
    n_similar: int = 0
    n_rivals: int = 0
    n_before: int = 0
    similar: Sequence[Neighbour] = ()
    below: Sequence[Neighbour] = ()

    def joined(self, other: Neighbours, count: int) -> Neighbours:
        """Return what both have found, so many of either kind listed."""
        return Neighbours(
            self.n_compared + other.n_compared,
            self.n_similar + other.n_similar,
            self.n_rivals + other.n_rivals,
            self.n_before + other.n_before,
            nlargest(count, [*self.similar, *other.similar], key=lambda each: each.rank),
            nlargest(count, [*self.below, *other.below], key=lambda each: each.rank),
        )


def find_neighbours(
    own: Batch,
    collections: Sequence[Documents],
    scheme: DecidingScheme,
    count: int,
    left_out: Int64s,
    runner: Runner,
    *,
    stays: bool,
    total: int | None = None,
) -> Neighbours:
    """Compare a document with all of some collections.

    Parameters
    ----------
    own
        The document.
    collections
        It may be in one of them.
    scheme
        What has decided.
    count
        How many similar ones, and how many below the threshold, are listed.
    left_out
        Numbers of documents that are compared, and not listed.
    runner
        A batch of documents is a block of its work.
    stays
        Whether the document stays, so that one that should have made it go comes first.
    total
        How many documents there are, for progress; None where that is not known.

    Notes
    -----
    All texts are read once. Memory that of a few batches.
    """
    own_sets = scheme.sets_of(Texts.from_arrow(own.texts))
    own_keys = own.keys(by_length=scheme.keep.by_length)

    def compare(item: tuple[Documents, Batch]) -> Neighbours:
        documents, batch = item
        is_other: Bools = batch.numbers != own.numbers[0]
        before = come_first(scheme.keep, batch.keys(by_length=scheme.keep.by_length), own_keys)
        sets = scheme.sets_of(Texts.from_arrow(batch.texts))
        found = compare_with_all(own_sets, sets, scheme, before)
        similar = found.reach & is_other
        stay = documents.stay(batch.numbers)
        is_listed = is_other & ~np.isin(batch.numbers, left_out)
        rivals = similar & before & stay & is_listed & stays

        def best(mask: Bools) -> list[Neighbour]:
            rows = np.flatnonzero(mask)
            order = np.lexsort((rows, -found.similarities[rows], ~rivals[rows]))[:count]
            return [
                Neighbour(float(found.similarities[row]), bool(rivals[row]), batch.take(int(row)))
                for row in rows[order]
            ]

        return Neighbours(
            int(is_other.sum()),
            int(similar.sum()),
            int(rivals.sum()),
            int((similar & before & ~stay).sum()),
            best(similar & is_listed),
            best(~found.reach & (found.similarities > 0) & is_listed),
        )

    every = ((documents, batch) for documents in collections for batch in documents.batches())
    done, neighbours = runner.counter("closest", total), Neighbours()
    for part in runner.map(compare, every):
        neighbours = neighbours.joined(part, count)
        done(part.n_compared)
    return neighbours


# Exact copies of a document that are looked through for the first one.
_MOST_COPIES = 1000


class Judge:
    """Judges what is between documents of a deduplication.

    Parameters
    ----------
    documents
        All of them.
    scheme
        What has decided.
    """

    def __init__(self, documents: DecidedDocuments, scheme: DecidingScheme) -> None:
        self._documents, self._scheme = documents, scheme
        by_pairs = documents.summary["method"] == "pairs"
        self._terms = Terms(scheme.clusters, by_pairs)
        self._known: dict[int, Batch] = {}

    def is_first(self, one: Batch, other: Batch) -> bool:
        """Whether a document comes before another one in keep order."""
        policy = self._scheme.keep
        keys = (batch.keys(by_length=policy.by_length) for batch in (one, other))
        return bool(come_first(policy, *keys)[0])

    def relate(self, own: Batch, other: Batch) -> Relation:
        """Return what is between a document and another one."""
        comes_first = self.is_first(other, own)
        first, second = (other, own) if comes_first else (own, other)
        signed = self._sign(second, first)
        evidence = find_evidence(signed, 0, 1, self._scheme)
        found = second.describe(0), first.describe(0)
        rule = self._rule(second, first, signed, evidence)
        described = found[1] if comes_first else found[0]
        return Relation(described, rule, comes_first, evidence, other.text)

    def _rule(
        self, second: Batch, first: Batch, signed: SignedDocuments, evidence: Evidence
    ) -> Rule:
        later, earlier = second.describe(0), first.describe(0)
        return decide_rule(
            Fate(earlier.place, earlier.keeper_place, is_empty=not signed.n_tokens[1]),
            Fate(later.place, later.keeper_place, is_empty=not signed.n_tokens[0]),
            evidence,
            self._terms,
            lambda: self._with_keeper(second, later),
            lambda: self._copy_comes_first(second, first, later),
        )

    def _with_keeper(self, own: Batch, described: Document) -> Evidence | None:
        """Return how alike a document and its keeper are; None if that one's text is not there."""
        keeper = self.keeper_of(described)
        if keeper is None:
            return None
        return find_evidence(self._sign(own, keeper), 0, 1, self._scheme)

    def keeper_of(self, described: Document) -> Batch | None:
        """Return the document that one went for, None if its text is not there."""
        if described.keeper_in == "against":
            return None
        number = self._documents.find(described.keeper)
        return None if number is None else self.one(number)

    def one(self, number: int) -> Batch:
        """Return a document of the input, which is read once."""
        if number not in self._known:
            self._known[number] = self._documents.one(number)
        return self._known[number]

    def _copy_comes_first(self, own: Batch, other: Batch, described: Document) -> bool:
        """Whether an exact copy of a document went that comes before another document."""
        gone = self._documents.gone_for(described.keeper)
        numbers: Int64s = gone[gone != own.numbers[0]][:_MOST_COPIES]
        for batch in self._documents.batches(numbers):
            for row in range(len(batch.numbers)):
                copy = batch.take(row)
                if self._sign(own, copy).are_copies(0, 1) and self.is_first(copy, other):
                    return True
        return False

    def _sign(self, *batches: Batch) -> SignedDocuments:
        texts = pa.concat_arrays([with_wide_offsets(batch.texts) for batch in batches])
        return self._scheme.sign(Texts.from_arrow(texts))


def signed_alone(own: Batch, scheme: DecidingScheme) -> SignedDocuments:
    """Sign one document."""
    return scheme.sign(Texts.from_arrow(own.texts[:1]))


def relate_by_tables(own: Document, other: Batch) -> Relation:
    """Return what is known without comparing texts: for what they went."""
    described = other.describe(0)
    fates = [Fate(each.place, each.keeper_place) for each in (own, described)]
    rule: Rule = "unknown"
    if fates[0].went_for(fates[1]) or fates[1].went_for(fates[0]):
        rule = "went-for-it"
    elif not fates[0].stays and fates[0].keeper == fates[1].keeper:
        rule = "same-keeper"
    comes_first = fates[0].went_for(fates[1])
    return Relation(described, rule, comes_first, None, other.text)


def find_reason(
    document: Document,
    keeper: Relation | None,
    neighbours: Neighbours | None,
    n_tokens: int | None,
    *,
    may_be_linked: bool,
) -> Reason:
    """Return in a word why a document stayed or went.

    Only where documents ``may_be_linked`` by others does one go for one that is not similar.
    """
    if keeper is not None:
        if document.exact_copy is None:
            return "in-pairs"
        if document.exact_copy:
            return "exact-copy"
        evidence = keeper.evidence
        is_similar = evidence is None or evidence.reaches or evidence.reverse_reaches
        if is_similar:
            return "similar"
        return "by-chain" if may_be_linked else "texts-changed"
    if n_tokens == 0:
        return "no-tokens"
    if neighbours is None:
        return "not-looked-for"
    if neighbours.n_rivals:
        return "missed"
    return "similar-ones-went" if neighbours.n_before else "nothing-similar"


def find_chain(
    own: Batch, keeper: Batch, members: list[Batch], scheme: DecidingScheme
) -> list[Link] | None:
    """Find a shortest chain of similar documents that share buckets; None if there is none.

    Parameters
    ----------
    own, keeper
        Where it begins and ends.
    members
        The other documents of the cluster.
    scheme
        What has decided.

    Returns
    -------
    Each document after the first one, with its similarity to the one before it.
    """
    batches = [own, keeper, *members]
    ids = [batch.describe(row).id for batch in batches for row in range(len(batch.numbers))]
    texts = pa.concat_arrays([with_wide_offsets(batch.texts) for batch in batches])
    signed = scheme.sign(Texts.from_arrow(texts))
    before: dict[int, tuple[int, float]] = {0: (-1, 1.0)}
    waiting = deque([0])
    while waiting and 1 not in before:
        place = waiting.popleft()
        are_linked, similarities = _links_of(signed, place, scheme)
        for other in np.flatnonzero(are_linked).tolist():
            if other not in before:
                before[other] = place, float(similarities[other])
                waiting.append(other)
    if 1 not in before:
        return None
    links, place = [], 1
    while place:
        previous, similarity = before[place]
        links.append(Link(ids[place], similarity))
        place = previous
    return links[::-1]


def _links_of(signed: SignedDocuments, place: int, scheme: DecidingScheme) -> tuple[Bools, Floats]:
    """Return which documents are linked to one, and how similar they are in a direction that is."""
    own = signed.sets.take(np.array([place]))
    forth = compare_with_all(own, signed.sets, scheme, np.ones(len(signed), np.bool_))
    back = compare_with_all(own, signed.sets, scheme, np.zeros(len(signed), np.bool_))
    same = (signed.digests == signed.digests[place]).all(axis=1) & (signed.n_tokens > 0)
    are_linked: Bools = forth.reach | back.reach | same
    if signed.keys is not None:
        are_linked &= (signed.keys == signed.keys[place]).any(axis=1)
    similarities = np.maximum(forth.similarities, back.similarities)
    return are_linked, np.where(same, 1.0, similarities)
