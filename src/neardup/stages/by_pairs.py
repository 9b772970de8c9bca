"""Deduplicate by pairs from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, InvalidParameterError, option_name
from neardup.files.arrowcolumns import as_numbers
from neardup.files.documents import IdTable, ReadingPass, as_text, join_ids
from neardup.files.inputs import passed_over
from neardup.files.rows import RowBlock, Source
from neardup.kernels.bucket import components, survivors
from neardup.matching.keep import parse_keep
from neardup.matching.measures import MEASURES, Number
from neardup.matching.survivors import find_roots
from neardup.options.choices import Clusters
from neardup.options.groups import ShingleOptions
from neardup.options.kinds import exact_fraction
from neardup.outputs.summary_file import resolve_tables
from neardup.outputs.tables import FORMAT_VERSION, METADATA_KEY
from neardup.reading.catalogue import Catalogue
from neardup.reading.where import describe_filtered
from neardup.reports.judgements import YES, no_judgement, words_of_pairs
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runs.runner import Runner
from neardup.stages.selection import complete_summary, count_by_file
from neardup.stages.tables import (
    ID_COLUMNS,
    READING_PAIRS,
    check_columns,
    read_ids,
)
from neardup.tables import Assignment, Bools, Floats, Int32s, Int64s, Removals, Rows


class AboutPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a table's pairs, with names of the summary.

    ``threshold`` is None if only ``max_distance`` or ``top`` limited the pairs. ``documents`` has
    two numbers for pairs of two collections. No two ``one_to_one`` pairs have a document in common.
    A table with another number of rows than ``pairs`` was changed.
    """

    format: int
    measure: str
    threshold: float | None
    max_distance: int | None = None
    top: int | None = None
    method: str
    predicted_recall: float = 1.0
    documents: tuple[int, ...]
    pairs: int
    scheme: dict[str, Any]
    one_to_one: bool = False


def read_about(metadata: Mapping[bytes, bytes]) -> AboutPairs | None:
    """Restore the description, None if missing or from another version."""
    try:
        about = msgspec.json.decode(metadata[METADATA_KEY], type=AboutPairs)
    except (KeyError, msgspec.MsgspecError):
        return None
    return about if about.format == FORMAT_VERSION else None


# Possible questions to existing pairs: the measure, and the least threshold.

_AGAIN = "find pairs of one collection by a threshold"

# Fields of a scheme that define the common part of two texts.
_OF_SHINGLES = [*ShingleOptions.known, "tf", "idf"]


@dataclass(frozen=True)
class PairTerms:
    """Measure of the pairs, and requested threshold if any."""

    measure: str
    threshold: Fraction | None

    @property
    def are_directed(self) -> bool:
        """Whether only the left document may be removed."""
        kind = MEASURES.get(self.measure)
        return kind is not None and kind.is_directed

    def least_threshold(self, table: GivenPairs, pairs: SimilarPairs) -> tuple[float | None, bool]:
        """Return the threshold of complete pairs, and whether stated.

        A table states it if it has as many rows as pairs were found. Otherwise it is their least
        similarity; None if there are no rows, or a distance limited the pairs.
        """
        if table.about is not None and table.about.pairs == len(pairs):
            return table.about.threshold, True
        least = float(pairs.similarities.min()) if len(pairs) else None
        if self.threshold is not None and least is not None and self.threshold < Fraction(least):
            message = (
                f"threshold {float(self.threshold):g} is below {least:g}, the least similarity in "
                f"{table.name}, which does not say that it has all pairs from there on; leave "
                "threshold out, or give all pairs as a Parquet file of `neardup pairs`, which says "
                "so"
            )
            raise InvalidParameterError(message, "threshold")
        return least, False


def agree_on_terms(table: GivenPairs, measure: str | None, threshold: Number | None) -> PairTerms:
    """Check requested terms against the table's description."""
    asked = None if threshold is None else exact_fraction("threshold", threshold)
    about, name = table.about, table.name
    if about is None:
        if measure is None:
            message = (
                f"{name} does not say how similarities were measured, as Parquet files and results "
                "of `neardup pairs` do; give measure"
            )
            raise InvalidParameterError(message, "measure")
        _check_measure(measure, name)
        return PairTerms(measure, asked)
    if measure not in (None, about.measure):
        message = f"pairs in {name} are by {about.measure}, got measure {measure}; leave it out"
        raise InvalidParameterError(message, "measure")
    _check_measure(about.measure, name)
    if len(about.documents) != 1:
        message = f"pairs in {name} are of two collections, and none within INPUT; {_AGAIN}"
        raise InvalidInputError(message)
    if about.top is not None:
        message = f"{name} has the {about.top:,} most similar pairs only, not all; {_AGAIN}"
        raise InvalidInputError(message)
    if about.one_to_one:
        message = f"{name} has pairs that were matched one to one, not all; {_AGAIN}"
        raise InvalidInputError(message)
    if asked is not None:
        _check_threshold(asked, table)
    return PairTerms(about.measure, asked)


