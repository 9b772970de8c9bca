"""A few documents of a file, by their places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.formats import file_source
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions
from neardup.reading.second_pass import read_at


def test_read_at__ends_where_texts_have_so_many_bytes(tmp_path: Path) -> None:
    texts = [f"{n:1000}" for n in range(20)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet", row_group_size=2)
    source = file_source(str(tmp_path / "in.parquet"), "in.parquet", InputOptions())
    places = np.arange(1, 19)
    for most, is_cut in ((3000, True), (30_000, False), (None, False)):
        found = read_at(source, ColumnNames("text", None), places, most_bytes=most)
        assert found.are_cut == is_cut
        assert found.texts == texts[1 : 1 + len(found.texts)]
        assert (3 <= len(found.texts) < 6) if is_cut else len(found.texts) == 18
