"""Files of sketches: their names, and what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.errors import InvalidParameterError, ReadError, SketchFormatError
from neardup.files.streams import is_remote, open_random
from neardup.outputs.folder import STANDARD_OUTPUT
from neardup.outputs.targets import Target
from neardup.sketches import table_format

_DAMAGED = "the file is damaged; make the sketches again, or get another copy"


def check_sketch_name(path: Target) -> None:
    """Raise unless a name ends in .parquet.

    Raises
    ------
    InvalidParameterError
        If it ends otherwise.
    """
    if path == STANDARD_OUTPUT:
        message = (
            "a file of sketches is binary, which standard output does not take; "
            "name a file that ends in .parquet"
        )
        raise InvalidParameterError(message)
    if path.suffix != ".parquet":
        message = f"a file of sketches must end in .parquet, got {str(path)!r}"
        raise InvalidParameterError(message)


def read_info(path: str | Path) -> dict[str, Any]:
    """Return what a file of sketches holds, without reading the sketches.

    Raises
    ------
    ReadError, SketchFormatError
        As ``Sketches.read``.
    """
    with _opened(path) as file:
        try:
            about = table_format.read_about(file.schema_arrow.metadata)
        except SketchFormatError as error:
            raise SketchFormatError(str(error), path=str(path)) from None
        n_rows = file.metadata.num_rows
        about.pop("digests", None)
        is_cut = "block_size" in about
        return {
            "path": str(path),
            "documents": _count_ids(file) if is_cut else n_rows,
            "blocks": n_rows if is_cut else None,
            "bytes": _stored_bytes(str(path)),
            **about,
        }


def _count_ids(file: pq.ParquetFile) -> int:
    try:
        return int(pc.count_distinct(file.read(["id"])["id"]).as_py())
    except (KeyError, pa.ArrowException, OSError):
        raise SketchFormatError(_DAMAGED) from None


def read_sketch_table(path: str | Path) -> pa.Table:
    """Read all rows of a file; what they mean is not looked at.

    Raises
    ------
    ReadError, SketchFormatError
        As ``Sketches.read``.
    """
    with _opened(path) as file:
        try:
            table = file.read()
        except (pa.ArrowException, OSError):
            raise SketchFormatError(_DAMAGED, path=str(path)) from None
        # Checksums of pages do not cover the numbers of rows, of which a file has several.
        if len(table) != file.metadata.num_rows:
            raise SketchFormatError(_DAMAGED, path=str(path))
        return table


def _stored_bytes(location: str) -> int:
    if not is_remote(location):
        return Path(location).stat().st_size
    with open_random(location) as file:
        return int(file.size)


def _opened(path: str | Path) -> pq.ParquetFile:
    location = str(path)
    if is_remote(location):
        file = open_random(location)
    else:
        try:
            # Arrow's own error does not tell what the system says.
            Path(path).open("rb").close()
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise ReadError(message, path=location) from None
        file = path
    try:
        return pq.ParquetFile(file, page_checksum_verification=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        message = "not a Parquet file, or a damaged one; make it with neardup sketch"
        raise SketchFormatError(message, path=str(path)) from None
