"""What is between one document and others: how alike they are, and which rule has decided."""

from __future__ import annotations

import pyarrow as pa

from neardup.jobs.explain.documents import Batch, DecidedDocuments, Document
from neardup.jobs.explain.evidence import Evidence, find_evidence
from neardup.jobs.explain.keep_order import come_first
from neardup.jobs.explain.rules import Fate, Rule, Terms, decide_rule
from neardup.jobs.explain.scheme import DecidingScheme, SignedDocuments
from neardup.jobs.explain.values import Relation
from neardup.tables import Int64s, Texts, with_wide_offsets

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
