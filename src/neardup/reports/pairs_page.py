"""The page of a table of pairs, with examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.documents import as_text
from neardup.outputs.output_tables import TableRows
from neardup.reports.charts import Chart, banding_chart, similarity_chart
from neardup.reports.examples import Document, Example, choose_rows, compare_documents
from neardup.reports.page import Cell, Fact, Report, Section, Table, is_code, options_section
from neardup.reports.text import percent, shortened
from neardup.runs.progress import counted
from neardup.tables import Floats, Int32s, Int64s

_IDS = (("id_a", "id_b"), ("query_id", "doc_id"))
_SCORES = ("overlap", "distance")
# Pairs that are listed.
_MOST_LISTED = 200

_OPTIONS = (
    *("measure", "threshold", "max_distance", "method", "predicted_recall", "blocking"),
    *("one_to_one", "top", "bands"),
)

FindDocument = Callable[[str, str], Document | None]
"""Returns a document by its side, a or b, and its id."""


@dataclass(frozen=True)
class PairTable:
    """The pairs with similarities, and numbers of their documents.

    ``rows`` is the whole table, ``places`` are its rows of the pairs. ``numbers`` are places of
    both documents in ``ids``, the different ids of both sides. ``scores`` are counts of shingles or
    edits, None without such a column. The sides of ``is_two_sided`` are two collections.
    ``summary``, that of the job, may be empty.
    """

    rows: TableRows
    places: Int64s
    ids: pa.Array
    numbers: tuple[Int32s, Int32s]
    similarities: Floats
    scores: Int64s | None
    is_two_sided: bool
    summary: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.places)

    def ids_of(self, side: int, pairs: Sequence[int]) -> list[str]:
        """Return the ids of one side of pairs."""
        ids: list[str] = self.ids.take(pa.array(self.numbers[side][pairs])).to_pylist()
        return ids

    @property
    def is_estimate(self) -> bool:
        """Return whether similarities are estimates with bounds ``low`` and ``high``."""
        return {"low", "high"} <= set(self.rows.schema.names) and self.scores is None

    @property
    def is_by_distance(self) -> bool:
        """Return whether pairs are limited and ranked by distance."""
        return "distance" in self.rows.schema.names and self.summary.get("max_distance") is not None

    @property
    def is_count(self) -> bool:
        """Return whether similarities are numbers of shingles."""
        return self.summary.get("measure") == "overlap" or bool((self.similarities > 1).any())

    @cached_property
    def values(self) -> Floats:
        """Return the ranking values of pairs, the best highest."""
        if self.is_by_distance:
            assert self.scores is not None
            return -self.scores.astype(np.float64)
        return self.similarities

    @property
    def stems(self) -> list[str]:
        """Return columns of both documents, without ``_a`` and ``_b``."""
        names = self.rows.schema.names
        stems = [name.removesuffix("_a") for name in names if name.endswith("_a")]
        return [stem for stem in stems if f"{stem}_b" in names and stem not in ("id", "low")]

    def least_similar(self, most: int) -> list[int]:
        """Return pairs in ascending order of similarity."""
        pairs: list[int] = np.argsort(self.values, kind="stable")[:most].tolist()
        return pairs

    def take(self, pairs: Sequence[int]) -> list[dict[str, Any]]:
        """Return columns of pairs, with ids as ``a`` and ``b``."""
        found = self.rows.take(self.places[np.array(pairs, np.int64)]).to_pylist()
        sides = (self.ids_of(side, pairs) for side in (0, 1))
        return [row | {"a": a, "b": b} for row, a, b in zip(found, *sides, strict=True)]

    def examples(self) -> dict[int, str]:
        """Choose titled pairs from the threshold to equal texts."""
        exact = 0.0 if self.is_by_distance else np.inf if self.is_count else 1.0
        return choose_rows(self.values, self.numbers, exact=exact)


def read_pairs(
    rows: TableRows,
    summary: Mapping[str, Any] | None,
    is_two_sided: bool | None = None,
    name: str | None = None,
) -> PairTable:
    """Read pairs of ``pairs``, ``estimate`` or ``search`` tables.

    The summary and table decide a None ``is_two_sided``. Errors call the table ``name``.
    """
    summary = dict(summary or {})
    columns = rows.schema.names
    if "similarity" not in columns:
        message = (
            "the pairs of this table have no column 'similarity', by which they are ranked; name a "
            "table that pairs or estimate has written"
        )
        raise InvalidInputError(message, path=name)
    names = next(names for names in _IDS if set(names) <= set(columns))
    score = next((name for name in _SCORES if name in columns and "low" not in columns), None)
    wanted = ["similarity", *names, *([] if score is None else [score])]
    # Ids are numbers as soon as they are read, for they take most of the memory.
    parts: tuple[list[pa.Array], ...] = ([], [])
    values, scores = np.empty(len(rows)), np.zeros(0 if score is None else len(rows), np.int64)
    start = 0
    for batch in rows.batches(*wanted):
        here = slice(start, start + len(batch))
        values[here] = batch["similarity"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        if score is not None:
            scores[here] = pc.fill_null(batch[score].cast(pa.int64()), 0).to_numpy()
        for part, name in zip(parts, names, strict=True):
            part.append(as_text(batch[name]).combine_chunks().dictionary_encode())
        start = here.stop
    empty = pa.array([], pa.large_string()).dictionary_encode()
    both = pa.chunked_array([*parts[0], *parts[1], empty])
    both = both.unify_dictionaries()
    del parts
    pa.default_memory_pool().release_unused()
    a, b = np.split(np.concatenate([each.indices.to_numpy() for each in both.chunks]), 2)
    places = np.flatnonzero(~np.isnan(values))
    if len(places) < len(values):
        a, b, values, scores = a[places], b[places], values[places], scores[places[: len(scores)]]
    if is_two_sided is None:
        is_two_sided = names[0] == "query_id" or len(summary.get("documents", ())) == 2
        is_two_sided = is_two_sided or bool((a == b).any())
    ids, scored = both.chunk(0).dictionary, None if score is None else scores
    return PairTable(rows, places, ids, (a, b), values, scored, is_two_sided, summary)


def pairs_report(
    pairs: PairTable, chosen: Mapping[int, str], find: FindDocument, advice: str
) -> Report:
    """Make the page of a table of pairs."""
    summary, n = pairs.summary, len(pairs)
    is_search = "query_id" in pairs.rows.schema.names
    noun = "match" if is_search else "estimated pair" if pairs.is_estimate else "similar pair"
    headline = counted(n, noun, "matches" if is_search else None)
    sizes = summary.get("documents", ())
    if sizes and all(isinstance(each, int) for each in sizes):
        headline += f" among {' and '.join(f'{each:,}' for each in sizes)} documents"
    facts = [Fact(f"{n:,}", "matches" if is_search else "pairs")]
    for side in range(2 if pairs.is_two_sided else 1):
        numbers = pairs.numbers[side : side + 1] if pairs.is_two_sided else pairs.numbers
        of = f" of the {('first', 'second')[side]} collection" if pairs.is_two_sided else ""
        facts.append(Fact(f"{len(np.unique(numbers)):,}", f"documents{of} in a pair"))
    examples = [
        _example(pairs, f"{title}: {_describe(pairs, pair)}", row, find)
        for (pair, title), row in zip(chosen.items(), pairs.take(list(chosen)), strict=True)
    ]
    lacks = any(not (each.differences.a or each.differences.b) for each in examples)
    sections = [
        Section(
            "examples",
            "Examples, least similar first",
            examples=[] if lacks else examples,
            nothing=advice if lacks else "",
        ),
        Section(
            "pairs",
            "Similarities",
            charts=[each for each in (_values_chart(pairs), banding_chart(summary)) if each],
            tables=[_list_pairs(pairs)] if n else [],
            nothing="No pair was found.",
        ),
        options_section(summary, _OPTIONS),
    ]
    step = "If the least similar examples are wrong, raise `--threshold`; if right, lower it."
    step = advice if lacks else step if n else "A lower `--threshold` finds more."
    return Report("pairs", headline, _sentences(pairs), facts, sections, next_step=step)


def _values_chart(pairs: PairTable) -> Chart | None:
    if pairs.is_by_distance:
        limit = pairs.summary["max_distance"]
        return similarity_chart(-pairs.values, limit, "pairs", axis="distance")
    axis = "shingles in common" if pairs.is_count else "similarity"
    return similarity_chart(pairs.similarities, pairs.summary.get("threshold"), "pairs", axis=axis)


def _list_pairs(pairs: PairTable) -> Table:
    order = pairs.least_similar(_MOST_LISTED)
    head = ["a", "b", "distance" if pairs.is_by_distance else "similarity"]
    columns: list[Sequence[Cell]] = [
        *([shortened(name) for name in pairs.ids_of(side, order)] for side in (0, 1)),
        pairs.similarities[order].tolist(),
    ]
    if pairs.is_by_distance or pairs.is_count:
        columns[2] = np.abs(pairs.values[order]).astype(np.int64).tolist()
    elif pairs.scores is not None and "overlap" in pairs.rows.schema.names:
        head.append("shingles in common")
        columns.append(pairs.scores[order].tolist())
    left = len(pairs) - len(order)
    note = f"{left:,} more pairs are in the table." if left else ""
    rows = list(zip(*columns, strict=True))
    return Table("Pairs, the least similar first", head, rows, note)


def _example(pairs: PairTable, title: str, row: Mapping[str, Any], find: FindDocument) -> Example:
    columns = [(stem, (row[f"{stem}_a"], row[f"{stem}_b"])) for stem in pairs.stems]
    known = {side: find(side, row[side]) for side in "ab"}
    documents = [known[side] or Document(row[side], None, None, None) for side in "ab"]
    if None in known.values() and columns:
        # Without the documents, the columns of the table are compared.
        texts = (
            "\n".join(f"{stem}: {'' if pair[k] is None else pair[k]}" for stem, pair in columns)
            for k in (0, 1)
        )
        documents = [replace(d, text=t) for d, t in zip(documents, texts, strict=True)]
        columns = []
    note = "; ".join(
        f"{stem}: {shortened(str(a), 60)} | {shortened(str(b), 60)}" for stem, (a, b) in columns
    )
    example = compare_documents(title, *documents, note=note, is_code=is_code(pairs.summary))
    return replace(example, are_equals=True)


def _describe(pairs: PairTable, pair: int) -> str:
    if pairs.is_by_distance:
        return f"distance {-pairs.values[pair]:g}"
    if pairs.is_count:
        return f"{pairs.similarities[pair]:g} shingles in common"
    return f"similarity {pairs.similarities[pair]:.4f}"


def _sentences(pairs: PairTable) -> list[str]:
    found = [describe_pairs(pairs)]
    summary = pairs.summary
    if summary.get("method") == "exact":
        found.append("All documents were compared exactly: no such pair is missing.")
    if summary.get("method") == "minhash" and summary.get("predicted_recall") is not None:
        found.append(
            "Every pair was verified exactly; a pair at the threshold was found with probability "
            f"{percent(summary['predicted_recall'])}, a more similar pair with a higher one."
        )
    if pairs.is_estimate and len(pairs):
        bounds = pairs.rows.to_table("low", "high")
        low, high = (bounds[name].cast(pa.float64()).to_numpy() for name in ("low", "high"))
        median = np.nanmedian(high - low) / 2
        estimated = "Distances" if "distance" in pairs.rows.schema.names else "Similarities"
        found.append(
            f"{estimated} are estimates: by their 95 % intervals half of them are within "
            f"{median:.3f} of the true value."
        )
    if n_unknown := len(pairs.rows) - len(pairs):
        found.append(f"{counted(n_unknown, 'row')} without a similarity are left out.")
    return found


def describe_pairs(pairs: PairTable) -> str:
    """Describe the measure, threshold and conditions of pairs."""
    summary = pairs.summary
    measure = summary.get("measure")
    if not len(pairs):
        return "No pair was found."
    if measure is None:
        return "This table does not name its measure; write pairs to a .parquet file to keep it."
    by = f"Similarity is {measure}"
    if summary.get("max_distance") is not None:
        by = f"Pairs are within an edit distance of {summary['max_distance']:,}"
    elif summary.get("threshold") is not None:
        by += f", {summary['threshold']:g} or more"
    if summary.get("top"):
        each = " for each document" if summary.get("per_document") else ""
        by += f"; only the {summary['top']:,} best{each} are here"
    if summary.get("blocking"):
        by += f"; only documents of equal {' and '.join(summary['blocking'])} were compared"
    if summary.get("one_to_one"):
        by += "; each document is in one pair at most"
    return f"{by}."
