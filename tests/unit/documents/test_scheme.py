"""The options with which an index is opened, or used again."""

from __future__ import annotations

import pytest

import neardup
from neardup import DocumentIndex, InvalidParameterError, SketchMismatchError, TextOptions
from tests.each import each_of


def test_open__with_a_function(tmp_path):
    def halves(text):
        return text.split("/")

    index = DocumentIndex.create(tmp_path / "index", text=TextOptions(tokenizer=halves, ngram=1))
    index.insert("a", "one two/three")
    index.commit()
    opened = DocumentIndex.open(index.folder, tokenizer=halves)
    assert opened.query("three/one two") == [("a", 1.0)]
    with pytest.raises((InvalidParameterError, SketchMismatchError)):
        DocumentIndex.open(index.folder)
    with pytest.raises(SketchMismatchError):
        DocumentIndex.open(index.folder, tokenizer="words")


@each_of(
    ("made_with", "other"),
    [
        ({"bands": (4, 5)}, {"bands": (5, 4)}),
        ({"bands": "4x5", "num_perm": 30}, {"bands": (4, 5), "num_perm": 19}),
        # The bands use 96 of them.
        ({"num_perm": 128}, {"num_perm": 64}),
        ({"num_perm": 200, "recall": "0.95"}, {"num_perm": 100, "recall": "0.95"}),
    ],
)
def test_deduplicate__again_with_the_options_of_the_index(tmp_path, made_with, other):
    folder = tmp_path / str(made_with)
    for week in ("one", "two"):
        rows = [{"id": week, "text": f"week {week}"}]
        neardup.deduplicate(rows, against=folder, add=True, **made_with)
    assert list(DocumentIndex.open(folder)) == ["one", "two"]
    name = next(iter(other)) if len(other) == 1 else "num_perm"
    with pytest.raises(InvalidParameterError, match=f"made with {name} .*, got"):
        neardup.deduplicate(["a text"], against=folder, **other)
