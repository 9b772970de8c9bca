"""Which pairs `estimate` is asked for."""

from __future__ import annotations

import random

import pytest

import neardup
from neardup.errors import InvalidParameterError
from tests.calls import grouped
from tests.each import each_of


@pytest.fixture(scope="module")
def texts():
    """A book, a chapter of it, a page of that chapter, and another book."""
    generator = random.Random(5)
    words = [f"w{generator.randrange(10**6)}" for _ in range(6000)]
    other = [f"w{generator.randrange(10**6)}" for _ in range(3000)]
    parts = {"book": words, "chapter": words[900:3000], "page": words[1500:1900], "other": other}
    return [{"id": name, "text": " ".join(part)} for name, part in parts.items()]


def pairs_of(result):
    return [(row["id_a"], row["id_b"]) for row in result.pairs.to_pylist()]


def test_estimate__containment_has_a_direction(texts):
    sketches = neardup.sketch(
        texts, kind="modulo", size=400, read=neardup.ReadOptions(id_column="id")
    )
    loose = neardup.estimate(sketches, measure="containment", threshold="0.25")
    assert pairs_of(loose) == [
        ("book", "chapter"),
        ("chapter", "book"),
        ("page", "book"),
        (
            "page",
            "chapter",
        ),
    ]
    either = neardup.estimate(sketches, measure="max-containment", threshold=0.9)
    assert pairs_of(either) == [("book", "chapter"), ("book", "page"), ("chapter", "page")]
    books, parts = (
        neardup.sketch(
            [row for row in texts if row["id"] in names],
            kind="modulo",
            size=400,
            read=neardup.ReadOptions(id_column="id"),
        )
        for names in (("book", "other"), ("page", "chapter"))
    )
    assert pairs_of(neardup.estimate(books, parts, measure="containment", threshold=0.9)) == []
    found = neardup.estimate(parts, books, measure="containment", threshold=0.9)
    assert pairs_of(found) == [("chapter", "book"), ("page", "book")]


@each_of(
    ("kind", "options", "message"),
    [
        ("smallest", {"measure": "containment", "threshold": 0.5}, "containment.*kind modulo"),
        ("edit", {"measure": "jaccard", "threshold": 0.5}, "kind minhash.*smallest.*modulo"),
        ("modulo", {"measure": "containment"}, "^measure.*threshold"),
        ("modulo", {"super_shingles": 2}, "^super_shingles.*kind minhash"),
        ("minhash", {"super_shingles": 7}, "^super_shingles.*1 and 6.*7"),
    ],
)
def test_estimate__refuses(kind, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        neardup.estimate(neardup.sketch(["a"], kind=kind), **grouped(**options))


def test_estimate__super_shingles(texts):
    """Of texts that are nearly equal, and the estimates as without."""
    words = texts[0]["text"].split()
    texts = [
        *texts,
        *({"id": f"v{n}", "text": " ".join(words[n:])} for n in (1, 5)),
        {
            "id": "empty",
            "text": "",
        },
    ]
    for kind in ("minhash", "weighted"):
        sketches = neardup.sketch(
            texts, kind=kind, num_perm=96, read=neardup.ReadOptions(id_column="id")
        )
        found = neardup.estimate(sketches, super_shingles=2)
        assert pairs_of(found) == [("book", "v1"), ("book", "v5"), ("v1", "v5")]
        assert found.summary["super_shingles"] == 2
        assert found.pairs.column_names[-1] == "super_shingles"
        assert set(found.pairs["super_shingles"].to_pylist()) <= {2, 3, 4, 5, 6}
        every = neardup.estimate(sketches)
        plain = dict(zip(pairs_of(every), every.pairs.to_pylist(), strict=True))
        for row in found.pairs.to_pylist():
            del row["super_shingles"]
            assert row == plain[row["id_a"], row["id_b"]]
        both = neardup.estimate(sketches, super_shingles=1, threshold=1)
        assert pairs_of(both) == [pair for pair, row in plain.items() if row["similarity"] == 1]
        one, others = (
            neardup.sketch(part, kind=kind, num_perm=96, read=neardup.ReadOptions(id_column="id"))
            for part in (texts[:1], texts[1:])
        )
        crossed = neardup.estimate(one, others, super_shingles=2)
        assert pairs_of(crossed) == [("book", "v1"), ("book", "v5")]
