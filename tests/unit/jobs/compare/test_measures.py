"""Values against definitions, estimates against sketches and against the values."""

from __future__ import annotations

import pytest

import neardup
from tests.calls import grouped
from tests.each import each_of
from tests.oracles import comparison, edits
from tests.unit.jobs.compare.two_texts import NEW, OLD, random_pair, words_of


def check_measures(a: str, b: str, *, ngram: int = 5, weighted_ngram: int = 1) -> None:
    given = {} if (ngram, weighted_ngram) == (5, 1) else {"ngram": ngram}
    result = neardup.compare(a, b, **grouped(**given))
    x, y = words_of(a), words_of(b)
    expected = comparison.of_shingles(x, y, ngram)
    found = {
        (measured.name, measured.elements): measured.exact
        for measured in result.measures
        if measured.elements in ("set", "numbered")
    }
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert comparison.is_close(found[key], value), key
    value, totals = comparison.of_weights(x, y, weighted_ngram, "raw", "unary")
    assert comparison.is_close(result["weighted-jaccard"].exact, value)
    assert [round(size.weight * 2**20) for size in result.sizes] == totals
    distance = edits.distance(a, b)
    longer = max(len(a), len(b))
    assert result["edit-distance"].exact == distance
    assert result["edit-similarity"].exact == ((longer - distance) / longer if longer else 0)
    assert [size.characters for size in result.sizes] == [len(a), len(b)]
    assert [size.tokens for size in result.sizes] == [len(x), len(y)]


@pytest.mark.slow
@each_of(
    ("a", "b"),
    [
        (OLD, NEW),
        (NEW, OLD),
        (OLD, OLD),
        ("a b a b a b a b", "b a b a b a"),
        ("one two", "one two"),
        ("one two", "one two three four five six"),
        ("", ""),
        ("...", "..."),
        ("", OLD),
        ("...", OLD),
        ("\0\r\n\t🙂 漢字", "🙂 漢字\x1b[31m"),
    ],
)
def test_compare__exact_values(a, b):
    check_measures(a, b)
    check_measures(a, b, ngram=2, weighted_ngram=2)


def test_compare__empty_texts_are_similar_to_nothing():
    for a, b in (("", ""), ("?", "?"), ("", OLD), (OLD, "!")):
        result = neardup.compare(a, b)
        for measured in result.measures:
            if measured.elements != "characters":
                assert measured.exact == 0
                assert {(e.value, e.low, e.high) for e in measured.estimates} <= {(0, 0, 0)}
        assert result.passages == ()
        assert (result.differences.share_a, result.differences.share_b) == (0, 0)
        empty = [places for text, places in zip((a, b), ("a", "b"), strict=True) if text != OLD]
        assert all(getattr(result.differences, side) == () for side in empty)
        assert result["edit-distance"].exact == (max(len(a), len(b)) if a != b else 0)
    assert neardup.compare("", OLD).differences.b == ((0, len(OLD)),)
    assert neardup.compare("?", "?")["edit-similarity"].exact == 1
    assert neardup.compare("", "")["edit-similarity"].exact == 0


@pytest.mark.statistics
def test_compare__intervals_hold_exact_values():
    """Of 95 % intervals over independent texts and seeds at least 85 % hold the exact value."""
    n_trials = 60
    held: dict[tuple[str, str, str], int] = {}
    for trial in range(n_trials):
        a, b = random_pair(trial, n_words=800, n_edits=40)
        result = neardup.compare(
            a, b, compression=20, num_perm=64, text=neardup.TextOptions(seed=trial)
        )
        for measured in result.measures:
            for estimated in measured.estimates:
                key = (measured.name, measured.elements, estimated.kind)
                is_held = estimated.low <= measured.exact <= estimated.high
                held[key] = held.get(key, 0) + is_held
                assert estimated.low <= estimated.value <= estimated.high
    assert {key[::2] for key in held} == {
        ("jaccard", "minhash"),
        ("jaccard", "smallest"),
        ("jaccard", "modulo"),
        ("containment-a-in-b", "modulo"),
        ("containment-b-in-a", "modulo"),
        ("weighted-jaccard", "weighted"),
        ("edit-distance", "edit"),
        ("edit-similarity", "edit"),
    }
    # Fewer than 51 of 60 are held once in 1,000 times at 95 %.
    assert all(n >= 51 for n in held.values()), held


def test_compare__estimates_are_those_of_sketches():
    """What ``sketch`` and ``estimate`` tell of the same texts with the same options."""
    a, b = random_pair(1)
    result = neardup.compare(
        a,
        b,
        num_perm=64,
        size=80,
        compression=50,
        text=neardup.TextOptions(seed=7, strip_accents=True),
    )
    common = {"seed": 7, "strip_accents": True}
    own = {
        "minhash": {"num_perm": 64},
        "weighted": {"num_perm": 64},
        "smallest": {"size": 80},
        "modulo": {"size": 80},
        "edit": {"compression": 50},
    }
    for kind, options in own.items():
        sketches = neardup.sketch([a, b], **grouped(kind=kind, **common, **options))
        [row] = neardup.estimate(sketches).pairs.to_pylist()
        name = {"weighted": "weighted-jaccard", "edit": "edit-similarity"}.get(kind, "jaccard")
        [found] = [e for e in result[name].estimates if e.kind == kind]
        assert found.value == row["similarity"]
        if kind == "edit":
            [found] = result["edit-distance"].estimates
            assert (found.value, found.low, found.high, found.error) == (
                *(row[key] for key in ("distance", "low", "high")),
                None,
            )
        else:
            expected = [row[key] for key in ("error", "low", "high", "samples")]
            assert [found.error, found.low, found.high, found.samples] == expected
        if kind == "modulo":
            for side, told in (("a", "a-in-b"), ("b", "b-in-a")):
                [found] = result[f"containment-{told}"].estimates
                assert found.value == row[f"containment_{side}"]
                assert found.error == row[f"containment_{side}_error"]


def test_compare__sketches_that_are_too_small():
    a, b = random_pair(1, n_words=300)
    result = neardup.compare(a, b, size=19)
    minhash, smallest, modulo = result["jaccard"].estimates
    assert (smallest.value, smallest.error, smallest.samples) == (None, None, 19)
    assert 0 <= smallest.low < smallest.high <= 1
    assert minhash.value is not None
    assert modulo.samples >= 19
    smallest = neardup.compare(a, b, size=20)["jaccard"].estimates[1]
    assert (smallest.value is None, smallest.samples) == (False, 20)


def test_compare__edit_limit():
    a, b = "x" * 30, "y" * 20
    assert neardup.compare(a, b, edit_limit=25)["edit-distance"].exact == 30
    assert neardup.compare(a, b, edit_limit=24)["edit-distance"].exact is None
    result = neardup.compare(a, b, edit_limit=0)
    assert result["edit-distance"].exact is result["edit-similarity"].exact is None
    assert "too long" in result.to_text(full=True)
    assert neardup.compare(a, a, edit_limit=0)["edit-distance"].exact == 0
    assert neardup.compare("", b, edit_limit=0)["edit-distance"].exact == 20
