"""Documents of a passage index, by id and in order, also after others were removed."""

from __future__ import annotations

import pytest

from neardup import PassageIndex


def rows_of(first: int, n: int) -> list[dict[str, object]]:
    return [
        {"id": f"d{i}", "text": f"the text of number {i}, ünïcode \0 and all"}
        for i in range(first, first + n)
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> PassageIndex:
    made = PassageIndex.create(tmp_path_factory.mktemp("stored") / "index", min_tokens=2)
    for first, n in ((0, 7), (7, 20), (27, 13)):
        made.add(rows_of(first, n))
        if first == 0:
            made.remove(["d0", "d6"])
            # An id may come back after its document was removed.
            made.add([{"id": "d6", "text": "another one"}])
    made.remove([f"d{i}" for i in (7, 8, 12, 19, 20, 39)])
    return made


EXPECTED = [
    *rows_of(1, 5),
    {"id": "d6", "text": "another one"},
    *(row for row in rows_of(7, 33) if row["id"] not in {"d7", "d8", "d12", "d19", "d20", "d39"}),
]


def test_documents__any_range(index):
    assert index.documents(limit=1000) == EXPECTED
    for start in range(len(EXPECTED) + 2):
        for limit in (0, 1, 3, 50):
            assert index.documents(start, limit) == EXPECTED[start : start + limit]
    assert PassageIndex.open(index.folder).documents(3, 4) == EXPECTED[3:7]


def test_get__every_document(index):
    for row in EXPECTED:
        assert index.get(row["id"]) == row
    for missing in ("d0", "d7", "d39", "", "d", "nothing", 7):
        assert index.get(missing) is None
