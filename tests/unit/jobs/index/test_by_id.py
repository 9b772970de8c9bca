"""Documents of an index of either kind by their ids, as those of a mapping."""

from __future__ import annotations

import pytest

import neardup
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
