"""``show``: examples of a result, rows of its table with the texts that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neardup.documents.other import resolve_other
from neardup.files.inputs import Inputs, check_effect
from neardup.files.resolve import resolve_paths, told_apart
from neardup.files.streams import is_url
from neardup.options.documents import ShowOptions
from neardup.options.groups import AgainstOptions, InputOptions
from neardup.options.option import no_effect
from neardup.outputs.table_files import part_name
from neardup.outputs.table_rows import TableRows
from neardup.reports.dedup.examples import Document
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, input_options_of, other_columns_of
from neardup.stages.output import DedupOutput, open_output
from neardup.stages.shown import Outcome, ShownTexts
from neardup.stages.tables import Collection, Kind, an_id_of_others, kind_of_table, read_table
from neardup.tables import Bools, Floats, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

Which = Literal["spread", "least", "most"]


def choose_rows(values: Floats, n: int, which: Which, are_copies: Bools) -> Int64s:
    """Choose some rows by their similarity, the least similar first.

    Parameters
    ----------
    values
        How similar; NaN where nothing says it.
    n
        At most so many are chosen.
    which
        ``least`` or ``most``; or ``spread``, those nearest to similarities at equal distances
        between the least and the largest that there are.
    are_copies
        Which rows are exact copies: no text differs, so they are chosen only if too few others
        are there.

    Returns
    -------
    The rows: of equal similarity those that come first; those of unknown similarity are last, and
    chosen only if there are too few others.
    """
    is_known = ~np.isnan(values)
    differing = np.flatnonzero(is_known & ~are_copies)
    copies = np.flatnonzero(is_known & are_copies)
    unknown = np.flatnonzero(~is_known)
    if which == "spread":
        chosen = _spread(differing, values[differing], n)
    else:
        keys = values[differing] if which == "least" else -values[differing]
        chosen = differing[np.argsort(keys, kind="stable")[:n]]
    ordered = chosen[np.argsort(values[chosen], kind="stable")]
    if which == "most":
        ordered = chosen
    return np.concatenate([ordered, copies, unknown])[:n]


def _spread(rows: Int64s, values: Floats, n: int) -> Int64s:
    """Choose rows of values that are nearest to n values at equal distances."""
    if len(rows) <= n:
        return rows
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    chosen: list[int] = []
    for number, target in enumerate(np.linspace(ranked[0], ranked[-1], n)):
        # Each rank but those that the following ones need.
        first, stop = chosen[-1] + 1 if chosen else 0, len(ranked) - (n - 1 - number)
        place = first + int(np.searchsorted(ranked[first:stop], target))
        before = max(place - 1, first)
        place = min(place, stop - 1)
        is_nearer = target - ranked[before] <= ranked[place] - target
        chosen.append(before if is_nearer else place)
    return rows[order[chosen]]


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
    characters of their documents, ``cited`` as people cite them, None where the table has none.
    ``lacking`` says of a text that is not there what to do.
    """

    first: Document
    second: Document
    similarity: float | None
    is_copy: bool = False
    spans: tuple[tuple[int, int], tuple[int, int]] | None = None
    cited: tuple[str | None, str | None] = (None, None)
    lacking: str = ""


