"""Documents of an index of either kind by their ids, as those of a mapping."""

from __future__ import annotations

import pytest

import neardup
from neardup.jobs.index import index as index_module
from tests.each import each_of

OPTIONS = {neardup.DocumentIndex: {}, neardup.PassageIndex: {"min_tokens": 2}}


@each_of("kind", OPTIONS)
def test_index__by_id(kind, tmp_path):
    index = kind.create(tmp_path / "index", **OPTIONS[kind])
    index.add([{"id": "a", "text": "one two three"}, {"id": "b", "text": "four five six"}])
    assert ("a" in index, "c" in index, len(index)) == (True, False, 2)
    assert index["b"] == index.get("b") == {"id": "b", "text": "four five six"}
    with pytest.raises(KeyError) as caught:
        index["c"]
    assert caught.value.args == ("c",)
    index.remove(["b"])
    assert "b" not in index


@pytest.mark.slow
@each_of("kind", OPTIONS)
@each_of("at_once", [1, 2, 3, 100])
def test_index__goes_through_its_ids(kind, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(index_module, "_AT_ONCE", at_once)
    index = kind.create(tmp_path / "index", **OPTIONS[kind])
    assert list(index) == []
    names = [f"n{number}" for number in range(9, 0, -1)]
    for some in (names[:4], names[4:]):
        index.add([{"id": name, "text": f"{name} two three"} for name in some])
    assert list(index) == names
    index.remove(names[2:5])
    assert list(index) == names[:2] + names[5:]
    assert {name: index[name]["text"] for name in index}.keys() == {*names[:2], *names[5:]}
