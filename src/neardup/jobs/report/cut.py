"""The report of a cut, from its folder or from a result in memory, with texts if they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.options.groups import InputOptions
from neardup.outputs.summary_file import check_columns, read_summary, resolve_tables
from neardup.reports.cut import CutDocument, CutTable, cut_report, wanted_rows
from neardup.reports.page import Report
from neardup.stages.decided import ids_in_other
from neardup.stages.tables import Collection, check_found, find_documents

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.jobs.cut.cut_result import CutResult
    from neardup.runs.runner import Runner

_COLUMNS = {
    "id": "id",
    "start": "int64",
    "end": "int64",
    "kept_id": "id?",
    "kept_start": "int64?",
    "kept_end": "int64?",
    "similarity": "double?",
    "file": "string",
    "row": "int64",
    "kept_in": "string?",
}
_PARQUET = InputOptions(input_format="parquet")
_NO_TEXTS = (
    "What stood around these spans is in the files that were cut. Name them, and the page shows "
    "it, beside what stays: neardup report FOLDER INPUT... -o PAGE.html"
)


def report_of_cut(
    folder: str | Path,
    runner: Runner,
    inputs: Collection | None = None,
    against: Collection | None = None,
    *,
    trust: bool = False,
) -> Report:
    """Make the page of a folder, or the URL of one, that ``neardup cut`` has written.

    ``inputs`` are the documents as they were before; without them no examples are shown. With
    ``trust`` table and summary are taken as they are.
    """
    import pyarrow as pa

    _, summary = read_summary(str(folder), trust=trust)
    sources = resolve_tables(f"{folder}/removed.parquet", trust=trust, options=_PARQUET)
    blocks = [block.to_table() for source in sources for block in source.blocks()]
    removed = pa.concat_tables(blocks) if blocks else None
    if removed is not None:
        check_columns(removed, _COLUMNS, "removed.parquet", str(folder))
    n_rows = 0 if removed is None else len(removed)
    if n_rows != summary.get("spans"):
        message = (
            f"removed.parquet has {n_rows:,} rows, which is not what summary.json says; the folder "
            "was changed since: run `neardup cut` again"
        )
        raise InvalidInputError(message, path=str(folder))
    with runner.stage("report"):
        return _report(removed, summary, runner, inputs, against)


def report_of_cut_result(result: CutResult, runner: Runner) -> Report:
    """Make the page of a cut that is in memory, for which its inputs are read again."""
    with runner.stage("report"):
        own, other = result.collections()
        inputs, against = Collection.of_catalogue(own), None
        if result.summary["against_documents"]:
            against = Collection.of_catalogue(other)
        return _report(result.removed, result.summary, runner, inputs, against)


def _report(
    removed: pa.Table | None,
    summary: Mapping[str, Any],
    runner: Runner,
    inputs: Collection | None,
    against: Collection | None,
) -> Report:
    table, n_own = _table(removed, summary)
    if inputs is not None and len(table):
        _put_in(table, range(n_own), inputs, runner, "INPUT")
        if against is not None:
            _put_in(table, range(n_own, len(table.documents)), against, runner, "--against")
    return cut_report(table, _NO_TEXTS)


def _table(removed: pa.Table | None, summary: Mapping[str, Any]) -> tuple[CutTable, int]:
    """Make the table, documents of the input first; return how many these are, too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if removed is None or not len(removed):
        return CutTable.of_none(summary), 0
    ids, kept_ids = (as_text(removed[name]).combine_chunks() for name in ("id", "kept_id"))
    is_own = pc.fill_null(pc.equal(removed["kept_in"].combine_chunks(), "input"), False)
    nobody = pa.scalar(None, pa.large_string())
    own = pc.unique(pa.concat_arrays([ids, pc.if_else(is_own, kept_ids, nobody).drop_null()]))
    others = pc.unique(pc.if_else(is_own, nobody, kept_ids).drop_null())
    numbers = pc.index_in(ids, value_set=own).to_numpy().astype(np.int64)
    documents = [CutDocument(name, None) for name in own.to_pylist()]
    _, firsts = np.unique(numbers, return_index=True)
    places = removed.select(["file", "row"]).take(pa.array(firsts)).to_pylist()
    for first, place in zip(firsts.tolist(), places, strict=True):
        document = documents[numbers[first]]
        documents[numbers[first]] = replace(document, file=place["file"], row=place["row"])
    documents += [CutDocument(name, None) for name in others.to_pylist()]
    in_own, in_others = (pc.index_in(kept_ids, value_set=each) for each in (own, others))
    in_others = pc.add(in_others.cast("int64"), len(own))
    kept = pc.fill_null(pc.if_else(is_own, in_own.cast("int64"), in_others), -1)
    # Of what nobody has named 0.
    kept_starts, kept_stops = (
        removed[name].cast("int64").fill_null(0).to_numpy() for name in ("kept_start", "kept_end")
    )
    table = CutTable(
        documents,
        numbers,
        removed["start"].to_numpy(),
        removed["end"].to_numpy(),
        kept.to_numpy(),
        kept_starts,
        kept_stops,
        removed["similarity"].cast("float64").fill_null(np.nan).to_numpy(),
        summary,
    )
    return table, len(own)


def _put_in(
    table: CutTable, numbers: range, collection: Collection, runner: Runner, where: str
) -> None:
    """Add files and texts to documents of a collection."""
    import pyarrow as pa

    documents = table.documents
    names = [documents[number].id for number in numbers]
    # A document of the other collection may have an id of its own that begins like a changed one.
    there = [ids_in_other(name) if where == "--against" else [name] for name in names]
    rows = {name: row for row, name in enumerate(dict.fromkeys(chain.from_iterable(there)))}
    wanted = [
        rows[name]
        for row in wanted_rows(table)
        for number in (int(table.own[row]), int(table.kept[row]))
        if number in numbers
        for name in there[number - numbers.start]
    ]
    ids = pa.array(list(rows), pa.large_string())
    every = find_documents(collection, ids, runner, list(dict.fromkeys(wanted)))
    found = every.take(
        [
            next((rows[name] for name in own if every.files[rows[name]] is not None), rows[own[-1]])
            for own in there
        ]
    )
    check_found(found, pa.array(names, pa.large_string()), where)
    for k, number in enumerate(numbers):
        known = documents[number]
        file = known.file or found.files[k]
        documents[number] = replace(known, file=file, text=found.texts[k])
