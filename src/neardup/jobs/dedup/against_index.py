"""An index of documents as the other collection of a deduplication."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.documents.index import OpenDocuments
from neardup.documents.lookup import find_answers
from neardup.documents.queries import Queries, join_queries, make_queries
from neardup.files.rows import ColumnNames
from neardup.matching.measures import Measure
from neardup.reading.catalogue import Catalogue, HeldIds
from neardup.reading.sign import LookUp, SignedTexts
from neardup.tables import EarlierKeepers, Int64s, TokenLists


class IndexLookUp(LookUp):
    """Finds the documents of an index that texts go for, at a measure."""

    def __init__(self, index: OpenDocuments, measure: Measure) -> None:
        self._index, self._measure = index, measure

    def sign(self, token_lists: TokenLists) -> Queries:
        """Work out of some texts what the index looks up."""
        return make_queries(token_lists, self._index.scheme)

    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
        """Find the document that each text goes for."""
        queries = [each for each in signed if isinstance(each, Queries)]
        if not queries:
            return EarlierKeepers.none(0)
        answers = find_answers(self._index, join_queries(queries), self._measure)
        return EarlierKeepers(
            answers.documents,
            answers.overlaps,
            answers.sizes,
            answers.similarities,
            answers.are_settled,
            answers.are_copies,
        )


def catalogue_of(index: OpenDocuments, documents: Int64s) -> Catalogue:
    """Return the catalogue of some documents of an index, of which only ids are known."""
    n = len(documents)
    return Catalogue(
        sources=(),
        columns=ColumnNames(id="id"),
        source_starts=np.zeros(1, np.int64),
        numbers=documents,
        n_tokens=np.zeros(n, np.int64),
        lengths=None,
        ids=HeldIds(index.ids_of(documents)),
        order=None,
        text_bytes=0,
    )
