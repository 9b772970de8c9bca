"""Why a document stayed or went: its relations to others, looked up and worked out anew."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.jobs.explain.documents import (
    Batch,
    DecidedDocuments,
    Document,
    Documents,
    find_keeper,
)
from neardup.jobs.explain.evidence import WEIGHT_UNIT, DecidingScheme, restore_scheme, sizes_of
from neardup.jobs.explain.judge import (
    Judge,
    Neighbours,
    find_chain,
    find_neighbours,
    find_reason,
    relate_by_tables,
    signed_alone,
)
from neardup.jobs.explain.result import ExplainResult
from neardup.jobs.explain.values import Closest, Link, Relation
from neardup.runtime.runner import Runner
from neardup.tables import Int64s, Texts
from neardup.text.tokenizers import TokenFunction
from neardup.text.weighting import count_documents, frequency_lists

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
    counted: Documents | None = None,
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
    counted
        The documents by which shingles were weighed, where these are others.
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
            scheme = _weighed(scheme, documents, against, counted)
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
        message = f"no document has the id {str(identifier)!r}; {found}"
        raise InvalidParameterError(message, "id")
    return number


def _weighed(
    scheme: DecidingScheme,
    documents: DecidedDocuments,
    against: Documents | None,
    counted: Documents | None,
) -> DecidingScheme | None:
    """Count in how many documents each shingle is; None if the deduplication had other counts."""
    if counted is None and against is not None and against.frequencies is not None:
        return scheme.with_frequencies(against.frequencies)
    collections: list[Documents] = [documents, *([] if against is None else [against])]
    lists = (
        frequency_lists(
            scheme.shingles.tokenizer.hash_tokens(Texts.from_arrow(batch.texts)), scheme.shingles
        )
        for collection in (collections if counted is None else [counted])
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
            self._notes.append("keeper-text")
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
        if document.keeper_in != "against":
            number = self._documents.find(document.keeper)
            return None if number is None else self._documents.one(number)
        return None if self._against is None else find_keeper(self._against, document)

    def _sizes(self, own: Batch) -> tuple[int | None, float | None]:
        if self._scheme is None:
            return None, None
        signed = signed_alone(own, self._scheme)
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
        elif self._documents.summary.get("against_documents"):
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
