"""A collection without the documents that a table names."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.convert import OutputFormat
from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.jobs.dedup.summary import complete_summary, list_skipped
from neardup.outputs.folder import new_folder
from neardup.outputs.row_files import write_rows
from neardup.reading.contents import ContentTable
from neardup.reading.first_pass import Catalogue, ReadingPlan, read_catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runtime.progress import Progress, StageClock
from neardup.runtime.threads import map_ordered, read_ahead
from neardup.tables import Bools
from neardup.text.shingles import make_shingle_scheme
from neardup.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_COLUMN = "doc_id"


@dataclass(frozen=True, kw_only=True)
class DropOptions:
    """What decides which documents go, and how the others are written.

    ``column`` of the table has the ids; None is ``doc_id``, and right for a text with one id a
    line. With ``ignore_missing`` the table may name documents that are not there.
    """

    column: str | None = None
    ignore_missing: bool = False
    columns: ColumnNames = field(default_factory=ColumnNames)
    skip_bad: bool = False
    format: OutputFormat = "same"


def read_named_ids(named_in: str, column: str | None) -> pa.Array:
    """Read the different ids that a table, or a text with one id a line, names.

    Raises
    ------
    InvalidParameterError
        If a column of a text is asked for.
    InvalidInputError, ReadError
        If the file is no table, has no such column, a row without an id, or cannot be read.
    """
    import pyarrow as pa

    sources = resolve_paths([named_in], lines=True)
    if len(sources) > 1:
        message = f"expected one file of ids, got {len(sources):,}: {named_in}"
        raise InvalidInputError(message)
    [source] = sources
    is_text = ".txt" in Path(source.name).suffixes[-2:]
    if is_text and column is not None:
        message = f"column has no effect with {named_in}, a text with one id a line; leave it out"
        raise InvalidParameterError(message)
    parts = [_ids_in(block, column or DEFAULT_COLUMN, named_in) for block in source.blocks()]
    return pa.concat_arrays([pa.array([], pa.large_string()), *parts]).unique()


def _ids_in(block: RowBlock, column: str, named_in: str) -> pa.Array:
    """Give a column of some rows as strings; ids may also be whole numbers."""
    import pyarrow as pa

    try:
        found = block.parse(ColumnNames(column)).text
    except InvalidInputError:
        try:
            table = block.to_table()
        except (InvalidInputError, pa.ArrowException):
            table = pa.table({})
        if column not in table.column_names or pa.types.is_string(table[column].type):
            raise
        found = table[column].combine_chunks()
        if found.null_count or not pa.types.is_integer(found.type):
            message = f"column {column!r} holds {found.type} values, or nulls; choose one with ids"
            raise InvalidInputError(message, path=named_in) from None
    return found.cast(pa.large_string())


def drop_documents(
    sources: Sequence[Source],
    named_in: str,
    output: Path,
    options: DropOptions,
    *,
    overwrite: bool,
    workers: int,
    progress: Progress,
) -> dict[str, Any]:
    """Write the documents of some sources without those that a table names; give the summary.

    The folder appears when everything has been written, or not at all.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``read_named_ids``; for a bad row of the sources, unless these are to be skipped; for an
        id that comes twice; for named documents that are not there, unless this is ignored.
    OutputExistsError, WriteError
        If the folder exists and is not to be replaced, or writing fails.
    """
    clock = StageClock()
    with clock.stage("read"):
        named = read_named_ids(named_in, options.column)
        catalogue = _read(sources, options, workers, progress)
        stays, n_missing = _choose(catalogue, named, options, named_in)
    summary = _summarise(catalogue, stays, len(named), n_missing, workers)
    with new_folder(output, overwrite=overwrite) as new:
        with clock.stage("write"):
            _write_rows(catalogue, stays, new, options.format, workers, progress)
            _write_removed(catalogue, stays, new)
        complete_summary(summary, clock)
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (new / "summary.json").write_text(text + "\n", encoding="utf-8")
    return summary


def _read(
    sources: Sequence[Source], options: DropOptions, workers: int, progress: Progress
) -> Catalogue:
    """Read the documents as all commands do, so that their ids are those that others gave."""
    plan = ReadingPlan(
        options.columns, make_shingle_scheme("words", ngram=1), skip_bad=options.skip_bad
    )
    return read_catalogue(sources, plan, ContentTable(), [], workers=workers, progress=progress)


def _choose(
    catalogue: Catalogue, named: pa.Array, options: DropOptions, named_in: str
) -> tuple[Bools, int]:
    """Tell which documents stay, and how many named ones are not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = catalogue.document_ids()
    # A skipped row is no document, and stays.
    is_document = catalogue.n_tokens >= 0
    documents = ids.filter(pa.array(is_document))
    missing = named.filter(pc.invert(pc.is_in(named, value_set=documents)))
    if len(missing) and not options.ignore_missing:
        message = (
            f"{named_in} names {len(named):,} documents, {len(missing):,} of which the input does "
            f"not have, such as {missing[0].as_py()!r}; give the same input and --id-column as "
            "when the ids were made, choose another --column, or leave such ids out with "
            "--missing ignore"
        )
        raise InvalidInputError(message)
    is_named = pc.is_in(ids, value_set=named).to_numpy(zero_copy_only=False)
    stays: Bools = ~(is_named & is_document)
    return stays, len(missing)


def _write_rows(
    catalogue: Catalogue,
    stays: Bools,
    folder: Path,
    output_format: OutputFormat,
    workers: int,
    progress: Progress,
) -> None:
    done = 0
    lock = Lock()

    def report(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            progress("write", done, len(catalogue))

    def write(item: tuple[Source, int, int]) -> None:
        blocks = read_ahead(numbered_blocks(*item))
        write_rows(item[0], blocks, stays, folder, output_format, report)

    for _ in map_ordered(write, catalogue.ranges(), workers):
        pass


def _write_removed(catalogue: Catalogue, stays: Bools, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    gone = np.flatnonzero(~stays)
    table = pa.table(
        {
            "id": catalogue.document_ids().take(gone),
            "file": catalogue.document_files().take(gone).cast(pa.string()),
            "row": catalogue.numbers[gone],
        }
    )
    pq.write_table(table, folder / "removed.parquet", compression="zstd")


def _summarise(
    catalogue: Catalogue, stays: Bools, n_named: int, n_missing: int, workers: int
) -> dict[str, Any]:
    n_skipped = int((catalogue.n_tokens < 0).sum())
    return {
        "documents_in": len(catalogue) - n_skipped,
        "documents_kept": int(stays.sum()) - n_skipped,
        "documents_removed": int((~stays).sum()),
        "named_documents": n_named,
        "missing_documents": n_missing,
        "skipped_rows": len(catalogue.skipped),
        **list_skipped(catalogue),
        "workers": workers,
        "versions": {
            "neardup": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "numba", "pyarrow")},
        },
    }
