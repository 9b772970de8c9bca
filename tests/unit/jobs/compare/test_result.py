"""What a comparison returns: one line, a table for other libraries, files."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup

OLD = "the cat sat on the mat and looked at the dog"
NEW = "the cat sat on the mat and barked at the dog"


@pytest.fixture(scope="module")
def result():
    return neardup.compare(OLD, NEW, text=neardup.TextOptions(ngram=2))


def test_arrow_stream__row_for_each_measure(result):
    table = pa.table(result)
    assert len(table) == len(result.measures)
    first = table.to_pylist()[0]
    assert first == {"measure": "jaccard", "exact": 8 / 12}


def test_write__by_ending(result, tmp_path):
    result.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == result.report().html
    with pytest.raises(neardup.OutputExistsError):
        result.write(tmp_path / "page.html")
    with pytest.raises(neardup.InvalidParameterError, match=r"\.html"):
        result.write(tmp_path / "result.csv")
