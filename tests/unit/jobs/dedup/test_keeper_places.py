"""Where the documents are for which others go: files and rows, of either collection."""

from __future__ import annotations

import pytest

import neardup

TEXT = "one two three four five six seven"
OTHER = "eight nine ten eleven twelve thirteen"


def places(result):
    return [
        (row["kept_in"], row["kept_file"], row["kept_row"]) for row in result.removed.to_pylist()
    ]


@pytest.fixture
def files(tmp_path):
    """Two files: of three copies of a text and two of another, blank lines between them."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text(f'\n{{"text": "{TEXT}"}}\n\n{{"text": "{OTHER}"}}\n')
    lines = "".join(f'{{"text": "{text}"}}\n' for text in (OTHER, TEXT, TEXT))
    (tmp_path / "in/b.jsonl").write_text(lines)
    return tmp_path / "in"


def test_removed__keepers_of_the_input(files):
    found = places(neardup.deduplicate(files))
    assert found == [("input", "a.jsonl", 4), ("input", "a.jsonl", 2), ("input", "a.jsonl", 2)]


def test_removed__keepers_of_both_collections(files, tmp_path):
    (tmp_path / "other.csv").write_text(f'text\n"first"\n"{TEXT}"\n')
    found = places(neardup.deduplicate(files, against=tmp_path / "other.csv"))
    against = ("against", "other.csv", 2)
    assert found == [against, ("input", "a.jsonl", 4), against, against]


@pytest.mark.parametrize("method", ["minhash", "exact"])
def test_removed__keepers_of_an_index(files, tmp_path, method):
    """Rows of an index are no one's to look up, however it was read."""
    with neardup.DocumentIndex.create(tmp_path / "index") as index:
        index.add([TEXT])
        found = places(neardup.deduplicate(files, against=index, method=method))
    against = ("against", None, None)
    assert found == [against, ("input", "a.jsonl", 4), against, against]


def test_removed__keepers_in_memory():
    assert places(neardup.deduplicate([TEXT, OTHER, TEXT])) == [("input", "data", 1)]
