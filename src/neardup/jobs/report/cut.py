"""The report of a cut, from its folder or from a result in memory, with texts if they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import option_name
from neardup.outputs.summary_file import read_summary
from neardup.outputs.table_rows import TableRows
from neardup.reports.cut import CutTable, cut_report, kept_key, own_key, wanted_rows
from neardup.reports.page import Report
from neardup.runs.runner import Runner, release_memory
from neardup.runs.work import Workspace
from neardup.stages.selection import collections_of, tables_of
from neardup.stages.shown import ids_in_other
from neardup.stages.tables import Collection, check_found, find_documents, open_written

if TYPE_CHECKING:
    from neardup.jobs.cut.cut_result import CutResult

_NO_TEXTS = (
    "What stood around these spans is in the files that were cut. Name them, and the page shows "
    "it, beside what stays: neardup report FOLDER INPUT... -o PAGE.html"
)


def report_of_cut(
    folder: str | Path,
    runner: Runner,
    workspace: Workspace,
    inputs: Collection | None = None,
    against: Collection | None = None,
) -> Report:
    """Make the page of a folder, or the URL of one, that ``neardup cut`` has written.

    ``inputs`` are the documents as they were before; without them no examples are shown.
    """
    _, summary = read_summary(str(folder))
    rows = open_written(f"{folder}/removed.parquet")
    with runner.stage("report"):
        return _report(rows, summary, runner, workspace, inputs, against)


def report_of_cut_result(result: CutResult, runner: Runner, workspace: Workspace) -> Report:
    """Make the page of a cut that is in memory, for which its inputs are read again."""
    with runner.stage("report"):
        own, other = collections_of(result)
        inputs, against = Collection.of_catalogue(own), None
        if result.summary["against_documents"]:
            against = Collection.of_catalogue(other)
        rows = TableRows.of_reader(
            lambda: tables_of(result)["removed.parquet"], result.summary["spans"]
        )
        return _report(rows, result.summary, runner, workspace, inputs, against)


def _report(
    rows: TableRows,
    summary: Mapping[str, Any],
    runner: Runner,
    workspace: Workspace,
    inputs: Collection | None,
    against: Collection | None,
) -> Report:
    # What reading a table has left behind would stay beside what comes next.
    release_memory()
    table = CutTable(rows, summary, workspace)
    if inputs is not None and len(table):
        _put_in(table, "input", inputs, runner, "INPUT")
        if against is not None:
            _put_in(table, "against", against, runner, option_name("against"))
    return cut_report(table, _NO_TEXTS)


def _put_in(table: CutTable, side: str, collection: Collection, runner: Runner, where: str) -> None:
    """Add the texts of documents that are shown, of a collection."""
    import pyarrow as pa

    rows = [table.shown[place] for place in wanted_rows(table)]
    keys = dict.fromkeys(key for row in rows for key in (own_key(row), kept_key(row)))
    wanted = [key for key in keys if key is not None and key[0] == side]
    # A document of the other collection may have an id of its own that begins like a changed one.
    there = [ids_in_other(name) if side == "against" else (name,) for _, name in wanted]
    places = {name: place for place, name in enumerate(dict.fromkeys(chain.from_iterable(there)))}
    ids = pa.array(list(places), pa.large_string())
    found = find_documents(collection, ids, runner, range(len(places)))
    chosen = [
        next((places[name] for name in own if found.files[places[name]] >= 0), places[own[-1]])
        for own in there
    ]
    of_wanted = replace(found, files=found.files[chosen])
    check_found(of_wanted, pa.array([name for _, name in wanted], pa.large_string()), where)
    for key, place in zip(wanted, chosen, strict=True):
        if place in found.texts:
            table.texts[key] = found.texts[place]