def check_same_documents(table: GivenPairs, n_documents: int) -> None:
    """Raise if pairs are known from another number of documents."""
    if table.about is not None and table.about.documents != (n_documents,):
        message = (
            f"pairs in {table.name} were found among {table.about.documents[0]:,} documents, the "
            f"input has {n_documents:,}; give the same input, or find pairs of this one"
        )
        raise InvalidInputError(message)


def check_same_shingles(table: GivenPairs, scheme: Mapping[str, Any] | None) -> None:
    """Raise if texts are known to be tokenized differently."""
    if table.about is None or scheme is None:
        return
    of_pairs = table.about.scheme
    differing = [
        f"{name} {of_pairs.get(name)}, not {scheme.get(name)}"
        for name in _OF_SHINGLES
        if of_pairs.get(name) != scheme.get(name)
    ]
    if differing:
        message = (
            f"pairs in {table.name} are of other shingles: {'; '.join(differing)}; find pairs with "
            "the options of the result"
        )
        raise InvalidInputError(message)


def _check_measure(measure: str, name: str) -> None:
    kind = MEASURES.get(measure)
    if kind is not None and kind.is_count:
        message = (
            f"pairs in {name} are by {measure}, a number of common shingles, by which documents "
            "are not decided; find pairs by another measure"
        )
        raise InvalidParameterError(message, "measure")


def _check_threshold(asked: Fraction, table: GivenPairs) -> None:
    assert table.about is not None
    least, most = table.about.threshold, table.about.max_distance
    if most is not None:
        message = (
            f"pairs in {table.name} are those within max_distance {most}, whatever their "
            "similarity; leave threshold out, or find pairs by a threshold"
        )
        raise InvalidParameterError(message, "threshold", "max_distance")
    if least is not None and asked < exact_fraction("threshold", least):
        message = (
            f"threshold {float(asked):g} is below {least:g}, that of the pairs in {table.name}, "
            f"which has none below; choose {least:g} or more, or find pairs by a lower threshold"
        )
        raise InvalidParameterError(message, "threshold")


_SIMILARITY = "similarity"


