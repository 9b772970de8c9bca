"""What an alignment has found, before it is a result: it can be turned round and put together.

A passage that is contained in another is looked for from its own side. Where it is the document's
that is to be contained, the two collections change places on the way in, and here on the way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from neardup.passages.chains import Hit
from neardup.passages.document_pairs import Extents, HiddenText, pair_table
from neardup.results import PassageResult
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.outputs.summary_records import PassageSummary


@dataclass(frozen=True)
class Found:
    """Passages, what the summary says of them, and their numbers.

    ``places`` are rows of query, its first token, document, its first token. ``extents`` are those
    of ``extents_of``, None if nobody wants pairs of documents. ``n_ignored`` tokens of the queries
    and of the documents were ignored, because they are of ``hidden`` text.
    """

    passages: pa.Table
    summary: dict[str, Any]
    places: Int64s
    extents: Extents | None
    n_ignored: tuple[int, int]
    hidden: HiddenText

    def result(self) -> PassageResult:
        """Return what is reported, with pairs of documents where they are wanted."""
        pairs = None
        if self.extents is not None:
            pairs = pair_table(self.passages, self._pairs(), self.extents)
        summary = cast("PassageSummary", self.summary)
        return PassageResult(self.passages, summary, pairs, self.hidden)

    def counts(self, *, is_one: bool) -> dict[str, int]:
        """Count passages and documents, of one collection or of the first of two."""
        aligned = self.places[:, [0, 2]] if is_one else self.places[:, 0]
        return {
            "aligned_documents": len(np.unique(aligned)),
            "passages": len(self.passages),
            "document_pairs": len(np.unique(self._pairs())),
        }

    def take(self, rows: Int64s) -> Found:
        """Return some of the passages."""
        return replace(
            self,
            passages=self.passages.take(pa.array(rows)),
            places=self.places[rows],
            extents=None if self.extents is None else self.extents[rows],
        )

    def exchanged(self) -> Found:
        """Take queries for documents, and documents for queries."""
        names = [
            f"doc_{name.removeprefix('query_')}"
            if name.startswith("query_")
            else f"query_{name.removeprefix('doc_')}"
            if name.startswith("doc_")
            else name
            for name in self.passages.column_names
        ]
        passages = self.passages.rename_columns(names).select(self.passages.column_names)
        summary = dict(self.summary, ignored_tokens=self.n_ignored[1])
        for name in ("documents", "empty_documents", "short_documents"):
            summary[name] = summary[name][::-1]
        for name in ("id_column", "id_column_by_default"):
            if f"against_{name}" in summary:
                of_queries, of_documents = summary[name], summary[f"against_{name}"]
                summary[name], summary[f"against_{name}"] = of_documents, of_queries
        places = self.places[:, [2, 3, 0, 1]]
        extents = None if self.extents is None else self.extents[:, [3, 4, 5, 0, 1, 2]]
        return Found(passages, summary, places, extents, self.n_ignored[::-1], self.hidden)

    def earlier_first(self) -> Found:
        """Take the earlier one of two documents of a collection for the query."""
        is_later = self.places[:, 0] > self.places[:, 2]
        turned = self.exchanged().take(np.flatnonzero(is_later))
        return _joined([self.take(np.flatnonzero(~is_later)), turned])

    def _pairs(self) -> Int64s:
        """Return a number for the pair of each passage, in the order of queries and documents."""
        n_documents = int(self.places[:, 2].max(initial=0)) + 1
        numbers: Int64s = self.places[:, 0] * n_documents + self.places[:, 2]
        return numbers


def both_ways(found: Sequence[Found], *, is_one: bool) -> Found:
    """Put passages together that were found either way, each once, in the order of the queries."""
    joined = _joined(found)
    spans = [
        joined.passages[name].to_numpy()
        for name in ("query_start", "query_end", "doc_start", "doc_end")
    ]
    hits = [Hit(*row) for row in zip(*(span.tolist() for span in spans), strict=True)]
    kept = []
    pairs = joined.places[:, [0, 2]]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    heads = np.flatnonzero((np.diff(pairs[order], axis=0, prepend=-1) != 0).any(axis=1))
    for rows in np.split(order, heads[1:]):
        # What was found both ways, and what is mostly part of something longer.
        longest: list[int] = []
        for row in sorted(rows.tolist(), key=lambda row: (-hits[row].size, row)):
            if all(hits[other].common_share(hits[row]) < 0.5 for other in longest):
                longest.append(row)
        kept += longest
    chosen = np.array(kept, np.int64)
    chosen = chosen[np.lexsort(joined.places[chosen][:, [3, 2, 1, 0]].T)]
    merged = joined.take(chosen)
    counts = merged.counts(is_one=is_one)
    for name in ("windows", "frequent_windows", "hits", "seconds"):
        counts[name] = sum(each.summary[name] for each in found)
    return replace(merged, summary=merged.summary | counts)


def _joined(found: Sequence[Found]) -> Found:
    """Put the passages of several together; the last one's summary speaks for all."""
    extents = [each.extents for each in found if each.extents is not None]
    return replace(
        found[-1],
        passages=pa.concat_tables([each.passages for each in found]),
        places=np.concatenate([each.places for each in found]),
        extents=np.concatenate(extents) if extents else None,
    )
