"""Where documents stand and which went, read from a table: as lists of all of them say it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.stages.output import DocumentPlaces

# Gaps in front of rows, and whether the document there went, of each of some files.
FILES = st.lists(st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1), max_size=5)


def documents_of(files: list[list[tuple[int, bool]]]) -> list[tuple[str, int, bool]]:
    found = []
    for number, drawn in enumerate(files):
        rows = np.cumsum([gap for gap, _ in drawn]).tolist()
        found += [(f"f{number}", row, went) for row, (_, went) in zip(rows, drawn, strict=True)]
    return found


def batches(documents: list[tuple[str, int, bool]], size: int) -> list[pa.Table]:
    types = {"file": pa.string(), "row": pa.int64(), "is_duplicate": pa.bool_()}
    return [
        pa.table(
            {
                name: pa.array([each[i] for each in documents[start : start + size]], kind)
                for i, (name, kind) in enumerate(types.items())
            }
        )
        for start in range(0, len(documents), size)
    ]


@given(FILES, st.integers(1, 9))
@example([[(1, n % 3 == 0) for n in range(200)], [(2, True)] * 70], 64)
def test_document_places__as_a_list_of_all(files, size):
    every = documents_of(files)
    found = DocumentPlaces(batches(every, size))
    names = list(dict.fromkeys(name for name, _, _ in every))
    numbers = np.arange(len(every))
    went = np.array([each[2] for each in every], np.bool_)
    assert (len(found), found.files) == (len(every), names)
    assert found.are_removed(numbers).tolist() == went.tolist()
    before = [int(went[:n].sum()) for n in range(len(every) + 1)]
    assert [found.count_removed_before(n) for n in range(len(every) + 1)] == before
    where = {each[:2]: n for n, each in enumerate(every)}
    for name in [*names, "none"]:
        expected = [where.get((name, row), -1) for row in range(-1, 80)]
        assert found.find(name, np.arange(-1, 80)).tolist() == expected
    for side in ("kept", "removed"):
        for name in names:
            here = found.of_side(side, name)
            is_here = [each[0] == name and each[2] == (side == "removed") for each in every]
            assert here.tolist() == np.flatnonzero(is_here).tolist()
