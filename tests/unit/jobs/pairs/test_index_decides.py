"""An index decides how documents are compared, by whatever method pairs are found."""

import pytest

import neardup
from tests.calls import grouped
from tests.each import each_of

WORDS = "the quick brown fox jumps over a lazy dog while seven wise owls watch from the old tree"
SCHEME = {"ngram": 2, "casefold": False, "strip_accents": True, "threshold": 0.5}

JOINS = [
    {"method": "exact"},
    {"method": "exact", "threshold": 0.7},
    {"one_to_one": True},
    {"top": 5},
    {"top": 2, "per_document": True, "threshold": 0.6},
    {"columns": "city"},
    {"blocking": "city"},
    {"method": "ppjoin+"},
    {"measure": "edit", "threshold": 0.7},
    {"max_distance": 12},
]


def rows(seed):
    """Some copies of one sentence, each with words left out, accents, and a city."""
    words = WORDS.replace("e", "é" if seed else "e").split()
    return [
        {
            "id": f"{seed}-{i}",
            "text": " ".join(word for j, word in enumerate(words) if (j * 7 + seed) % 19 > i),
            "city": "AB"[i % 2],
        }
        for i in range(8)
    ]


@pytest.fixture(params=[{}, {"measure": "weighted-jaccard", "idf": "smooth"}], ids=["sets", "idf"])
def made_with(request):
    """Return options of an index: of plain sets, and of weighted ones."""
    return SCHEME | request.param


@pytest.fixture
def index(tmp_path, made_with):
    """Return an index of eight documents."""
    path = tmp_path / "idx"
    with neardup.DocumentIndex.create(path, **grouped(columns="city", **made_with)) as index:
        index.add(rows(0))
    return path


def found(result):
    """Return pairs as rows, without their order."""
    return sorted(result.table.to_pylist(), key=lambda row: (row["id_a"], row["id_b"]))


@each_of("join", JOINS)
def test_index_decides__the_same_pairs_as_with_the_rows(index, made_with, join):
    if "measure" in made_with:
        pytest.skip("weights are of the documents that the index has counted")
    if join.get("measure") == "edit" or "max_distance" in join:
        options = join
    else:
        options = made_with | join
    expected = neardup.find_pairs(rows(1), rows(0), **grouped(**options))
    assert len(expected)
    pairs = found(neardup.find_pairs(rows(1), index, **grouped(**join)))
    assert pairs == found(expected)


def test_index_decides__a_join_finds_what_a_look_up_finds(index):
    looked_up = {
        (row["id_a"], row["id_b"]): row for row in found(neardup.find_pairs(rows(1), index))
    }
    joined = {
        (row["id_a"], row["id_b"]): row
        for row in found(neardup.find_pairs(rows(1), index, method="exact"))
    }
    assert looked_up
    assert {key: joined[key] for key in looked_up} == looked_up


@each_of(
    "options, message",
    [
        ({"measure": "cosine"}, "measure jaccard.*cosine"),
        ({"measure": "overlap", "threshold": 3}, "measure jaccard.*overlap"),
        ({"threshold": 0.4, "method": "exact"}, r"threshold.*0\.5"),
        ({"ngram": 3, "one_to_one": True}, "ngram 2.*3"),
        ({"casefold": True, "top": 3}, "casefold False.*True"),
        ({"tokenizer": "characters"}, "tokenizer 'words'.*'characters'"),
        ({"tokenizer": "characters", "method": "exact"}, "tokenizer 'words'.*'characters'"),
        ({"preset": "titles", "method": "exact"}, "preset.*index"),
    ],
)
def test_index_decides__another_value_is_refused(tmp_path, options, message):
    with neardup.DocumentIndex.create(tmp_path / "idx", **grouped(**SCHEME)) as index:
        index.add(rows(0))
    with pytest.raises(neardup.errors.NeardupError, match=message):
        neardup.find_pairs(rows(1), tmp_path / "idx", **grouped(**options))
