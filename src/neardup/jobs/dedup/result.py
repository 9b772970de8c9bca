"""What ``deduplicate`` gives: tables of what goes and why, and the way to write them out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.convert import OUTPUT_FORMATS, OutputFormat, check_converted_names
from neardup.jobs.dedup.summary import complete_summary
from neardup.outputs.folder import check_apart, new_folder
from neardup.outputs.row_files import write_rows
from neardup.reading.second_pass import numbered_blocks
from neardup.runtime.progress import Progress, StageClock, no_progress
from neardup.runtime.threads import map_ordered, read_ahead
from neardup.tables import Bools, Floats, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.rows import Source
    from neardup.reading.first_pass import Catalogue


@dataclass(frozen=True)
class Assignment:
    """What each document gives way to.

    ``keepers`` is -1 for a document that stays, else the number of the one that stays for it;
    documents of the collection it is compared ``against`` are numbered first. ``similarities`` are
    NaN for documents that stay. ``exact`` marks exact copies of their keeper.
    """

    keepers: Int64s
    similarities: Floats
    exact: Bools

    @property
    def stays(self) -> Bools:
        """Whether each document stays."""
        return self.keepers < 0


class DeduplicationResult:
    """Which documents stay, which go, and why.

    ``summary`` is a dictionary of options, counts and times; all else is worked out when asked for.
    """

    def __init__(
        self,
        own: Catalogue,
        other: Catalogue,
        assignment: Assignment,
        summary: dict[str, Any],
        clock: StageClock,
    ) -> None:
        self._own = own
        self._other = other
        self._assignment = assignment
        self._clock = clock
        self.summary = summary

    def __repr__(self) -> str:
        """Tell the counts."""
        counts = self.summary
        return (
            f"DeduplicationResult({counts['documents_in']:,} documents: "
            f"{counts['documents_kept']:,} kept, {counts['documents_removed']:,} removed, "
            f"{counts['exact_copies']:,} of those exact copies)"
        )

    @cached_property
    def kept(self) -> pa.Table:
        """The rows that stay, all columns, in input order; reads the input once more."""
        import pyarrow as pa

        stays = self._assignment.stays
        parts = [
            block.to_table(stays[rows])
            for source, start, stop in self._own.ranges()
            for block, rows in numbered_blocks(source, start, stop)
        ]
        return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})

    @cached_property
    def removed(self) -> pa.Table:
        """One row for each removed document: id, kept_id, similarity, exact_copy, file, row."""
        import pyarrow as pa

        gone = np.flatnonzero(~self._assignment.stays)
        return pa.table(
            {
                "id": self._ids.take(gone + len(self._other)),
                "kept_id": self._ids.take(self._assignment.keepers[gone]),
                "similarity": self._assignment.similarities[gone],
                "exact_copy": self._assignment.exact[gone],
                "file": self._own.document_files().take(gone).cast(pa.string()),
                "row": self._own.numbers[gone],
            }
        )

    @cached_property
    def clusters(self) -> pa.Table:
        """One row for each document: id, cluster_id, cluster_size, is_duplicate, representative_id.

        Clusters are numbered from 0 in the order of their representatives in the input. The size
        counts the representative, also where it belongs to the collection compared ``against``.
        """
        import pyarrow as pa

        n_other, n_own = len(self._other), len(self._own)
        stays = self._assignment.stays
        own_numbers = np.arange(n_other, n_other + n_own, dtype=np.int64)
        representatives = np.where(stays, own_numbers, self._assignment.keepers)
        heads, cluster_ids, sizes = np.unique(
            representatives, return_inverse=True, return_counts=True
        )
        sizes = sizes + (heads < n_other)
        read = self._own.n_tokens >= 0
        return pa.table(
            {
                "id": self._ids.slice(n_other).filter(pa.array(read)),
                "cluster_id": cluster_ids[read],
                "cluster_size": sizes[cluster_ids][read],
                "is_duplicate": ~stays[read],
                "representative_id": self._ids.take(representatives[read]),
            }
        )

    def write(
        self,
        folder: str | Path,
        *,
        overwrite: bool = False,
        format: OutputFormat = "same",  # noqa: A002 - the name of the option everywhere
        progress: Progress = no_progress,
    ) -> None:
        """Write kept and removed rows, the tables and the summary to a folder.

        The folder appears when everything has been written, or not at all.

        Parameters
        ----------
        folder
            A local path.
        overwrite
            Replace the folder if it exists.
        format
            ``same``: rows come out as they went in. ``jsonl`` or ``parquet``: converted.
        progress
            Called with the stage ``write``, rows done, and their number.

        Raises
        ------
        OutputExistsError
            If the folder exists and ``overwrite`` is not set, or if it holds an input.
        WriteError
            If writing fails; nothing is left behind.
        """
        if format not in OUTPUT_FORMATS:
            message = f"format must be one of {', '.join(OUTPUT_FORMATS)}, got {format!r}"
            raise InvalidParameterError(message)
        if format != "same":
            check_converted_names(self._own.sources, format)
        sources = [*self._own.sources, *self._other.sources]
        check_apart(Path(folder), (source.origin for source in sources))
        with new_folder(Path(folder), overwrite=overwrite) as new:
            with self._clock.stage("write"):
                self._write_rows(new, format, progress)
                self._write_tables(new)
            complete_summary(self.summary, self._clock)
            text = json.dumps(self.summary, indent=2, ensure_ascii=False)
            (new / "summary.json").write_text(text + "\n", encoding="utf-8")

    def _write_rows(self, folder: Path, output_format: OutputFormat, progress: Progress) -> None:
        done = 0
        lock = Lock()

        def report(count: int) -> None:
            nonlocal done
            with lock:
                done += count
                progress("write", done, len(self._own))

        def write(item: tuple[Source, int, int]) -> None:
            blocks = read_ahead(numbered_blocks(*item))
            write_rows(item[0], blocks, self._assignment.stays, folder, output_format, report)

        for _ in map_ordered(write, self._own.ranges(), self.summary["workers"]):
            pass

    def _write_tables(self, folder: Path) -> None:
        import pyarrow.parquet as pq

        pq.write_table(self.removed, folder / "removed.parquet", compression="zstd")
        pq.write_table(self.clusters, folder / "clusters.parquet", compression="zstd")

    @cached_property
    def _ids(self) -> pa.Array:
        """Ids of all documents; one of the other collection that is taken gets a prefix."""
        import pyarrow as pa
        import pyarrow.compute as pc

        own, other = self._own.document_ids(), self._other.document_ids()
        prefix, nothing = pa.array(["against/", ""], pa.large_string())
        prefixed = pc.binary_join_element_wise(prefix, other, nothing)
        return pa.concat_arrays([pc.if_else(pc.is_in(other, own), prefixed, other), own])
