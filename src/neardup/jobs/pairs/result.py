"""What a search for pairs gives: the table, and the account of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.jobs.pairs.options import PairPlan
from neardup.matching.join import Join
from neardup.reading.catalogue import Catalogue
from neardup.results import skipped_rows
from neardup.runtime.progress import StageClock
from neardup.tables import Int64s, ScoredPairs

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PairResult:
    """Pairs of similar documents and how they were found.

    ``pairs`` has the columns ``id_a``, ``id_b``, ``similarity`` and ``overlap``, the number of
    common shingles, or ``distance``, that of edits; in input order of a, then b. In a self-join a
    comes before b, but for ``containment``, where a is the document that lies in b. The most
    similar pairs (``top``) come first, partners of each document by document a.

    ``counts`` says what the filters let through, added up over all steps if there were several.
    """

    pairs: pa.Table
    counts: Any
    summary: dict[str, Any]

    def __repr__(self) -> str:
        """Tell the counts."""
        documents = " and ".join(f"{number:,}" for number in self.summary["documents"])
        return f"PairResult({documents} documents: {len(self.pairs):,} pairs)"


def pair_table(
    pairs: ScoredPairs, join: Join, documents: Int64s, catalogues: Sequence[Catalogue]
) -> pa.Table:
    """Give pairs of documents as rows of ids, with the similarity and score of their records."""
    import pyarrow as pa

    ids = pa.concat_arrays([catalogue.document_ids() for catalogue in catalogues])
    records = ScoredPairs(documents[pairs.left], documents[pairs.right], pairs.scores)
    return pa.table(
        {
            "id_a": ids.take(pairs.left),
            "id_b": ids.take(pairs.right),
            "similarity": join.similarities(records),
            join.score_name: pairs.scores,
        }
    )


def summarise_pairs(
    catalogues: Sequence[Catalogue],
    plan: PairPlan,
    counts: object,
    n_records: int,
    n_pairs: int,
    clock: StageClock,
) -> dict[str, Any]:
    """Put together what a search for pairs tells about itself."""
    options = plan.options
    scheme = plan.sketch.shingles.describe()
    summary: dict[str, Any] = {
        "documents": [int((catalogue.n_tokens >= 0).sum()) for catalogue in catalogues],
        "empty_documents": sum(int((c.n_tokens == 0).sum()) for c in catalogues),
        "short_documents": _count_short(catalogues, plan),
        "skipped_rows": sum(len(catalogue.skipped) for catalogue in catalogues),
        "distinct_records": n_records,
        "pairs": n_pairs,
        "filters": vars(counts),
        "measure": plan.measure_name,
        "threshold": plan.threshold,
        "method": options.method,
    }
    if plan.edit:
        summary["max_distance"] = plan.edit.max_distance
        del scheme["ngram"], scheme["occurrences"]
    if plan.banding and plan.measure:
        least = float(plan.measure.least_jaccard)
        summary["predicted_recall"] = plan.banding.candidate_probability(least)
        summary["bands"], summary["rows"] = plan.banding.bands, plan.banding.rows
    elif plan.measure:
        summary["algorithm"] = options.algorithm
    if options.top is not None:
        summary["top"], summary["per_document"] = options.top, options.per_document
    return {**summary, **skipped_rows(*(c.skipped for c in catalogues))} | {
        "scheme": scheme,
        "workers": plan.workers,
        "seconds": {name: round(seconds, 3) for name, seconds in clock.seconds.items()},
    }


def _count_short(catalogues: Sequence[Catalogue], plan: PairPlan) -> int:
    """Count the documents that have one shingle only, because they have fewer tokens than that."""
    if plan.edit:
        return 0
    ngram = plan.sketch.shingles.ngram
    return sum(int(((c.n_tokens > 0) & (c.n_tokens < ngram)).sum()) for c in catalogues)
