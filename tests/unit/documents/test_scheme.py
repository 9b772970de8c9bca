"""An index of a tokenizer that is a function is opened with this function alone."""

from __future__ import annotations

import pytest

from neardup import DocumentIndex, InvalidParameterError, SketchMismatchError, TextOptions


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
