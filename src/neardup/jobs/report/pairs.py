"""The report of pairs, of estimates and of matches in an index of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neardup.jobs.report.tables import Collection
from neardup.reports.page import Report
from neardup.reports.pairs.labelled import hold_to_labels, read_labels
from neardup.reports.pairs.page import heading, render_pairs, select_examples
from neardup.reports.pairs.table import PairsTable, pairs_table
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    import pyarrow as pa


def report_of_pairs(
    table: pa.Table,
    summary: Mapping[str, Any] | None,
    own: Collection | None,
    other: Collection | None,
    runner: Runner,
    *,
    labels: pa.Table | None = None,
) -> Report:
    """Make the page of a table of pairs, estimates or matches.

    ``own`` are the documents a, ``other`` the documents b where these are of another collection;
    None if their texts are not at hand.
    """
    pairs = pairs_table(table, summary, two_sided=True if other is not None else None)
    labelled = None if labels is None else hold_to_labels(pairs, read_labels(labels))
    selection = select_examples(pairs, labelled)
    ids_a, ids_b = selection.ids(pairs)
    if not pairs.two_sided:
        ids_a = ids_b = ids_a | ids_b
    texts_a = {} if own is None else own.texts(ids_a, runner)
    texts_b = texts_a
    if pairs.two_sided:
        texts_b = {} if other is None else other.texts(ids_b, runner)

    def find_text(side: str, identifier: str) -> tuple[str, str] | None:
        found = (texts_a if side == "a" else texts_b).get(identifier)
        return None if found is None else (found.text, f"{found.file}, row {found.row:,}")

    page = render_pairs(pairs, labelled, selection, find_text, _advice(pairs, own, other))
    return Report(page, heading(pairs))


def _advice(pairs: PairsTable, own: Collection | None, other: Collection | None) -> str:
    """Say how to see texts that are not known."""
    if own is None and not pairs.two_sided:
        return "To see the texts, name the documents: neardup report TABLE INPUT -o PAGE.html."
    if own is None or (other is None and pairs.two_sided):
        return (
            "To see the texts, name both collections: neardup report TABLE INPUT --against OTHER "
            "-o PAGE.html."
        )
    return (
        "Documents that are listed without a text are not in the files named; name the same files "
        "as when the pairs were found, with the same --id-column."
    )
