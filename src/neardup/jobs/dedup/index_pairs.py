"""Pairs of documents that an index holds: each is looked up in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import find_hits
from neardup.documents.reading import queries_of_texts
from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.files.rows import RowBlock
from neardup.jobs.dedup.pair_table import NumberedPairs
from neardup.jobs.stages.pair_ids import READING_PAIRS, AboutPairs
from neardup.matching.measures import Measure, Number
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s


@dataclass(frozen=True)
class IndexPairs:
    """The pairs, at the threshold of a measure, of documents that are all in an index.

    Parameters
    ----------
    name
        The folder of the index.
    index
        Has the documents, and may have others, which do not count.
    measure
        That of the index, at the threshold that is asked for.
    n_documents
        How many documents are looked up.
    """

    name: str
    index: OpenDocuments
    measure: Measure
    n_documents: int

    @property
    def about(self) -> AboutPairs:
        """Return what a table of all pairs of the index would say of itself."""
        scheme = self.index.scheme
        weights = scheme.weighted.weighting.describe() if scheme.weighted else {}
        return AboutPairs(
            measure=self.measure.name,
            threshold=float(scheme.measure.threshold),
            max_distance=None,
            top=None,
            method="minhash",
            predicted_recall=scheme.predicted_recall(self.measure),
            documents=(self.n_documents,),
            pairs=None,
            scheme=scheme.shingles.describe() | weights,
        )

    def numbered(self, documents: Catalogue, runner: Runner) -> NumberedPairs:
        """Read the documents' texts and look each of them up."""
        numbers, places = self._places(documents)
        has_met_itself: Bools = np.zeros(len(documents), np.bool_)
        looked_up = runner.counter(READING_PAIRS, len(documents))

        def look_up(item: tuple[RowBlock, slice]) -> NumberedPairs:
            block, rows = item
            texts = block.parse(documents.columns.only_text(), skip_bad=True).text
            texts = texts.cast(pa.large_string()).fill_null("")
            queries = queries_of_texts(texts, self.index.scheme)
            hits = find_hits(self.index, queries, self.measure)
            left: Int64s = rows.start + hits.queries
            found = np.minimum(np.searchsorted(places, hits.documents), max(len(places) - 1, 0))
            is_known = places[found] == hits.documents
            left, right = left[is_known], numbers[found[is_known]]
            is_pair = left != right
            has_met_itself[left[~is_pair]] = True
            if not self.measure.is_weighted:
                # What weighs nothing does not find itself.
                has_met_itself[rows][~queries.is_filled] = True
            looked_up(len(block))
            return NumberedPairs(
                left[is_pair].astype(np.int32),
                right[is_pair].astype(np.int32),
                hits.similarities[is_known][is_pair],
            )

        pairs = NumberedPairs.of_all(list(runner.map(look_up, _blocks(documents))))
        if not self.measure.is_weighted and not has_met_itself.all():
            self._refuse(documents, np.flatnonzero(~has_met_itself), "has another text of")
        return pairs

    def _places(self, documents: Catalogue) -> tuple[Int64s, Int64s]:
        """Return the documents, and the places of each in the index, which ascend."""
        numbers = np.flatnonzero(documents.is_document)
        ids = documents.document_ids().take(pa.array(numbers))
        places = self.index.documents_of_ids(as_text(ids))
        if (places < 0).any():
            self._refuse(documents, numbers[places < 0], "does not have")
        order = np.argsort(places)
        return numbers[order], places[order]

    def _refuse(self, documents: Catalogue, numbers: Int64s, what: str) -> None:
        first = documents.document_ids()[int(numbers[0])].as_py()
        message = (
            f"the index {self.name} {what} {len(numbers):,} of the documents, such as {first!r}; "
            "add all of them to an index, or give pairs"
        )
        raise InvalidInputError(message)


def pairs_of_index(
    index: Any, threshold: Number, n_documents: int, runner: Runner
) -> IndexPairs | None:
    """Return the pairs of documents in an index; None if the object is no index of documents."""
    handle = getattr(index, "handle", None)
    if not isinstance(handle, DocumentHandle):
        return None
    view = handle.view(runner)
    return IndexPairs(str(handle.folder), view, view.scheme.measure_at(threshold), n_documents)


def _blocks(documents: Catalogue) -> Iterator[tuple[RowBlock, slice]]:
    for source, start, stop in documents.ranges():
        yield from numbered_blocks(source, start, stop)
