"""Why a document stayed or went: its relations to others, looked up and worked out anew."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.jobs.explain.evidence import (
    WEIGHT_UNIT,
    Closest,
    Evidence,
    Fate,
    Link,
    Reason,
    Relation,
    Rule,
    Terms,
    compare_with_all,
    decide_rule,
    find_evidence,
    sizes_of,
)
from neardup.jobs.explain.explain_result import ExplainResult
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.decided import (
    NO_TEXT,
    Batch,
    DecidedDocuments,
    Document,
    Documents,
    OrderKeys,
    come_first,
    deciding_key,
    find_keeper,
)
from neardup.stages.scheme import DecidingScheme, SignedDocuments, restore_scheme
from neardup.tables import Bools, Floats, Int64s, Texts, with_wide_offsets
from neardup.text.tokenizers import TokenFunction
from neardup.text.weighting import count_documents, frequency_lists

# What is between one document and others: how alike they are, and which rule has decided.
#
# One document is compared with all others, for the closest; the reason of what became of it is put
# in a word; and of components there is the chain of similar documents to the one that stayed.


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
        return bool(come_first(self._scheme.keep, *self._order_keys(one, other))[0])

    def _key(self, one: Batch, other: Batch) -> str | None:
        """Return by which key of the policy one of two documents comes before the other."""
        if min(one.numbers[0], other.numbers[0]) < 0:
            return None
        key = deciding_key(self._scheme.keep, *self._order_keys(one, other))
        return "first" if key is None else str(key)

    def _order_keys(self, *batches: Batch) -> list[OrderKeys]:
        by_length = self._scheme.keep.by_length
        return [batch.keys(by_length=by_length) for batch in batches]

    def relate(self, own: Batch, other: Batch) -> Relation:
        """Return what is between a document and another one."""
        comes_first = self.is_first(other, own)
        first, second = (other, own) if comes_first else (own, other)
        signed = self._sign(second, first)
        evidence = find_evidence(signed, 0, 1, self._scheme)
        later, earlier = second.describe(0), first.describe(0)

        def with_keeper() -> Evidence | None:
            """Return how alike the later one and its keeper are; None if the text is not there."""
            number = None
            if later.keeper_in == "input":
                number = self._documents.find(later.keeper)
            if number is None:
                return None
            # Documents that went for the same one are often asked about.
            if number not in self._known:
                self._known[number] = self._documents.one(number)
            return find_evidence(self._sign(second, self._known[number]), 0, 1, self._scheme)

        rule = decide_rule(
            Fate(earlier.place, earlier.keeper_place, is_empty=not signed.n_tokens[1]),
            Fate(later.place, later.keeper_place, is_empty=not signed.n_tokens[0]),
            evidence,
            self._terms,
            with_keeper,
            lambda: self._copy_comes_first(second, first, later),
        )
        described = earlier if comes_first else later
        return Relation(described, rule, comes_first, evidence, other.text, self._key(own, other))

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


def relate_by_tables(own: Document, other: Batch) -> Relation:
    """Return what is known without comparing texts: for what they went."""
    described = other.describe(0)
    rule: Rule = "unknown"
    comes_first = own.keeper_place == described.place
    if comes_first or described.keeper_place == own.place:
        rule = "went-for-it"
    elif own.keeper is not None and own.keeper_place == described.keeper_place:
        rule = "same-keeper"
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
    places = [(batch, row) for batch in batches for row in range(len(batch.numbers))]
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
    links: list[Link] = []
    place = 1
    while place:
        previous, similarity = before[place]
        batch, row = places[place]
        links.append(Link(batch.describe(row).id, similarity))
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


# Documents of a component among which a chain is looked for.
MOST_IN_CHAIN = 1000

_OPTIONS = ("measure", "threshold", "method", "keep", "clusters", "bands", "rows")


@dataclass(frozen=True)
class Question:
    """What is asked: about which document, and how much.

    ``other`` is the id of the document that it is compared with, None for none; ``closest`` how
    many of the most similar ones are listed, none looked for with 0; ``n_gone`` how many that went
    for it.
    """

    id: object
    other: object = None
    closest: int = 3
    n_gone: int = 10


def explain_document(
    documents: DecidedDocuments,
    question: Question,
    runner: Runner,
    *,
    against: Documents | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
) -> ExplainResult:
    """Explain what became of a document.

    Parameters
    ----------
    documents
        All that were decided.
    question
        What is asked.
    runner
        Does the work.
    against
        The collection that they were compared against, where it is there.
    tokenizer
        That which was used, if it was a file or a function.
    """
    own = documents.one(_number_of(documents, question.id))
    other = None
    if question.other is not None:
        number = _number_of(documents, question.other)
        if number == own.numbers[0]:
            message = f"{str(question.other)!r} is the document itself; name another one beside it"
            raise InvalidParameterError(message, "other")
        other = documents.one(number)
    scheme = restore_scheme(documents.summary, tokenizer)
    notes = []
    if scheme is not None and scheme.needs_frequencies:
        with runner.stage("count"):
            scheme = _weighed(scheme, documents, against)
        notes += ["weights"] if scheme is None else []
    explainer = _Explainer(documents, scheme, against, question, runner, notes)
    return explainer.explain(own, other)


def _number_of(documents: DecidedDocuments, identifier: object) -> int:
    number = documents.find(identifier)
    if number is None:
        alike = documents.similar_ids(identifier)
        found = (
            f"there is {', '.join(map(repr, alike))}" if alike else "clusters.parquet has all ids"
        )
        if n := documents.summary.get("filtered_rows"):
            found += f"; {counted(n, 'row')} did not meet --where"
        message = f"no document has the id {str(identifier)!r}; {found}"
        raise InvalidParameterError(message, "id")
    return number


def _weighed(
    scheme: DecidingScheme,
    documents: DecidedDocuments,
    against: Documents | None,
) -> DecidingScheme | None:
    """Count in how many documents each shingle is; None if the deduplication had other counts."""
    if against is not None and against.frequencies is not None:
        return scheme.with_frequencies(against.frequencies)
    lists = (
        frequency_lists(
            scheme.shingles.tokenizer.hash_tokens(Texts.from_arrow(batch.texts)), scheme.shingles
        )
        for collection in (documents, *([] if against is None else [against]))
        for batch in collection.batches()
    )
    return scheme.with_frequencies(count_documents(lists))


class _Explainer:
    def __init__(
        self,
        documents: DecidedDocuments,
        scheme: DecidingScheme | None,
        against: Documents | None,
        question: Question,
        runner: Runner,
        notes: list[str],
    ) -> None:
        self._documents, self._scheme, self._against = documents, scheme, against
        self._question, self._runner = question, runner
        self._notes = notes
        self._judge = None if scheme is None else Judge(documents, scheme)

    def explain(self, own: Batch, other: Batch | None) -> ExplainResult:
        """Put everything together."""
        documents, document = self._documents, own.describe(0)
        gone = documents.gone_for(document.id) if document.side == "kept" else np.empty(0, np.int64)
        found = None if document.keeper is None else self._find_keeper(document)
        keeper = self._keeper(own, document, found)
        neighbours = closest = None
        n_tokens, size = self._sizes(own)
        if self._question.closest and self._scheme is not None:
            neighbours = self._neighbours(own, document, found, gone)
            closest = self._closest(own, neighbours)
        cluster, cluster_size = documents.cluster_of(document.number)
        return ExplainResult(
            document=document,
            text=own.text,
            reason=find_reason(
                document,
                keeper,
                neighbours,
                n_tokens,
                may_be_linked=documents.summary["clusters"] == "components",
            ),
            n_tokens=n_tokens,
            size=size,
            keeper=keeper,
            gone=[documents.describe(int(number)) for number in gone[: self._question.n_gone]],
            n_gone=len(gone),
            cluster_id=cluster,
            cluster_size=cluster_size,
            closest=closest,
            asked=None if other is None else self._relation(own, other),
            chain=self._chain(own, keeper, found, cluster),
            options=_describe(documents.summary),
            notes=tuple(self._notes),
        )

    def _relation(self, own: Batch, other: Batch) -> Relation:
        if self._judge is None:
            return relate_by_tables(own.describe(0), other)
        return self._judge.relate(own, other)

    def _keeper(self, own: Batch, document: Document, keeper: Batch | None) -> Relation | None:
        """Return what is between a document that went and the one that it went for."""
        if document.keeper is None:
            return None
        if keeper is None:
            where = document.keeper_in
            self._notes.append(f"keeper-{where}" if where in NO_TEXT else "keeper-text")
            described = Document(
                -1, document.keeper, "against", document.keeper_file, document.keeper_row
            )
            return Relation(described, "went-for-it", True, None, None)
        relation = self._relation(own, keeper)
        evidence, noted = relation.evidence, document.similarity
        if evidence and noted is not None and not math.isclose(evidence.similarity, noted):
            self._notes.append("other-similarity")
        return relation

    def _find_keeper(self, document: Document) -> Batch | None:
        if document.keeper_in == "input":
            number = self._documents.find(document.keeper)
            return None if number is None else self._documents.one(number)
        if self._against is None or document.keeper_in in NO_TEXT:
            return None
        return find_keeper(self._against, document)

    def _sizes(self, own: Batch) -> tuple[int | None, float | None]:
        if self._scheme is None:
            return None, None
        signed = self._scheme.sign(Texts.from_arrow(own.texts[:1]))
        unit = WEIGHT_UNIT if self._scheme.weighted else 1
        return int(signed.n_tokens[0]), sizes_of(signed.sets).item() * unit

    def _neighbours(
        self, own: Batch, document: Document, keeper: Batch | None, gone: Int64s
    ) -> Neighbours:
        assert self._scheme is not None
        left_out = gone if keeper is None else np.append(gone, keeper.numbers[0])
        collections: list[Documents] = [self._documents]
        if self._against is not None:
            collections.insert(0, self._against)
        if "removed_for_index" in self._documents.summary:
            self._notes.append("index-not-read")
        elif self._against is None and self._documents.summary.get("against_documents"):
            self._notes.append("others-not-read")
        with self._runner.stage("closest"):
            return find_neighbours(
                own,
                collections,
                self._scheme,
                self._question.closest,
                left_out,
                self._runner,
                stays=document.keeper is None,
                total=None if self._against else len(self._documents),
            )

    def _closest(self, own: Batch, found: Neighbours) -> Closest:
        return Closest(
            found.n_compared,
            found.n_similar,
            [self._relation(own, each.document) for each in found.similar],
            [self._relation(own, each.document) for each in found.below],
        )

    def _chain(
        self, own: Batch, keeper: Relation | None, end: Batch | None, cluster: int
    ) -> list[Link] | None:
        """Return the chain that leads to the keeper, where that is not similar itself."""
        scheme = self._scheme
        if not keeper or not keeper.evidence or not scheme or scheme.clusters != "components":
            return None
        if keeper.evidence.reaches or keeper.evidence.reverse_reaches:
            return None
        members = self._documents.members_of(cluster)
        numbers = members[members != own.numbers[0]]
        if end is None or len(numbers) > MOST_IN_CHAIN:
            self._notes.append("long-chain")
            return None
        numbers = numbers[numbers != end.numbers[0]]
        return find_chain(own, end, list(self._documents.batches(numbers)), scheme)


def _describe(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has decided, as plain values."""
    described = {name: summary[name] for name in _OPTIONS if name in summary}
    scheme = summary["scheme"] or {}
    return described | {name: scheme.get(name) for name in ("tokenizer", "ngram")}
