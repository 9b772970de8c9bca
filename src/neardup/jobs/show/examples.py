"""Examples of a result: rows of its table, with the texts that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.jobs.dedup.output import DedupOutput
from neardup.jobs.report.collection import Collection
from neardup.jobs.report.dedup_texts import FolderOutcome, ShownTexts
from neardup.jobs.report.kinds import Kind
from neardup.jobs.show.choose import choose_rows
from neardup.jobs.show.options import ShowOptions
from neardup.reports.dedup.examples import Document
from neardup.runtime.runner import Runner
from neardup.tables import Floats

if TYPE_CHECKING:
    import pyarrow as pa

_IN_OTHER = "its text is in the other collection; name that with --against"

# What a row of each kind of table is.
_ROWS: dict[Kind, tuple[str, str]] = {
    "pairs": ("pair", "pairs"),
    "estimate": ("pair", "pairs"),
    "documents": ("hit", "hits"),
    "passages": ("pair of passages", "pairs of passages"),
}

# How columns of passages begin, and how those of their places end.
_SIDES, _ENDS = ("query", "doc"), ("start", "end")


@dataclass(frozen=True)
class Example:
    """Two documents, or passages of them, that a result says to be alike.

    ``similarity`` is None where nothing says it; ``spans`` are the places of passages, in
    characters of their documents.
    """

    first: Document
    second: Document
    similarity: float | None
    is_copy: bool = False
    spans: tuple[tuple[int, int], tuple[int, int]] | None = None


@dataclass(frozen=True)
class Examples:
    """Some rows of a result.

    ``row`` is what one is and several are; ``names`` what the two documents are, such as
    ``removed`` and ``kept``. ``lacking`` says of texts that are not there what to do.
    """

    row: tuple[str, str]
    names: tuple[str, str]
    n_rows: int
    examples: Sequence[Example]
    lacking: str = ""

    def describe(self) -> dict[str, Any]:
        """Return all as plain values."""
        return {
            "rows": self.n_rows,
            "examples": [
                {
                    "similarity": each.similarity,
                    "exact_copy": each.is_copy,
                    **{
                        name: asdict(document) | ({} if span is None else {"span": list(span)})
                        for name, document, span in zip(
                            self.names,
                            (each.first, each.second),
                            each.spans or (None, None),
                            strict=True,
                        )
                    },
                }
                for each in self.examples
            ],
        }


def examples_of_folder(
    output: DedupOutput, against: Collection | None, options: ShowOptions, runner: Runner
) -> Examples:
    """Choose removed documents of an output folder, each with the one that stays for it.

    Raises
    ------
    ReadError, InvalidInputError
        If the folder or ``against`` cannot be read, or are not as they were.
    """
    import pyarrow.compute as pc

    removed = output.removed
    copies = pc.fill_null(removed["exact_copy"], False).to_numpy()
    values = removed["similarity"].to_numpy()
    rows = choose_rows(values, options.examples, options.which, copies)
    chosen = removed.take(rows)
    texts = ShownTexts(chosen)
    places = range(len(chosen))
    texts.read(FolderOutcome(output), against, runner, removed=places, keepers=places)
    examples = []
    for place, is_copy in enumerate(copies[rows].tolist()):
        pair = texts.removal(place)
        examples.append(Example(pair.first, pair.second, pair.similarity, is_copy))
    lacking = ""
    if any(each.second.text is None for each in examples):
        lacking = _IN_OTHER
    names = ("removed", "kept")
    row = ("removed document", "removed documents")
    return Examples(row, names, len(removed), examples, lacking)


def examples_of_table(
    table: pa.Table,
    kind: Kind,
    own: Collection | None,
    other: Collection | None,
    options: ShowOptions,
    runner: Runner,
) -> Examples:
    """Choose rows of a table of pairs, of documents that were found, or of passages.

    Raises
    ------
    ReadError, InvalidInputError
        If the documents that it names cannot be read.
    """
    is_pairs = kind in ("pairs", "estimate")
    names = ("a", "b") if is_pairs else ("query", "document")
    sides = ("id_a", "id_b") if is_pairs else ("query_id", "doc_id")
    values = _similarities(table)
    rows = choose_rows(values, options.examples, options.which, np.zeros(len(table), np.bool_))
    chosen = table.take(rows)
    ids = [chosen[side].cast("string").to_pylist() for side in sides]
    if "query_text" in chosen.column_names:
        documents = [
            [Document(key, None, None, text) for key, text in zip(keys, texts, strict=True)]
            for keys, texts in zip(
                ids, (chosen[f"{side}_text"].to_pylist() for side in _SIDES), strict=True
            )
        ]
    else:
        found = _read_texts(own, other, ids, runner)
        documents = [
            [texts.get(key, Document(key, None, None, None)) for key in keys]
            for keys, texts in zip(ids, found, strict=True)
        ]
    spans = None
    if kind == "passages":
        spans = [
            list(zip(*(chosen[f"{side}_{end}"].to_pylist() for end in _ENDS), strict=True))
            for side in _SIDES
        ]
        if "query_text" not in chosen.column_names:
            documents = [list(map(_cut, *each)) for each in zip(documents, spans, strict=True)]
    examples = [
        Example(
            documents[0][i],
            documents[1][i],
            None if np.isnan(values[row]) else float(values[row]),
            spans=None if spans is None else (spans[0][i], spans[1][i]),
        )
        for i, row in enumerate(rows.tolist())
    ]
    lacking = _lacking(examples, own, other)
    return Examples(_ROWS[kind], names, len(table), examples, lacking)


def _read_texts(
    own: Collection | None,
    other: Collection | None,
    ids: Sequence[Sequence[str]],
    runner: Runner,
) -> Sequence[dict[str, Document]]:
    """Read the documents of both sides, which are of one collection or of two."""
    if other is None:
        return [_read(own, [*ids[0], *ids[1]], runner)] * 2
    return [_read(own, ids[0], runner), _read(other, ids[1], runner)]


def _similarities(table: pa.Table) -> Floats:
    """Return the similarities of a table, NaN where it has none."""
    import pyarrow as pa

    if "similarity" not in table.column_names:
        return np.full(len(table), np.nan)
    values: Floats = table["similarity"].cast(pa.float64()).to_numpy()
    return values


def _read(collection: Collection | None, ids: Iterable[str], runner: Runner) -> dict[str, Document]:
    if collection is None:
        return {}
    found = collection.texts(ids, runner)
    return {
        identifier: Document(identifier, each.file, each.row, each.text)
        for identifier, each in found.items()
    }


def _cut(document: Document, span: tuple[int, int]) -> Document:
    """Return a document with the text of a passage alone."""
    if document.text is None:
        return document
    return Document(document.id, document.file, document.row, document.text[slice(*span)])


def _lacking(examples: Sequence[Example], own: Collection | None, other: Collection | None) -> str:
    if all(each.first.text is not None and each.second.text is not None for each in examples):
        return ""
    if own is None:
        return "its text is in the documents of the table; name these as INPUT"
    if other is None and any(each.second.text is None for each in examples):
        return _IN_OTHER
    return "there is no such document; name INPUT and --against as when the table was made"
