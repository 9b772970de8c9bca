"""Which pairs `estimate` is asked for."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pyarrow.csv
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
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


def test_estimate__containment_finds_parts(texts):
    """Of 6,000 words the 400 of a page have a resemblance of 0.07."""
    sketches = neardup.sketch(texts, kind="modulo", size=400, id_column="id")
    assert pairs_of(neardup.estimate(sketches, threshold=0.5)) == []
    found = neardup.estimate(sketches, measure="containment", threshold=0.9)
    assert pairs_of(found) == [("chapter", "book"), ("page", "book"), ("page", "chapter")]
    assert found.summary["measure"] == "containment"
    row = found.pairs.to_pylist()[0]
    assert (row["containment_a"], row["containment_a_error"]) == (1, 0)
    assert 0.9 < row["containment_a_low"] < row["containment_a_high"] == 1
    assert row["containment_b_low"] < 0.35 < row["containment_b_high"]


def test_estimate__containment_has_a_direction(texts):
    sketches = neardup.sketch(texts, kind="modulo", size=400, id_column="id")
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
    books, parts = sketches.select(["book", "other"]), sketches.select(["page", "chapter"])
    assert pairs_of(neardup.estimate(books, parts, measure="containment", threshold=0.9)) == []
    found = neardup.estimate(parts, books, measure="containment", threshold=0.9)
    assert pairs_of(found) == [("page", "book"), ("chapter", "book")]


def test_estimate__a_kind_s_own_measure_by_its_name(texts):
    for kind, measure in (
        ("minhash", "jaccard"),
        ("weighted", "weighted-jaccard"),
        ("smallest", "jaccard"),
        ("modulo", "jaccard"),
        ("edit", "edit"),
    ):
        sketches = neardup.sketch(texts, kind=kind, id_column="id")
        plain = neardup.estimate(sketches, threshold=0.2)
        named = neardup.estimate(sketches, measure=measure, threshold=0.2)
        assert named.pairs == plain.pairs
        assert named.summary["measure"] == plain.summary["measure"] == measure


def test_estimate__significant_pairs(texts):
    sketches = neardup.sketch(texts, kind="edit", id_column="id")
    every = neardup.estimate(sketches).pairs.to_pylist()
    found = neardup.estimate(sketches, min_significance=3)
    assert found.pairs.to_pylist() == [row for row in every if (row["significance"] or 0) >= 3]
    assert ("book", "chapter") in pairs_of(found)
    assert not any("other" in pair for pair in pairs_of(found))
    assert found.summary["min_significance"] == 3.0
    assert found.summary["threshold"] is None
    both = neardup.estimate(sketches, threshold=Fraction(1, 2), min_significance=3)
    assert pairs_of(both) == [
        pair
        for pair in pairs_of(found)
        if pair in pairs_of(neardup.estimate(sketches, threshold=0.5))
    ]


@each_of(
    ("kind", "options", "message"),
    [
        (
            "smallest",
            {"measure": "containment", "threshold": 0.5},
            "^measure containment needs sketches of kind modulo, got smallest; choose jaccard, or "
            "make such sketches$",
        ),
        (
            "edit",
            {"measure": "jaccard", "threshold": 0.5},
            "^measure jaccard needs sketches of kind minhash or smallest or modulo, got edit; ",
        ),
        ("modulo", {"measure": "containment"}, "^measure has no effect without threshold; "),
        (
            "modulo",
            {"min_significance": 3},
            "^min_significance needs sketches of kind edit, got modulo; leave out min_significance",
        ),
        (
            "modulo",
            {"super_shingles": 2},
            "^super_shingles need sketches of kind minhash or weight",
        ),
        (
            "minhash",
            {"super_shingles": 7},
            "^super_shingles must lie between 1 and the 6 bands, got",
        ),
        ("minhash", {"bands": 7}, "^bands has no effect without super_shingles; leave it out, or"),
        (
            "minhash",
            {"super_shingles": 1, "rows": 22},
            r"^bands \* rows must be at most the 128 min-hashes of a sketch, got 6 \* 22; make",
        ),
        ("edit", {"min_significance": 0}, "^min_significance must be above 0, got 0$"),
        ("edit", {"min_significance": "x"}, "^min_significance must be a number above 0, got 'x'$"),
    ],
)
def test_estimate__refuses(kind, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        neardup.estimate(neardup.sketch(["a"], kind=kind), **options)


def test_estimate__listed_pairs_only(texts, tmp_path):
    """In the order of the list, whatever else it has, and as often."""
    sketches = neardup.sketch(texts, kind="modulo", size=400, id_column="id")
    every = {
        (row["id_a"], row["id_b"]): row for row in neardup.estimate(sketches).pairs.to_pylist()
    }
    listed = [("chapter", "other"), ("book", "page"), ("chapter", "other")]
    table = pa.table(
        {"id_b": [b for _, b in listed], "n": [1, 2, 3], "id_a": [a for a, _ in listed]}
    )
    path = tmp_path / "pairs.csv"
    pyarrow.csv.write_csv(table, path)
    for pairs in (table, path, str(path), table.to_pylist()):
        found = neardup.estimate(sketches, pairs=pairs)
        assert found.pairs.to_pylist() == [every[pair] for pair in listed]
        assert found.summary["estimated_pairs"] == 3
    # The other way round a pair has its containments exchanged.
    [turned] = neardup.estimate(
        sketches, pairs=[{"id_a": "page", "id_b": "book"}]
    ).pairs.to_pylist()
    assert turned["containment_a"] == every["book", "page"]["containment_b"]
    assert turned["similarity"] == every["book", "page"]["similarity"]


def test_estimate__listed_pairs_and_more_that_is_asked(texts):
    sketches = neardup.sketch(texts, kind="modulo", size=400, id_column="id")
    every = neardup.estimate(sketches).pairs
    asked = {"measure": "containment", "threshold": 0.9}
    turned = [{"id_a": row["id_b"], "id_b": row["id_a"]} for row in every.to_pylist()]
    assert pairs_of(neardup.estimate(sketches, pairs=every, **asked)) == []
    found = neardup.estimate(sketches, pairs=turned, **asked)
    assert pairs_of(found) == [("chapter", "book"), ("page", "book"), ("page", "chapter")]
    with pytest.raises(neardup.ResultLimitError):
        neardup.estimate(sketches, pairs=turned, limit=2)


def test_estimate__listed_pairs_of_two_collections(texts):
    sketches = neardup.sketch(texts, id_column="id")
    own, others = sketches[:2], sketches[2:]
    listed = [{"id_a": "chapter", "id_b": "page"}]
    assert pairs_of(neardup.estimate(own, others, pairs=listed)) == [("chapter", "page")]
    message = r"^the table of pairs: there is no sketch of id_a 'page' and 1 more; id_a is of the"
    wrong = [{"id_a": name, "id_b": "page"} for name in ("page", "chapter", "other")]
    with pytest.raises(InvalidInputError, match=message):
        neardup.estimate(own, others, pairs=wrong)


def test_estimate__listed_pairs_by_numbers():
    """Ids of CSV are strings, those of sketches may be numbers."""
    rows = [{"id": number, "text": f"one two {number}"} for number in range(3)]
    sketches = neardup.sketch(rows, id_column="id", ngram=1)
    for pairs in ([{"id_a": "0", "id_b": "2"}], [{"id_a": 0, "id_b": 2}]):
        assert pairs_of(neardup.estimate(sketches, pairs=pairs)) == [(0, 2)]
    assert pairs_of(neardup.estimate(sketches, pairs=pa.table({"id_a": [], "id_b": []}))) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"a": "x", "b": "y"}],
            r"^the table of pairs has no column 'id_a', or several; pairs are",
        ),
        ([{"id_a": 0.5, "id_b": 1.5}], r"^the table of pairs: column 'id_a' holds double values"),
    ],
)
def test_estimate__refuses_other_tables(rows, message):
    with pytest.raises(InvalidInputError, match=message):
        neardup.estimate(neardup.sketch(["a"]), pairs=rows)


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
        sketches = neardup.sketch(texts, kind=kind, num_perm=96, id_column="id")
        found = neardup.estimate(sketches, super_shingles=2)
        assert pairs_of(found) == [("book", "v1"), ("book", "v5"), ("v1", "v5")]
        assert {"super_shingles": 2, "bands": 6, "rows": 14}.items() <= found.summary.items()
        assert found.pairs.column_names[-1] == "super_shingles"
        assert set(found.pairs["super_shingles"].to_pylist()) <= {2, 3, 4, 5, 6}
        every = neardup.estimate(sketches)
        plain = dict(zip(pairs_of(every), every.pairs.to_pylist(), strict=True))
        for row in found.pairs.to_pylist():
            del row["super_shingles"]
            assert row == plain[row["id_a"], row["id_b"]]
        both = neardup.estimate(sketches, super_shingles=1, bands=8, rows=12, threshold=1)
        assert pairs_of(both) == [pair for pair, row in plain.items() if row["similarity"] == 1]
        listed = neardup.estimate(sketches, super_shingles=2, pairs=every.pairs)
        assert listed.pairs == found.pairs
        crossed = neardup.estimate(sketches[:1], sketches[1:], super_shingles=2)
        assert pairs_of(crossed) == [("book", "v1"), ("book", "v5")]
