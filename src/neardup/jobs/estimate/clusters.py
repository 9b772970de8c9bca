"""Clusters of documents from sketches alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engine.opening import check_run
from neardup.engine.workspaces import memory_budget
from neardup.errors import InvalidParameterError
from neardup.options.choices import Number, Representative
from neardup.options.groups import RunOptions
from neardup.options.sketches import ClusterOptions
from neardup.results import TableResult
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.sketches.greedy import cluster_greedily
from neardup.sketches.registry import kind_of, kinds_with
from neardup.stages.sketches import Sketches, SketchParts, bytes_to_read
from neardup.tables import SetSketches

if TYPE_CHECKING:
    from neardup.outputs.summary_records import ClusterSummary


@dataclass(frozen=True, repr=False)
class ClusterResult(TableResult):
    """Clusters of documents.

    ``clusters`` has a row per document: ``id``, ``cluster_id`` (from 0, in the order of first
    members), ``cluster_size`` and ``representative_id``, the first member. ``summary`` has counts.
    """

    _rows_are = "documents"

    clusters: pa.Table
    summary: ClusterSummary

    @property
    def table(self) -> pa.Table:
        """The clusters."""
        return self.clusters

    def headline(self) -> str:
        """Return the numbers of documents and of clusters."""
        documents = counted(len(self.clusters), "document")
        return f"{documents}: {counted(self.summary['clusters'], 'cluster')}"

    def _chart(self) -> str:
        from neardup.reports.charts import size_chart
        from neardup.reports.notebook import chart_in_notebook

        sizes = pc.value_counts(self.clusters["cluster_id"]).field("counts").to_numpy()
        titles = ("documents in a cluster", "clusters")
        return chart_in_notebook(size_chart("sizes", "Sizes of the clusters", sizes, titles))


# Memory per byte of sketches in memory, and per byte of a file's part, which is read as a table.
# Clusters get half of the memory then.
_HELD_OF_ALL, _HELD_OF_PART = 7, 10


def cluster_sketches(
    data: Sketches | str | Path,
    threshold: Number = "0.5",
    *,
    representative: Representative = "first",
    run: RunOptions | None = None,
) -> ClusterResult:
    """Group documents greedily by their sketches: each joins the most similar cluster.

    Parameters
    ----------
    data
        Sketches of kind ``smallest`` or ``modulo`` from ``sketch``, or the path of a file of them.
    threshold
        Least estimated resemblance with a cluster's representative, in (0, 1], an exact decimal.
    representative
        Representative of a cluster: its ``first`` member, or its most ``popular`` values.
    run
        Progress, and the memory budget: sketches that do not fit are read once for each part of the
        representatives. Ids, 40 bytes per document, sketches in memory, with ``popular`` the values
        of all clusters, and Python and its libraries are additional.

    Returns
    -------
    ``clusters``, a table in the order of the sketches, and ``summary``.

    Raises
    ------
    InvalidParameterError
        For sketches of another kind, and for options out of range.
    ReadError, SketchFormatError
        If a file cannot be read, or is not a file of sketches.

    Notes
    -----
    Results are not verified, and depend on the order of the documents: see
    ``sketches.greedy.cluster_greedily``. To remove documents use ``deduplicate``, which compares
    texts.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 4.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog ran", "the cat sat on a mat"]
    >>> one = neardup.TextOptions(ngram=1)
    >>> sketches = neardup.sketch(texts, kind="smallest", text=one)
    >>> neardup.cluster_sketches(sketches, 0.8).clusters["cluster_id"].to_pylist()
    [0, 1, 0]
    """
    ClusterOptions(threshold=threshold, representative=representative)
    given = check_run(run, "memory")
    with Runner(1, given.progress, "estimate") as runner:
        return cluster_files(data, threshold, representative, runner, memory_budget(given.memory))


def cluster_files(
    data: Sketches | str | Path,
    threshold: Number,
    representative: Representative,
    runner: Runner,
    memory: int,
) -> ClusterResult:
    """Group like ``cluster_sketches``, within a memory limit in bytes."""
    budget = memory
    is_whole = bytes_to_read(data) * _HELD_OF_ALL <= budget
    own = SketchParts(data, None if is_whole else budget // _HELD_OF_PART)
    kind = kind_of(own.scheme)
    if not kind.has_clusters:
        kinds = kinds_with("has_clusters")
        message = (
            f"clusters need sketches of kind {kinds}, got {kind.name}; make such sketches, "
            "or remove near-duplicates with neardup dedup"
        )
        raise InvalidParameterError(message, "clusters")

    if isinstance(data, Sketches):
        is_whole = own.part(0).rows.values.nbytes * _HELD_OF_ALL <= budget

    def read(number: int) -> Iterator[SetSketches]:
        for part in own.parts_from(number):
            rows: SetSketches = part.rows
            # Free both before the next part is read.
            del part
            yield rows
            del rows

    with runner.stage("cluster"):
        found = cluster_greedily(
            read,
            kind.scheme,
            threshold,
            representative=representative,
            room_bytes=None if is_whole else budget // 2,
            report=partial(runner.report, "cluster"),
        )
    sizes = np.bincount(found.clusters, minlength=len(found))
    ids = own.ids()
    table = pa.table(
        {
            "id": ids,
            "cluster_id": found.clusters,
            "cluster_size": sizes[found.clusters],
            "representative_id": ids.take(pa.array(found.representatives[found.clusters])),
        }
    )
    summary: ClusterSummary = {
        "kind": kind.name,
        "documents": [len(own)],
        "clusters": len(found),
        "largest_cluster": int(sizes.max(initial=0)),
        "single_documents": int((sizes == 1).sum()),
        "threshold": float(Fraction(str(threshold))),
        "representative": representative,
        "scheme": own.scheme,
        "seconds": runner.seconds,
    }
    return ClusterResult(table, summary)
