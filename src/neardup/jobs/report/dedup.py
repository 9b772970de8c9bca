"""The page of a deduplication: which documents it shows, and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError, SketchMismatchError
from neardup.files.ids import as_text
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.pairs.find_pairs import find_pairs
from neardup.matching.measures import MEASURES, Measure
from neardup.options.groups import ShingleOptions
from neardup.reports.dedup.examples import Common, Document, KeptPairs, Pair, choose_examples
from neardup.reports.dedup.model import count_clusters, flows_of
from neardup.reports.dedup.page import DedupData, render_dedup
from neardup.reports.page import Report
from neardup.runs.runner import Runner, release_memory
from neardup.stages.places import DocumentPlaces
from neardup.stages.scheme import restore_scheme
from neardup.stages.selection import collections_of
from neardup.stages.shown import Outcome, ResultOutcome, ShownTexts, texts_of_documents
from neardup.stages.tables import Collection
from neardup.tables import Int64s
from neardup.text.shingles import ShingleScheme, shingle_sets
from neardup.text.tokenizers import named_tokenizer

# How many shingles two documents have in common, as the run that compared them has counted.

# Of a value that was rounded once, in the kernel or here.
_TOLERANCE = 1e-9


class ShingleCounter:
    """Counts the shingles of pairs, where the scheme of a summary can be made again.

    It cannot with a tokenizer of the user's, and for documents that are bytes; shingles that weigh
    are not counted.
    """

    def __init__(self, summary: Mapping[str, Any]) -> None:
        self._shingles: ShingleScheme | None = None
        if summary["reading"]["input_format"] != "bytes":
            with suppress(InvalidParameterError, SketchMismatchError):
                scheme = restore_scheme(summary)
                if scheme is not None and not scheme.weighted:
                    self._shingles = scheme.shingles
        # Of a table of pairs similarities were given.
        self._measure: Measure | None = None
        if summary["method"] in ("minhash", "exact"):
            self._measure = MEASURES[summary["measure"]].parse(str(summary["threshold"]))

    def count(self, pair: Pair) -> Pair:
        """Return a pair with what its texts have in common, as far as that is known."""
        if self._shingles is None or None in (pair.first.text, pair.second.text):
            return pair
        sets = shingle_sets(texts_of_documents(pair.first, pair.second), self._shingles)
        first, second = (
            sets.values[start : start + size]
            for start, size in zip(sets.starts.tolist(), sets.sizes.tolist(), strict=True)
        )
        common = len(np.intersect1d(first, second))
        return replace(pair, common=Common(common, len(first), len(second)))

    def check(self, pair: Pair) -> Pair:
        """Count a removed document and the one that stays for it; make sure that they are those."""
        counted = self.count(pair)
        common, noted = counted.common, pair.similarity
        if common is None or noted is None or self._measure is None:
            return counted
        n, first, second = (
            np.array([each], np.int64)
            for each in (common.n_common, common.n_first, common.n_second)
        )
        # Of one-sided measures components may hold the other way round. Two documents without
        # shingles are copies.
        found = [1.0]
        if common.n_first or common.n_second:
            ways = ((first, second), (second, first))
            found = [float(self._measure.similarities(n, *way)[0]) for way in ways]
        if not any(abs(value - noted) < _TOLERANCE for value in found):
            message = (
                f"the texts of {pair.first.id!r} and {pair.second.id!r}, which stays for it, are "
                f"not those that were compared: their similarity is not {noted:.4f}; they have "
                "been changed since, so run `neardup dedup` again"
            )
            raise InvalidInputError(message)
        return counted


# Documents that stay and are nearly alike, or alike after all: looked for among the first ones.

# As many documents, until they have as many bytes of text, are compared with each other: an exact
# join needs some 14 bytes a byte of text, and a report has to stay below 500 MB.
MOST_DOCUMENTS = 10_000
MOST_BYTES = 4_000_000

# Down to this share of the threshold; and how many pairs are counted at most, and shown.
_SHARE = Fraction(7, 8)
_MOST_PAIRS = 1_000
_N_SHOWN = 3

# Fields of a scheme that are options of the same name.
_OPTIONS = [*ShingleOptions.known, "tf", "idf"]


def find_kept_pairs(outcome: Outcome, documents: DocumentPlaces, workers: int) -> KeptPairs | str:
    """Compare the first documents that stay with each other, exactly.

    Returns the pairs from a little below the threshold on; or why none were looked for, as a
    sentence.
    """
    summary = outcome.summary
    if reason := _why_not(summary):
        return f"Pairs that stay were not looked for: {reason}."
    numbers = _first_kept(documents)
    texts = _first_texts(outcome, documents, numbers)
    if len(texts) < min(2, len(numbers)):
        return "Pairs that stay were not looked for: the first document that stays is too long."
    threshold = Fraction(str(summary["threshold"]))
    least = Fraction(int(threshold * _SHARE * 1000), 1000)
    options = {name: summary["scheme"][name] for name in _OPTIONS if name in summary["scheme"]}
    options |= {"measure": summary["measure"], "threshold": least}
    table = find_pairs(texts, top=_MOST_PAIRS, workers=workers, **options).pairs
    found = table.select(["id_a", "id_b", "similarity"])
    missed, below = [], []
    for row in found.to_pylist():
        first, second = int(row["id_a"]), int(row["id_b"])
        if row["similarity"] < float(threshold):
            below.append((first, second, row["similarity"]))
        elif not MEASURES[summary["measure"]].is_directed or first > second:
            # Only a document that comes later may go for one that it lies in.
            missed.append((first, second, row["similarity"]))
    files, rows = documents.files_of(numbers), documents.rows_of(numbers)
    ids = as_text(outcome.clusters.take(numbers, "id")["id"].combine_chunks()).to_pylist()

    def document(place: int) -> Document:
        name = documents.files[files[place]]
        return Document(ids[place], name, int(rows[place]), texts[place])

    def shown(pairs: list[tuple[int, int, float]]) -> list[Pair]:
        return [Pair(document(a), document(b), value) for a, b, value in pairs[:_N_SHOWN]]

    return KeptPairs(
        len(texts),
        float(least),
        len(missed),
        len(found) == _MOST_PAIRS and not below,
        shown(below),
        shown(missed),
    )


def _why_not(summary: Mapping[str, Any]) -> str:
    """Return why documents cannot be compared as the run did it; nothing if they can be."""
    scheme = summary["scheme"]
    if not summary["input_files"]:
        return "only ids of the documents are known"
    if scheme is None or summary["threshold"] is None:
        return "the table of pairs does not say how similarities were measured"
    if summary["measure"] not in MEASURES:
        return f"{summary['measure']} is no measure by which sets of shingles are compared"
    if summary["reading"]["input_format"] == "bytes":
        return "documents are bytes, which a page shows as text"
    if named_tokenizer(scheme["tokenizer"]) is None:
        return "the tokenizer is not one of neardup's own"
    if scheme["tokenizer"] == "code" and "language" not in scheme:
        return "each program is in the language of its file"
    if scheme.get("idf", "unary") != "unary":
        return "weights depend on how many of all documents have a shingle"
    if MEASURES[summary["measure"]].is_directed and summary["keep"] != "first":
        return f"which of two may go for the other depends on keep {summary['keep']}"
    return ""


def _first_kept(documents: DocumentPlaces) -> Int64s:
    """Return the numbers of the first documents that stay."""
    found: list[Int64s] = [np.empty(0, np.int64)]
    for some in documents.of_side(went=False):
        found.append(some[: MOST_DOCUMENTS - sum(map(len, found))])
        if not len(found[-1]):
            break
    return np.concatenate(found)


def _first_texts(outcome: Outcome, documents: DocumentPlaces, numbers: Int64s) -> list[str]:
    """Return the texts of the first documents, of which all but the last one are within bounds."""
    files, rows = documents.files_of(numbers), documents.rows_of(numbers)
    texts: list[str] = []
    left = MOST_BYTES
    for file in dict.fromkeys(files.tolist()):
        of_file = rows[files == file].tolist()
        for text in outcome.texts("kept", documents.files[file], of_file, left):
            texts.append(text)
            left -= len(text.encode("utf-8", "replace"))
            if left <= 0:
                return texts
    return texts


def report_of_result(result: DeduplicationResult, runner: Runner) -> Report:
    """Make the page of a result in memory, for which its inputs are read again."""
    own, other = collections_of(result)
    against = None
    if other.sources and result.summary.get("against_documents"):
        against = Collection.of_catalogue(other)
    return report_of_dedup(ResultOutcome(result, own), runner, against=against)


def report_of_dedup(
    outcome: Outcome, runner: Runner, *, against: Collection | None = None
) -> Report:
    """Make the page of a deduplication, such as an output folder.

    Files are read up to the last document that is shown. Tables are read several times, some rows
    at a time; memory for the texts that are shown or compared, and what ``DocumentPlaces`` takes.
    """
    summary, removed = outcome.summary, outcome.removed
    # What reading a table has left behind would stay beside what comes next.
    release_memory()
    documents = outcome.documents
    keeps_none = summary["keep"] == "none"
    clusters = count_clusters(removed, outcome.clusters, keeps_none=keeps_none)
    release_memory()
    counter = ShingleCounter(summary)
    kept_pairs = find_kept_pairs(outcome, documents, runner.workers)
    if not isinstance(kept_pairs, str):
        below, missed = (
            [counter.count(pair) for pair in each] for each in (kept_pairs.below, kept_pairs.missed)
        )
        kept_pairs = replace(kept_pairs, below=below, missed=missed)
    chosen = choose_examples(removed)
    largest = [each.place for each in clusters.largest]
    shown = ShownTexts(removed)
    shown.read(
        outcome,
        against,
        runner,
        removed=chain(*chosen.values()),
        keepers=chain(*chosen.values(), largest),
    )
    release_memory()
    data = DedupData(
        summary,
        removed,
        clusters,
        flows_of(summary["by_file"]),
        {
            kind: [counter.check(shown.removal(place)) for place in places]
            for kind, places in chosen.items()
        },
        kept_pairs,
        [shown.keeper(place).text for place in largest],
        is_written=outcome.is_written,
    )
    release_memory()
    return render_dedup(data)
