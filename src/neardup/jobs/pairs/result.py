"""The result of a search for pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.jobs.pairs.records import Records
from neardup.matching.join import FilterCounts
from neardup.reading.catalogue import Catalogue
from neardup.results import TableResult
from neardup.tables import ScoredPairs

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class PairResult(TableResult):
    """Pairs of similar documents and how they were found.

    ``pairs`` has the columns ``id_a``, ``id_b``, ``similarity`` and ``overlap``, the number of
    common shingles, or ``distance``, that of edits; in input order of a, then b. In a self-join a
    comes before b, but for ``containment``, where a is the document that lies in b. The most
    similar pairs (``top``) come first, partners of each document by document a.

    ``counts`` says what the filters let through, added up over all steps if there were several.
    """

    pairs: pa.Table
    counts: FilterCounts
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The pairs."""
        return self.pairs

    def headline(self) -> str:
        """Return how many documents there are, of each collection, and how many pairs."""
        documents = " and ".join(f"{number:,}" for number in self.summary["documents"])
        return f"{documents} documents: {len(self.pairs):,} pairs"


def pair_table(pairs: ScoredPairs, records: Records, catalogues: Sequence[Catalogue]) -> pa.Table:
    """Return pairs of documents as rows of ids, with the similarity and score of their records.

    Documents of the second collection are numbered behind those of the first.
    """
    import pyarrow as pa

    join, of_documents = records.join, records.of_documents
    ids = [catalogue.document_ids() for catalogue in catalogues]
    first_right = records.n_left or 0
    joined = ScoredPairs(of_documents[pairs.left], of_documents[pairs.right], pairs.scores)
    return pa.table(
        {
            "id_a": ids[0].take(pairs.left),
            "id_b": ids[-1].take(pairs.right - first_right),
            "similarity": join.similarities(joined),
            join.score_name: pairs.scores,
        }
    )
