"""Stages of deduplication: who is compared, who is drawn, and what is never written over."""

from __future__ import annotations

import json

import pytest

import neardup

OLD = ["a b c d e f g h i j", "A b c d e f g h i j k", "a b c d e f g h i j k l"]
OTHER = ["one two three four five six seven", "nobody has any of these words"]


def test_write__not_over_the_other_collection(tmp_path):
    """An earlier output may be replaced, but not if a document of it is among the inputs."""
    source = tmp_path / "old.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in OLD))
    neardup.deduplicate(str(source)).write(tmp_path / "out")
    other = tmp_path / "out/kept/old.jsonl"
    before = other.read_bytes()
    result = neardup.deduplicate(OTHER, against=str(other))
    with pytest.raises(neardup.OutputExistsError):
        result.write(tmp_path / "out", overwrite=True)
    assert other.read_bytes() == before
