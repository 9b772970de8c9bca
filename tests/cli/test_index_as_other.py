"""An index of documents where commands take another collection: its texts are all read."""

from __future__ import annotations

import pytest

import neardup
from tests.spilling import make_rows, spilling, write_lines

OLD, NEW = make_rows(4, 40, chain=10), make_rows(4, 30)


@pytest.fixture
def collections(here):
    """Write both collections, and an index of one of them that has also lost some documents."""
    more = [{"id": f"gone{i}", "text": row["text"] + " x", "score": 0} for i, row in enumerate(NEW)]
    index = neardup.DocumentIndex.create(here / "idx")
    index.add([*OLD[:20], *more])
    index.remove([row["id"] for row in more])
    index.add(OLD[20:])
    write_lines(here / "old.jsonl", OLD)
    write_lines(here / "new.jsonl", [{"key": row["id"], "body": row["text"]} for row in NEW])
    return index


COLUMNS = ("--text-column", "body", "--id-column", "key")
OF_FILE = ("--against-text-column", "text", "--against-id-column", "id")


@pytest.mark.parametrize(
    "command",
    [
        ("pairs", "--method", "exact", "--threshold", 0.85),
        ("pairs", "--threshold", 0.85),
        ("pairs", "--top", 3, "--per-document"),
        ("pairs", "--max-distance", 20),
        ("align", "--min-tokens", 20),
    ],
    ids=lambda command: " ".join(map(str, command)),
)
def test_other__as_the_same_documents_in_a_file(run, here, collections, command):
    name, *options = command
    common = (name, "new.jsonl", *COLUMNS, *options)
    of_file = run(*common, "--against", "old.jsonl", *OF_FILE, "-o", "file.jsonl")
    of_index = run(*common, "--against", "idx", "-o", "index.jsonl")
    assert (of_file.code, of_index.code) == (0, 0), of_index.err
    found = (here / "index.jsonl").read_text()
    assert found == (here / "file.jsonl").read_text()
    assert len(found.splitlines()) > 5


def test_pairs__looked_up(run, here, write_texts):
    """Nothing of the index is read but what is similar."""
    write_texts("a.jsonl", ["one two three four five six", "seven"])
    bare = neardup.DocumentIndex.create(
        here / "bare", threshold="0.4", text=neardup.TextOptions(ngram=1)
    )
    bare.add([{"id": "x", "text": "one two three four five"}, {"id": "y", "text": "none"}])
    found = run("pairs", "a.jsonl", "--against", "bare", "-o", "out.csv")
    assert found.code == 0, found.err
    assert (here / "out.csv").read_text().splitlines()[1:] == [
        '"a.jsonl:1","x",0.8333333333333334,5'
    ]
    assert "2 documents and 2 documents: 1 pair with jaccard >= 0.4" in found.out


def test_pairs__looked_up_within_memory(here, collections, monkeypatch):
    """Ids of two types, of runs of which each is a file: the same rows, none of them empty."""
    write_lines(here / "other.jsonl", [{"id": n, "text": row["text"]} for n, row in enumerate(NEW)])
    rows = [{"id": row["id"], "text": row["text"]} for row in NEW]
    write_lines(here / "new.jsonl", [*rows, *({"id": f"n{n}", "text": "x"} for n in range(900))])
    named = [here / "other.jsonl", here / "new.jsonl"]
    expected = neardup.find_pairs(named, collections)
    assert {str(field.type) for field in expected.table.schema} == {
        "large_string",
        "double",
        "int64",
    }
    n_new, n_other = (len(neardup.find_pairs(each, collections)) for each in named)
    assert len(expected) == n_new + n_other > 20
    monkeypatch.setattr("neardup.jobs.pairs.find_pairs._FILE_BYTES", 1)
    work = here / "work"
    with spilling(100):
        found = neardup.find_pairs(named, collections, run=neardup.RunOptions(work=work))
        assert len(list(work.rglob("found-*.rows"))) > 2
        assert found.table.equals(expected.table)
        assert found.table.schema.metadata == expected.table.schema.metadata
        assert all(len(batch) for batch in found.rows())
    del found
    assert not any(work.iterdir())


def test_other__texts_that_are_called_like_an_index(collections):
    """Strings in a list are texts, whatever lies in the folder."""
    texts = ["idx", "some other words"]
    assert len(neardup.deduplicate(["idx"], against=texts).removed) == 1
    assert len(neardup.find_pairs(["idx"], texts).table) == 1