@dataclass(frozen=True)
class Examples:
    """Some rows of a result.

    ``row`` is what one is and several are; ``names`` what the two documents are, such as
    ``removed`` and ``kept``.
    """

    row: tuple[str, str]
    names: tuple[str, str]
    n_rows: int
    examples: Sequence[Example]

    def describe(self) -> dict[str, Any]:
        """Return all as plain values."""
        return {
            "rows": self.n_rows,
            "examples": [
                {
                    "similarity": each.similarity,
                    "exact_copy": each.is_copy,
                    **{
                        name: _described(document)
                        | ({} if span is None else {"span": list(span)})
                        | ({} if cited is None else {"place": cited})
                        for name, document, span, cited in zip(
                            self.names,
                            (each.first, each.second),
                            each.spans or (None, None),
                            each.cited,
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
    """Choose removed documents of an output folder, each with the one that stays for it."""
    import pyarrow.compute as pc

    removed = output.removed
    known = [
        (pc.fill_null(batch["exact_copy"], False).to_numpy(), batch["similarity"].to_numpy())
        for batch in removed.batches("exact_copy", "similarity")
    ]
    nothing = np.empty(0, np.bool_), np.empty(0)
    copies, values = map(np.concatenate, zip(nothing, *known, strict=True))
    rows = choose_rows(values, options.examples, options.which, copies)
    places = rows.tolist()
    texts = ShownTexts(removed)
    texts.read(Outcome.of_folder(output), against, runner, removed=places, keepers=places)
    examples = []
    for place, is_copy in zip(places, copies[rows].tolist(), strict=True):
        pair = texts.removal(place)
        lacking = pair.no_text or _IN_OTHER
        examples.append(Example(pair.first, pair.second, pair.similarity, is_copy, lacking=lacking))
    names = ("removed", "kept")
    row = ("removed document", "removed documents")
    return Examples(row, names, len(removed), examples)


def _described(document: Document) -> dict[str, Any]:
    values = asdict(document)
    if values["by"] is None:
        del values["by"]
    return values


def examples_of_table(
    table: pa.Table,
    kind: Kind,
    own: Collection | None,
    other: Collection | None,
    options: ShowOptions,
    runner: Runner,
) -> Examples:
    """Choose rows of a table of pairs, of documents that were found, or of passages."""
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
    cited = [
        chosen[name].to_pylist() if name in chosen.column_names else [None] * len(chosen)
        for name in (f"{side}_place" for side in _SIDES)
    ]
    examples = [
        Example(
            documents[0][i],
            documents[1][i],
            None if np.isnan(values[row]) else float(values[row]),
            spans=None if spans is None else (spans[0][i], spans[1][i]),
            cited=(cited[0][i], cited[1][i]),
            lacking=_lacking(documents[1][i], own, other),
        )
        for i, row in enumerate(rows.tolist())
    ]
    return Examples(_ROWS[kind], names, len(table), examples)


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


def _lacking(second: Document, own: Collection | None, other: Collection | None) -> str:
    if own is None:
        return "its text is in the documents of the table; name these as INPUT"
    if other is None and second.text is None:
        return _IN_OTHER
    return "there is no such document; name INPUT and --against as when the table was made"


def find_examples(
    result: str,
    inputs: Sequence[str],
    against: Sequence[str],
    options: ShowOptions,
    runner: Runner,
) -> Examples:
    """Choose examples of a result, and read their texts."""
    # Options are checked before anything is read.
    _ = options.which
    options.check_other("against", is_given=bool(against))
    if _is_output(result):
        output = open_output(result)
        if inputs:
            raise no_effect("INPUT", "on a folder, which has the texts", "name its table")
        options.check_unread("on a folder, which says how its texts were read", "name a table")
        other = _other_of_folder(output, against, options)
        return examples_of_folder(output, other, options, runner)
    own = resolve_paths(inputs, options) if inputs else None
    others = _resolve(against, options) if against else None
    check_effect(options, own or (), others or ())
    table, _ = read_table(result, runner)
    if own is not None and others is not None:
        told_apart(others, own, an_id_of_others(TableRows.of_table(table)))
    return examples_of_table(
        table,
        kind_of_table(table.column_names, result),
        None if own is None else Collection(own, columns_of(options), options.skip_bad),
        None if others is None else Collection(others, other_columns_of(options), options.skip_bad),
        options,
        runner,
    )


def _is_output(result: str) -> bool:
    """Return whether a result is no table: a folder, but for the parts of a long one."""
    if is_url(result):
        return not PurePosixPath(result).suffix
    return Path(result).is_dir() and not Path(result, part_name(0)).exists()


def _resolve(paths: Sequence[str], options: InputOptions) -> Inputs:
    return resolve_other([Path(path) for path in paths], lambda _: resolve_paths(paths, options))


def _other_of_folder(
    output: DedupOutput, against: Sequence[str], options: ShowOptions
) -> Collection | None:
    """Return the other collection of a deduplication, read as it was."""
    if not against:
        return None
    read = output.summary["reading"]
    text = options.against_text_column or read.get("against_text_column") or read["text_column"]
    identifier = options.against_id_column
    own = output.summary.get("against_id_column")
    chosen = AgainstOptions(
        text_column=text,
        id_column=own if identifier is None else identifier,
        on_error="skip",
        **vars(input_options_of(read)),
    )
    return Collection(_resolve(against, chosen), columns_of(chosen), skip_bad=True)
