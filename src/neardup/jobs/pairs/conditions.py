"""Conditions on other columns that pairs have to fulfil, each compared exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.jobs.pairs.plan import EDIT
from neardup.jobs.pairs.rows import read_wanted
from neardup.matching.edit_join import EditThreshold, as_characters, distances_within
from neardup.matching.measures import MEASURES, Measure
from neardup.matching.verify import overlaps_at_threshold
from neardup.options.documents import PairOptions
from neardup.options.kinds import exact_fraction, parts_of_condition
from neardup.reading.catalogue import Catalogue
from neardup.reading.column_values import text_of
from neardup.reading.signed_batches import numbers_of
from neardup.reading.values import Values
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Floats, Int64s, Texts
from neardup.text.shingles import ShingleScheme, shingle_scheme, shingle_sets

if TYPE_CHECKING:
    from collections.abc import Iterable

# Pairs that are compared at a time, and the share of the memory that those which stay may take.
_AT_ONCE = 1 << 16
_SHARE = 0.1
_FILE_BYTES = 64_000_000


@dataclass(frozen=True)
class Condition:
    """A column in which the documents of a pair have to be similar, by which measure.

    ``measure`` is one of sets of shingles, or None for edit distances, with a ``threshold`` of
    their own.
    """

    column: str
    measure: Measure | None
    threshold: EditThreshold | None
    shingles: ShingleScheme

    @property
    def name(self) -> str:
        """The column of the table that has the similarities."""
        return f"similarity_{self.column}"

    def similarities(self, left: pa.Array, right: pa.Array, workers: int) -> Floats:
        """Compare texts; NaN for two that are not similar enough, or of which one lacks tokens."""
        found: Floats = np.full(len(left), np.nan)
        both = pa.concat_arrays([left, right]).dictionary_encode()
        numbers = both.indices.fill_null(-1).to_numpy().astype(np.int64)
        a, b = np.split(numbers, 2)
        there = np.flatnonzero((a >= 0) & (b >= 0))
        texts = Texts.from_arrow(both.dictionary)
        if not len(there):
            return found
        if self.measure is not None:
            found[there] = self._of_sets(self.measure, texts, a[there], b[there])
        else:
            found[there] = self._of_strings(texts, a[there], b[there], workers)
        return found

    def lacks(self, values: pa.Array) -> Bools:
        """Return which texts are null or have no token, so that nothing can be said of them."""
        texts = values.dictionary_encode()
        tokens = self.shingles.tokenizer.hash_tokens(Texts.from_arrow(texts.dictionary))
        is_empty = np.append(np.diff(tokens.offsets) == 0, True)
        lacks: Bools = is_empty[texts.indices.fill_null(-1).to_numpy()]
        return lacks

    def _of_sets(self, measure: Measure, texts: Texts, a: Int64s, b: Int64s) -> Floats:
        sets = shingle_sets(texts, self.shingles)
        values: Floats = np.full(len(a), np.nan)
        rows = np.flatnonzero((sets.sizes[a] > 0) & (sets.sizes[b] > 0))
        overlaps = overlaps_at_threshold(sets, a[rows], b[rows], measure)
        rows, overlaps = rows[overlaps >= 0], overlaps[overlaps >= 0]
        values[rows] = measure.similarities(overlaps, sets.sizes[a[rows]], sets.sizes[b[rows]])
        return values

    def _of_strings(self, texts: Texts, a: Int64s, b: Int64s, workers: int) -> Floats:
        assert self.threshold is not None
        strings = self.shingles.tokenizer.hash_tokens(texts)
        lengths = np.diff(strings.offsets)
        longer = np.maximum(lengths[a], lengths[b])
        most = self.threshold.allowed(longer)
        characters = as_characters(strings)
        distances = distances_within(characters[a], characters[b], most, workers)
        is_near = (distances <= most) & (np.minimum(lengths[a], lengths[b]) > 0)
        values: Floats = np.full(len(a), np.nan)
        values[is_near] = ((longer - distances) / np.maximum(longer, 1))[is_near]
        return values


def parse_conditions(options: PairOptions) -> list[Condition]:
    """Return the conditions that pairs have to fulfil.

    Shingles are those of the options, of single words where these leave it open; edit distances
    are between characters unless a tokenizer was chosen.
    """
    found: dict[str, Condition] = {}
    shown = {f"{name}_{side}": name for name in options.shown_columns for side in "ab"}
    for text in options.conditions:
        column, name, threshold = parts_of_condition(text)
        if column in found:
            message = f"also names {column!r} twice; a column has one condition"
            raise InvalidParameterError(message, "also")
        measure, edits = None, None
        if name == EDIT:
            edits = EditThreshold(None, exact_fraction("also", threshold))
        else:
            measure = MEASURES[name].parse(threshold)
        # As texts are cut, but into single tokens.
        of_columns = options.but(ngram=1 if options.ngram is None else options.ngram)
        shingles = shingle_scheme(of_columns.with_tokenizer("characters" if edits else "words"))
        found[column] = condition = Condition(column, measure, edits, shingles)
        if condition.name in shown:
            message = (
                f"also names {column!r}, whose similarities would be {condition.name}, as values "
                f"of column {shown[condition.name]!r} of with_columns are called; leave one of "
                "them out"
            )
            raise InvalidParameterError(message, "also", "with_columns")
    return list(found.values())


@dataclass(frozen=True)
class Fulfilling:
    """Pairs that fulfil conditions, and what could not be judged by them.

    ``without_value`` has for each column of a condition how many ``documents`` of those in a pair
    have no value there, and how many ``pairs`` have such a document.
    """

    pairs: SpilledBatches
    without_value: dict[str, dict[str, int]]


def keep_fulfilling(
    runs: Iterable[pa.RecordBatch],
    catalogues: Sequence[Catalogue],
    conditions: Sequence[Condition],
    workspace: Workspace,
    runner: Runner,
    *,
    keep_missing: bool,
) -> Fulfilling:
    """Return the pairs that fulfil all conditions, with a column of similarities for each.

    A pair of which a document has no value fulfils a condition with ``keep_missing``, and its
    similarity is null. Memory that of the columns of documents in a pair and of the pairs that
    stay, as far as the workspace allows, of some pairs at a time, and a byte a document for each
    condition.
    """
    names = [each.column for each in conditions]
    parts = read_wanted(runs, catalogues, [names] * len(catalogues), workspace, runner, "also")
    firsts = np.cumsum([0, *map(len, catalogues)])
    lacking: Bools = np.zeros((len(conditions), firsts[-1]), np.bool_)
    for values, first in zip(parts, firsts.tolist(), strict=False):
        for start in range(0, len(values.documents), _AT_ONCE):
            documents = values.documents[start : start + _AT_ONCE]
            columns = values.take(documents)
            for row, each, column in zip(lacking, conditions, columns, strict=True):
                row[first + documents] = each.lacks(text_of(column, each.column, "also"))
    n_left = len(catalogues[0]) if len(catalogues) > 1 else 0
    kept = SpilledBatches("fulfilling", workspace, share=_SHARE, weight_of_file=_FILE_BYTES)
    n_done = sum(1 for _ in kept)
    n_pairs: Int64s = np.zeros(len(conditions), np.int64)
    with kept:
        for number, rows in enumerate(_pieces(runs)):
            lacks = lacking[:, numbers_of(rows, "left")] | lacking[:, numbers_of(rows, "right")]
            n_pairs += lacks.sum(axis=1)
            if number >= n_done:
                found = _fulfilling(
                    rows,
                    (parts[0], parts[-1]),
                    n_left,
                    conditions,
                    lacks & keep_missing,
                    runner.workers,
                )
                kept.append(found, None, found.nbytes)
    counts = zip(names, lacking.sum(axis=1).tolist(), n_pairs.tolist(), strict=True)
    return Fulfilling(kept, {name: {"documents": n, "pairs": pairs} for name, n, pairs in counts})


def _pieces(runs: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for run in runs:
        for start in range(0, max(1, len(run)), _AT_ONCE):
            yield run.slice(start, _AT_ONCE)


def _fulfilling(
    rows: pa.RecordBatch,
    parts: tuple[Values, Values],
    n_left: int,
    conditions: Sequence[Condition],
    unjudged: Bools,
    workers: int,
) -> pa.RecordBatch:
    """Return the rows that fulfil each condition by which they are not ``unjudged``."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    documents_of = (numbers_of(rows, "left"), numbers_of(rows, "right") - n_left)
    fulfils = np.ones(len(rows), np.bool_)
    for place, each in enumerate(conditions):
        texts = [
            text_of(values.take(documents)[place], each.column, "also")
            for values, documents in zip(parts, documents_of, strict=True)
        ]
        similarities = each.similarities(texts[0], texts[1], workers)
        fulfils &= unjudged[place] | ~np.isnan(similarities)
        columns[each.name] = pa.array(similarities, mask=unjudged[place])
    return pa.record_batch(columns).filter(pa.array(fulfils))
