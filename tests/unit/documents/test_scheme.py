"""A scheme comes back from what is stored of it, and nothing else does."""

from __future__ import annotations

import json

import pytest

from neardup import DocumentIndex, InvalidParameterError, SketchMismatchError, TextOptions
from neardup.documents.scheme import restore_document_scheme
from neardup.options.documents import DocumentSchemeOptions
from neardup.stages.options import make_document_scheme
from tests.each import each_of
from tests.oracles.measures import MEASURES

VARIANTS = [
    *({"measure": measure} for measure in MEASURES),
    *({"measure": measure, "threshold": "0.55", "recall": "0.9"} for measure in MEASURES),
    {"measure": "weighted-jaccard"},
    {"measure": "weighted-jaccard", "tf": "log", "idf": "unary", "ngram": 2},
    {"num_perm": 40, "bands": (20, 2), "seed": 7},
    {"tokenizer": "characters", "ngram": 3, "occurrences": "numbered"},
    {"casefold": False, "unicode_form": "NFC", "strip_accents": True},
    {"columns": ["a", "b"]},
]


def make(options):
    return make_document_scheme(DocumentSchemeOptions(**options))


@each_of("options", VARIANTS)
def test_restore__gives_the_same_scheme(options):
    scheme = make(options)
    description = json.loads(json.dumps(scheme.describe()))
    restored = restore_document_scheme(description)
    assert restored == scheme
    assert restored.describe() == description


@each_of("options", VARIANTS)
def test_restore__refuses_what_it_does_not_know(options):
    description = make(options).describe()
    with pytest.raises(SketchMismatchError, match="something"):
        restore_document_scheme(description | {"something": 1})
    other = dict(description)
    other["tokenizer"] = "whitespace"
    other.pop("columns")
    with pytest.raises((SketchMismatchError, KeyError)):
        restore_document_scheme(other)


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