@dataclass(frozen=True)
class GivenPairs:
    """Pairs of documents by their ids, read in parts."""

    name: str
    sources: Sequence[Source]
    about: AboutPairs | None

    def ids(self, runner: Runner) -> pa.Array:
        """Return all document ids, first from ``id_a``, then from ``id_b``.

        Ids are in the order of the table. In a table of `neardup pairs`, documents with a later
        partner thus precede documents without, each in input order.
        """

        def read(_: Source, block: RowBlock) -> list[pa.Array]:
            table = self._checked(block)[0]
            return [read_ids(table, name, self.name).unique() for name in ID_COLUMNS]

        reading = ReadingPass(READING_PAIRS, self.sources, runner)
        found = [parts for _, parts in reading.map(read, self.sources)]
        return join_ids([parts[column] for column in range(2) for parts in found]).unique()

    def numbered(self, documents: Catalogue, runner: Runner) -> SimilarPairs:
        """Read all pairs, with ids as numbers of documents."""
        # A skipped row has no id.
        rows = np.append(np.flatnonzero(documents.is_document), -1).astype(np.int32)
        known = IdTable(as_text(documents.document_ids().take(pa.array(rows[:-1]))))

        def read(_: Source, block: RowBlock) -> tuple[SimilarPairs, list[pa.Array], bool | None]:
            table, numbers, is_judged = self._checked(block)
            similarities = self._similarities(table, numbers)
            # The left ids come in runs: each is looked up once.
            encoded = [
                as_text(read_ids(table, name, self.name)).dictionary_encode() for name in ID_COLUMNS
            ]
            found = [known.find(column.dictionary) for column in encoded]
            left, right = (
                rows[places][column.indices.to_numpy()]
                for column, places in zip(encoded, found, strict=True)
            )
            unknown = [
                column.dictionary.filter(pa.array(places < 0))
                for column, places in zip(encoded, found, strict=True)
            ]
            return SimilarPairs(left, right, similarities), unknown, is_judged

        reading = ReadingPass(READING_PAIRS, self.sources, runner)
        parts = [part for _, part in reading.map(read, self.sources)]
        if {is_judged for _, _, is_judged in parts} - {None} == {False}:
            raise no_judgement(self.name)
        unknown = [ids for _, of_part, _ in parts for ids in of_part if len(ids)]
        if unknown:
            self._refuse(pa.concat_arrays(unknown).unique())
        return SimilarPairs.joined([pairs for pairs, _, _ in parts])

    def _refuse(self, unknown: pa.Array) -> None:
        one, many = "a document", f"{len(unknown):,} documents"
        message = (
            f"{self.name} names {one if len(unknown) == 1 else many} that the input does not have"
            f"{':' if len(unknown) == 1 else ', such as'} {unknown[0].as_py()!r}; give the same "
            f"input and {option_name('id_column')} as when the pairs were found"
        )
        raise InvalidInputError(message)

    def _checked(self, block: RowBlock) -> tuple[pa.Table, Int64s, bool | None]:
        """Return pairs, row numbers, and whether any is judged.

        The last is None for a block without rows. Of reviewed pairs, only pairs judged the same are
        returned.
        """
        table = block.to_table()
        check_columns(table, (*ID_COLUMNS, _SIMILARITY), self.name)
        first = block.numbers[0] if len(block) else 1
        words = words_of_pairs(table, self.name, first)
        if words is None:
            return table, block.numbers, True
        is_right: Bools = np.array(words, np.str_) == YES
        judged = any(words) if words else None
        return table.filter(pa.array(is_right)), block.numbers[is_right], judged

    def _similarities(self, table: pa.Table, numbers: Int64s) -> Floats:
        try:
            column = as_numbers(table[_SIMILARITY], pa.float64())
        except pa.ArrowException:
            message = f"{self.name}: column {_SIMILARITY!r} holds values that are no numbers"
            raise InvalidInputError(message) from None
        values: Floats = pc.fill_null(column, np.nan).to_numpy()
        is_good = (values >= 0) & (values <= 1)
        if not is_good.all():
            bad = int(np.argmin(is_good))
            message = (
                f"{self.name}, row {numbers[bad]}: similarity {values[bad]:g} is not between 0 "
                "and 1; give pairs with similarities, not with counts, percentages or distances"
            )
            raise InvalidInputError(message)
        return values


def open_pair_table(pairs: Any) -> GivenPairs:
    """Open pairs from a file, URL, ``find_pairs`` or Arrow object."""
    is_named = isinstance(pairs, str | Path)
    sources = resolve_tables(pairs)
    about = None
    if len(sources) == 1:
        schema = sources[0].schema()
        about = read_about((schema and schema.metadata) or {})
    return GivenPairs(str(pairs) if is_named else "the table", sources, about)


# Survivors and components of documents whose similar pairs are known; nothing is compared.

# Pairs that are joined at a time, as 64-bit numbers.
_PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class SimilarPairs(Rows):
    """Pairs of documents, possibly repeated, with self-pairs ignored."""

    left: Int32s
    right: Int32s
    similarities: Floats


def choose_from_pairs(
    pairs: SimilarPairs, n_documents: int, threshold: float, *, are_directed: bool
) -> Removals:
    """Remove documents similar to an earlier one that stays.

    Documents are numbered in keep order. If ``are_directed``, only the left document of a pair may
    be removed for the right one. A document is removed for the most similar one that stays, the
    earliest on a tie. All pairs count as compared. Time linear in pairs and documents. Memory up to
    44 bytes per pair in addition to the input, and 28 per document.
    """
    similar = _reaching(pairs, threshold)
    ordered = _by_order(similar, are_directed=are_directed)
    counts = np.bincount(ordered.left, minlength=n_documents)
    ends: Int64s = (np.cumsum(counts) - counts).astype(np.int64)
    partners: Int32s = np.empty(len(ordered), np.int32)
    scores: Floats = np.empty(len(ordered), np.float64)
    survivors.group_pairs(ordered.left, ordered.right, ordered.similarities, ends, partners, scores)
    keepers: Int32s = np.full(n_documents, -1, np.int32)
    similarities: Floats = np.empty(n_documents, np.float64)
    survivors.choose_from_pairs(ends, partners, scores, keepers, similarities)
    return Removals.of(keepers.astype(np.int64), similarities, len(pairs), len(similar))


