"""Commits of a few documents go into the database, and are found as those of segments are."""

from __future__ import annotations

from unittest.mock import patch

from neardup import DocumentIndex
from neardup.index.store import read_manifest
from tests.calls import grouped
from tests.document_indexes import OPTIONS


def test_pending__become_a_segment(tmp_path):
    index = DocumentIndex.create(tmp_path / "idx", **grouped(**OPTIONS))
    reader = DocumentIndex.open(tmp_path / "idx")
    with patch("neardup.documents.document_handle.MOST_PENDING", 3):
        for number in range(4):
            index.insert(str(number), f"text number {number}")
            index.commit()
            assert [row["id"] for row in reader.documents()] == [str(n) for n in range(number + 1)]
            info = index.info()
            assert (info["documents"], info["tokens"]) == (number + 1, 3 * (number + 1))
            assert info["segments"] == (number == 3)
            assert read_manifest(index.folder).pending.n_rows == (number + 1) % 4


def test_pending__removed_and_replaced(tmp_path):
    """Rows of documents that wait are lost as those of a segment are, and stay lost in one."""
    index = DocumentIndex.create(tmp_path / "idx", **grouped(**OPTIONS))
    for name in "abcde":
        index.insert(name, f"text of {name}")
        index.commit()
    assert index.insert_if_new("went", "text of b") == "b"
    assert index.remove(["b", "d"]).orphans["id"].to_pylist() == ["went"]
    assert read_manifest(index.folder).pending.n_removed == 2
    assert index.replace("a", "another text").n_removed == 1
    pending = read_manifest(index.folder).pending
    assert (pending.n_rows, pending.n_documents, pending.n_removed) == (6, 6, 3)
    for _ in range(2):
        reader = DocumentIndex.open(index.folder)
        assert [row["id"] for row in reader.documents()] == ["c", "e", "a"]
        assert reader.query("text of b", limit=9) == reader.query("text of d", limit=9)
        assert "b" not in reader
        index.insert("f", "text of f")
        index.commit()
        index.remove(["f"])
        index.compact()
    assert index.info()["removed_documents"] == 0
