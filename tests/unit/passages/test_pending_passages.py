"""Documents that wait in the database of a passage index are found as those of segments are."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from neardup import PassageIndex, ReadOptions, RunOptions
from neardup.index.store import read_manifest
from neardup.passages.document_blocks import DocumentBlock
from neardup.passages.open_passages import pack_block, unpack_block
from neardup.tables import TokenLists, TokenSpans
from tests.calls import grouped

WORDS = [f"w{i}" for i in range(60)]
OPTIONS = {"min_tokens": 5, "num_perm": 16, "tokenizer": "whitespace"}


def text_of(number: int) -> str:
    generator = random.Random(number % 17)
    return " ".join([*generator.choices(WORDS, k=25), f"end{number}"])


def answers(index: PassageIndex, recall: str) -> pa.Table:
    queries = [" ".join(text_of(number).split()[3:15]) for number in range(0, 40, 3)]
    return index.search(queries, "0.7", recall=recall, run=RunOptions(workers=1)).passages


@pytest.mark.parametrize("idf", ["unary", "smooth"])
@pytest.mark.parametrize("most", [0, 3, 7, 1000])
@pytest.mark.parametrize("recall", ["1", "0.8"])
def test_additions__one_by_one(tmp_path, monkeypatch, most, recall, idf):
    """Answers are those of one addition, whatever waits, is removed or replaced in between."""
    monkeypatch.setattr("neardup.passages.open_passages.MOST_PENDING", most)
    grown = PassageIndex.create(tmp_path / "grown", **grouped(idf=idf, **OPTIONS))
    reader = PassageIndex.create(tmp_path / "reader", **grouped(idf=idf, **OPTIONS))
    rows = {str(number): text_of(number) for number in range(40)}
    # The first addition decides frequencies.
    for index in (grown, reader):
        index.add([{"id": "first", "text": " ".join(WORDS)}], read=ReadOptions(id_column="id"))
    reader = PassageIndex.open(tmp_path / "grown")
    for number, (name, text) in enumerate(rows.items()):
        grown.add(
            [{"id": name, "text": text}],
            read=ReadOptions(id_column="id"),
            run=RunOptions(workers=1),
        )
        if number % 9 == 4:
            assert len(answers(reader, recall)) >= number // 2
        if number % 13 == 6:
            grown.remove([name, str(number - 2)])
    for number in (0, 20, 39):
        grown.replace(str(number), text_of(number + 1))
    gone = {str(each) for number in range(40) if number % 13 == 6 for each in (number, number - 2)}
    kept = [name for name in rows if name not in gone | {"0", "20", "39"}] + ["0", "20", "39"]
    assert [row["id"] for row in reader.documents(0, 100)] == ["first", *kept]
    assert reader.get("20") == {"id": "20", "text": text_of(21)}
    assert reader.get("4") is None
    fresh = PassageIndex.create(tmp_path / "fresh", **grouped(idf=idf, **OPTIONS))
    fresh.add([{"id": "first", "text": " ".join(WORDS)}], read=ReadOptions(id_column="id"))
    texts = rows | {str(number): text_of(number + 1) for number in (0, 20, 39)}
    fresh.add(
        [{"id": name, "text": texts[name]} for name in kept], read=ReadOptions(id_column="id")
    )
    expected = answers(fresh, recall)
    assert len(expected) > 10
    for index in (grown, reader, PassageIndex.open(tmp_path / "grown")):
        assert answers(index, recall) == expected
    # What was removed may come back.
    grown.add(
        [{"id": "4", "text": "something else of a few words"}], read=ReadOptions(id_column="id")
    )
    assert reader.get("4")["text"] == "something else of a few words"
    grown.remove(["4"])
    grown.compact()
    assert answers(reader, recall) == expected
    assert reader.info()["segments"] == 1


def test_additions__of_many_do_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.passages.open_passages.MOST_PENDING", 5)
    index = PassageIndex.create(tmp_path / "index", **grouped(**OPTIONS))
    index.add([text_of(number) for number in range(3)])
    assert read_manifest(index.folder).pending.n_documents == 3
    index.add([{"id": f"x{number}", "text": text_of(number)} for number in range(3)])
    manifest = read_manifest(index.folder)
    assert (manifest.pending.n_rows, [each.n_documents for each in manifest.segments]) == (0, [6])


def test_search__makes_windows_once(tmp_path):
    """A search makes the windows of what came since the last one, and of little more."""
    index = PassageIndex.create(tmp_path / "index", **grouped(**OPTIONS))
    sizes = []
    for number in range(16):
        index.add(
            [{"id": str(number), "text": text_of(number)}],
            read=ReadOptions(id_column="id"),
            run=RunOptions(workers=1),
        )
        assert len(index.search(text_of(number), "0.9", recall="0.8"))
        segments = index._handle.view(None).segments
        sizes.append([len(segment) for segment in segments])
    assert sizes[-1] == sorted(sizes[-1], reverse=True)
    assert max(map(len, sizes)) <= 4
    assert sum(sizes[-1]) == 16


@pytest.mark.parametrize("kind", [pa.large_string(), pa.int32(), pa.uint64()])
def test_pack__round_trip(kind):
    files = pa.array([None, [{"name": "a", "start": 3}]])
    block = DocumentBlock(
        pa.array(["5", "7"]).cast(kind),
        pa.array(["é x", ""], pa.large_string()),
        TokenLists(np.array([1, 2**64 - 1], np.uint64), np.array([0, 2, 2])),
        TokenSpans(np.array([0, 3]), np.array([2, 4])),
        files=files,
    )
    for given in (block, replace(block, files=None)):
        found = unpack_block(pack_block(given))
        assert found.ids.equals(given.ids)
        assert found.texts.equals(given.texts)
        assert found.tokens.values.tolist() == given.tokens.values.tolist()
        assert found.tokens.offsets.tolist() == [0, 2, 2]
        assert (found.spans.starts.tolist(), found.spans.stops.tolist()) == ([0, 3], [2, 4])
        assert (found.files is None) == (given.files is None)