def join_from_pairs(
    pairs: SimilarPairs, n_documents: int, threshold: float, *, are_directed: bool
) -> Removals:
    """Remove all documents of a component except the first.

    The similarity of a document to its keeper is known only if they are a pair, at the threshold or
    below it. Else it is NaN.
    """
    similar = _reaching(pairs, threshold)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    for start in range(0, len(similar), _PAIRS_AT_ONCE):
        some = similar.take(slice(start, start + _PAIRS_AT_ONCE))
        components.union_edges(parents, some.left.astype(np.int64), some.right.astype(np.int64))
    keepers = find_roots(parents)
    keepers[keepers == np.arange(n_documents)] = -1
    ordered = _by_order(pairs, are_directed=are_directed)
    of_keepers = keepers[ordered.left] == ordered.right
    similarities: Floats = np.full(n_documents, np.nan)
    similarities[ordered.left[of_keepers]] = ordered.similarities[of_keepers]
    joined = Removals.of(keepers, similarities, len(pairs), len(similar))
    chosen = choose_from_pairs(pairs, n_documents, threshold, are_directed=are_directed)
    return replace(joined, n_beyond=len(joined.documents) - len(chosen.documents))


def _reaching(pairs: SimilarPairs, threshold: float) -> SimilarPairs:
    return _marked(pairs, pairs.similarities >= threshold)


def _by_order(pairs: SimilarPairs, *, are_directed: bool) -> SimilarPairs:
    """Return the pairs with a removable left, later document."""
    if are_directed:
        return _marked(pairs, pairs.left > pairs.right)
    pairs = _marked(pairs, pairs.left != pairs.right)
    left, right = np.maximum(pairs.left, pairs.right), np.minimum(pairs.left, pairs.right)
    return SimilarPairs(left, right, pairs.similarities)


def _marked(pairs: SimilarPairs, rows: Bools) -> SimilarPairs:
    return pairs if rows.all() else pairs.take(rows)


def decide_by_pairs(
    documents: Catalogue,
    table: GivenPairs,
    terms: PairTerms,
    runner: Runner,
    *,
    keep: str,
    clusters: Clusters,
) -> tuple[Assignment, dict[str, Any]]:
    """Decide by pairs in keep order, and return a summary."""
    with runner.stage(READING_PAIRS) as note:
        numbered = table.numbered(documents, runner)
        least, is_stated = terms.least_threshold(table, numbered)
        note(pairs=len(numbered))
    threshold = least if terms.threshold is None else float(terms.threshold)
    with runner.stage("choose") as note:
        n_documents = len(documents)
        order = parse_keep(keep).order(n_documents, documents.lengths, documents.order)
        ranks = np.empty(n_documents, np.int32)
        ranks[order] = np.arange(n_documents, dtype=np.int32)
        pairs = SimilarPairs(ranks[numbered.left], ranks[numbered.right], numbered.similarities)
        rule = {"survivors": choose_from_pairs, "components": join_from_pairs}[clusters]
        removals = rule(pairs, n_documents, threshold or 0.0, are_directed=terms.are_directed)
        gone = removals.renumbered(order)
        note(similar=removals.n_verified)
    keepers, similarities = np.full(n_documents, -1, np.int64), np.full(n_documents, np.nan)
    keepers[gone.documents], similarities[gone.documents] = gone.keepers, gone.similarities
    are_copies = np.zeros(n_documents, np.bool_)
    assignment = Assignment(keepers, similarities, are_copies, copies_are_known=False)
    stays = assignment.stays[documents.is_document]
    about = table.about
    summary: dict[str, Any] = {
        "documents_in": len(stays),
        "documents_kept": int(stays.sum()),
        "documents_removed": int((~stays).sum()),
        "exact_copies": None,
        **describe_skipped(documents.skipped),
        **describe_filtered(documents.sources),
        "passed_over": passed_over(documents.sources),
        **describe_ids(documents.columns),
        "pairs": len(pairs),
        "pairs_at_threshold": removals.n_verified,
        "least_threshold": least,
        "least_threshold_is_stated": is_stated,
        "pairs_method": about.method if about else None,
        "predicted_recall": about.predicted_recall if about else None,
        "method": "pairs",
        "threshold": threshold,
        "measure": terms.measure,
        "keep": keep,
        "clusters": clusters,
        "scheme": dict(about.scheme) if about else None,
        "workers": runner.workers,
    }
    summary["by_file"] = count_by_file(documents, Catalogue.of_none(), assignment)
    complete_summary(summary, runner)
    summary["versions"] = versions()
    if clusters == "components":
        summary["removed_beyond_survivors"] = removals.n_beyond
    return assignment, summary
