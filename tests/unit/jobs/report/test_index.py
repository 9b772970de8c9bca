"""The page of an index: what its manifest and its history say, and nothing that they do not."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import pytest

import neardup
from neardup.errors import IndexFormatError, InvalidParameterError


def rows_of(page: str, label: str) -> list[list[str]]:
    """Return the cells of a table, by its label."""
    table = re.search(rf'aria-label="{label}">(.*?)</table>', page, re.S)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


@pytest.fixture
def index(tmp_path):
    """Make an index in whose life everything has happened."""
    made = neardup.DocumentIndex.create(tmp_path / "seen", threshold="0.8", ngram=1)
    texts = [f"{word} and some more words of a page about {word}" for word in "abcdefgh"]
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    made.add(rows[:5], id_column="id")
    again = [{"id": "copy", "text": texts[0].upper()}, *rows[5:7]]
    neardup.deduplicate(again, against=made.folder, id_column="id", add=True, threshold="0.99")
    made.refresh()
    made.remove(["d0"])
    made.remove(["d1"], deny=True)
    made.add([{"id": "x", "text": texts[1]}, rows[7]], id_column="id")
    made.insert("late", "something else altogether")
    made.commit()
    return made


def test_page__of_an_index(index):
    report = index.report()
    assert report.headline == "seen: an index of 7 documents"
    assert repr(report) == "Report(seen: an index of 7 documents)"
    changes = rows_of(report.html, "Changes of the index")
    assert [row[1:10] for row in changes] == [
        ["addition", "5", "5", "0", "0", "0", "5", "0", "1"],
        ["addition", "3", "2", "1", "0", "0", "7", "0", "2"],
        ["removal", "0", "0", "0", "0", "1", "6", "0", "2"],
        ["removal", "0", "0", "0", "0", "1", "5", "1", "2"],
        ["addition", "2", "1", "0", "1", "0", "6", "1", "3"],
    ]
    assert "10 documents came: 8 to stay, 1 that went for others, 1 left out as den" in report.html
    assert "and 2 went again, removed." in report.html
    assert "one by one since then, and not in a segment yet: 1, beside 0 that" in report.html
    assert "does not tell" not in report.html
    segments = rows_of(report.html, "Segments of the index")
    assert [row[1:3] for row in segments] == [["3", "2"], ["2", "0"], ["1", "0"]]
    assert ["threshold", "0.8"] in rows_of(report.html, "Options")
    assert neardup.report(index.folder).html == report.html
    assert neardup.report(str(index.folder)).html == report.html


def test_page__of_an_index_of_passages(tmp_path):
    index = neardup.PassageIndex.create(tmp_path / "p", min_tokens=5, num_perm=16)
    assert "Nothing was added yet." in index.report().html
    index.add([{"id": "a", "text": "a text of some words"}], id_column="id")
    index.remove(["a"])
    page = index.report().html
    assert "index of passages" in page
    changes = rows_of(page, "Changes of the index")
    assert [row[1:7] for row in changes] == [
        ["addition", "1", "1", "0", "1", "1"],
        ["removal", "0", "0", "1", "0", "1"],
    ]
    assert rows_of(page, "What became of what came, by addition")[0][1:] == ["1"]
    assert "1 document came and 1 went again, removed." in page
    for text in ("went for others<", "denied<", "that went for others", "denied in all"):
        assert text not in page


def test_report__refuses_what_has_no_effect(index, tmp_path):
    for given in (
        *({"inputs": ["a"]}, {"labels": []}),
        *({"text_column": "a"}, {"id_column": "a"}, {"on_error": "skip"}, {"main_text": True}),
        *({"input_format": "csv"}, {"against_id_column": "a"}),
    ):
        (name,) = given
        message = f"^{name} has no effect on a report of an index; leave it out"
        with pytest.raises(InvalidParameterError, match=message):
            neardup.report(index.folder, **given)
    with contextlib.closing(sqlite3.connect(index.folder / "index.sqlite")) as connection:
        connection.execute("UPDATE history SET data = replace(data, '5', '6')")
        connection.commit()
    with pytest.raises(IndexFormatError, match=r"index\.sqlite.*another checksum"):
        index.report()
