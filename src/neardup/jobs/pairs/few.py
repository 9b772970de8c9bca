"""A few strings and those of a list that are nearest to them: compared as they are, no tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neardup.files.ids import choose_id_column
from neardup.files.memory import MemorySource
from neardup.files.rows import ColumnNames, Source
from neardup.jobs.pairs.plan import PairPlan
from neardup.matching.edit_join import EditJoin, EditJoinCounts
from neardup.matching.measures import rank_fractions
from neardup.matching.nearest import Near, as_it_is, nearest_strings, string_maker
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import Collections, ReadingPlan
from neardup.runs.runner import Runner
from neardup.tables import Floats, Int64s, ScoredPairs

# The most strings that partners are looked for: of more, threads compare several at a time.
_FEW = 4


@dataclass(frozen=True)
class StringList:
    """A collection of strings in memory, and the columns that it is read by."""

    source: MemorySource
    columns: ColumnNames
    strings: Sequence[str]

    @classmethod
    def of(cls, sources: Sequence[Source], reading: ReadingPlan) -> StringList | None:
        """Take the strings whose edits are counted; None where there are no such strings."""
        source = sources[0] if len(sources) == 1 else None
        if not isinstance(source, MemorySource) or source.texts is None:
            return None
        columns = choose_id_column(reading.columns, sources)
        if columns.names != source.column_names():
            return None
        return cls(source, columns, source.texts)

    def catalogue(self, lengths: Int64s) -> Catalogue:
        """Describe the collection as if its rows had been read."""
        n = len(lengths)
        return Catalogue(
            sources=[self.source],
            columns=self.columns,
            source_starts=np.array([0, n], np.int64),
            numbers=np.arange(1, n + 1, dtype=np.int64),
            n_tokens=lengths,
            lengths=None,
            ids=None,
            order=None,
            text_bytes=self.source.size or 0,
        )


@dataclass(frozen=True)
class FewPairs:
    """The most similar pairs of few strings and many, as a join of their records finds them."""

    catalogues: tuple[Catalogue, Catalogue]
    pairs: ScoredPairs
    similarities: Floats
    n_records: int
    counts: EditJoinCounts
    score_name: ClassVar[str] = EditJoin.score_name


def find_in_few(collections: Collections, plan: PairPlan, runner: Runner) -> FewPairs | None:
    """Find the most similar pairs, if they are of a few strings and a list; None if they are not.

    Strings are those of Python, whose characters are compared.
    """
    options, edit, shingles = plan.options, plan.edit, plan.reading.shingles
    assert options.top is not None
    if edit is None or edit.similarity is None or shingles.tokenizer.name != "characters":
        return None
    if len(collections) != 2 or plan.reading.blocking:
        return None
    left = StringList.of(*collections[0])
    if (
        left is None
        or len(left.strings) > _FEW
        or (right := StringList.of(*collections[1])) is None
    ):
        return None
    with runner.stage("read") as note:
        as_string = string_maker(shingles.tokenizer, shingles.normalisation)
        strings = [
            each.strings if as_string is as_it_is else [as_string(text) for text in each.strings]
            for each in (left, right)
        ]
        lengths = [np.fromiter(map(len, each), np.int64, len(each)) for each in strings]
        catalogues = (left.catalogue(lengths[0]), right.catalogue(lengths[1]))
        n_records = len({*strings[0], *strings[1]} - {""})
        note(documents=sum(map(len, strings)), records=n_records)
    with runner.stage("join") as note:
        found = []
        for document, wanted in enumerate(strings[0]):
            near = nearest_strings(wanted, strings[1], edit.similarity, options.top)
            found += [(document, *each) for each in near]
            runner.report("join", document + 1, len(strings[0]))
        columns = np.array(found, np.int64).reshape(-1, 1 + len(Near._fields)).T
        documents, places, distances, longer = columns
        if options.per_document:
            order = np.arange(len(found))
        else:
            # The nearest of each are in order; of one rank they are so of all.
            ranks = rank_fractions(longer - distances, longer)
            order = np.argsort(ranks, kind="stable")[: options.top]
        pairs = ScoredPairs(documents, len(strings[0]) + places, distances).take(order)
        n_compared = len(strings[1]) * int(np.count_nonzero(lengths[0]))
        counts = EditJoinCounts(
            hits=n_compared,
            after_length=n_compared,
            after_position=n_compared,
            after_parity=0,
            after_suffix=0,
            verified=n_compared,
            results=len(order),
        )
        note(pairs=len(order))
    similarities = ((longer - distances) / longer)[order]
    return FewPairs(catalogues, pairs, similarities, n_records, counts)
