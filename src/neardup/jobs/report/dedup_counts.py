"""Documents of a deduplication counted by a column that the run did not look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.jobs.counts import Groups, count_documents, count_pairs
from neardup.jobs.report.dedup_texts import Documents
from neardup.reading.column_values import ColumnValues
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


def count_by_values(
    values: ColumnValues, documents: Documents, removed: pa.Table
) -> dict[str, Any]:
    """Count documents by the values of a column, as a summary has it.

    Parameters
    ----------
    values
        Of all documents, in input order.
    documents
        The same ones.
    removed
        The table of those that went.
    """
    gone = np.flatnonzero(documents.goes)
    for_other = ~np.asarray(removed["kept_in"].to_numpy() == "input")
    flags = {"removed_for_against": for_other}
    if not removed["exact_copy"].null_count:
        flags["exact_copies"] = removed["exact_copy"].to_numpy()
    removed_as = {name: np.zeros(len(documents.goes), np.bool_) for name in flags}
    for name, flag in flags.items():
        removed_as[name][gone] = flag
    groups = Groups.of_values(values)
    everything = np.ones(len(documents.goes), np.bool_)
    counts = count_documents(groups, everything, ~documents.goes, removed_as)
    # All documents of the other collection are one, which has no value.
    other = Groups.of_none(groups.label, 1)
    keepers = np.zeros(len(gone), np.int64)
    keepers[~for_other] = 1 + _keepers(documents, removed.filter(~for_other))
    return {"column": values.column, **counts, **count_pairs(groups, other, gone, keepers)}


def with_values(values: ColumnValues, documents: Documents, removed: pa.Table) -> pa.Table:
    """Return the table of those that went with ``by`` and ``kept_by``, as the run would have."""
    import pyarrow as pa

    # None stands for documents without a value, and for those of the other collection.
    names = pa.array([*values.names, None], pa.large_string())
    gone = np.flatnonzero(documents.goes)
    of_input = np.asarray(removed["kept_in"].to_numpy() == "input")
    kept: Int64s = np.full(len(gone), -1, np.int64)
    kept[of_input] = values.numbers[_keepers(documents, removed.filter(of_input))]
    for name, numbers in (("by", values.numbers[gone]), ("kept_by", kept)):
        places = np.where(numbers < 0, len(values.names), numbers)
        removed = removed.append_column(name, names.take(pa.array(places)))
    return removed


def _keepers(documents: Documents, removed: pa.Table) -> Int64s:
    """Return the numbers of the documents for which others went, all of the input."""
    places = {name: place for place, name in enumerate(documents.names)}
    files = np.array([places[name] for name in removed["kept_file"].to_pylist()], np.int64)
    rows = removed["kept_row"].to_numpy()
    # Rows of a file ascend, and files are in the order of their documents.
    most = int(max(documents.rows.max(initial=0), rows.max(initial=0))) + 1
    places_in_order = documents.files * most + documents.rows
    numbers: Int64s = np.searchsorted(places_in_order, files * most + rows)
    return numbers
