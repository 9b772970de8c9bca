"""Comparisons of two texts: values against definitions, estimates against exact values."""

from __future__ import annotations

import json
import random
import re
from collections import Counter

import numpy as np
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.jobs.compare import passages as compare_passages
from neardup.jobs.compare.passages import TokenPlaces, find_differences
from tests.oracles import comparison, edits
from tests.oracles.tokens import Options, tokenize

OLD = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age "
    "of foolishness, it was the epoch of belief, it was the epoch of incredulity"
)
NEW = OLD.replace("times", "days").replace("wisdom", "wit and wisdom").upper() + "! Or was it?"


def words_of(text: str) -> list[bytes]:
    return tokenize(text, "words", Options())


def check_measures(a: str, b: str, *, ngram: int = 5, weighted_ngram: int = 1) -> None:
    given = {} if (ngram, weighted_ngram) == (5, 1) else {"ngram": ngram}
    result = neardup.compare(a, b, **given)
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


@pytest.mark.parametrize(
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


def test_compare__equal_texts():
    result = neardup.compare(OLD, OLD)
    for measured in result.measures:
        n = len({*zip(*(words_of(OLD)[i:] for i in range(5)), strict=False)})
        expected = {"overlap": None, "edit-distance": 0}.get(measured.name, 1)
        if expected is not None:
            assert measured.exact == expected
    assert result["overlap"].exact == n
    [passage] = result.passages
    assert (passage.a, passage.b, passage.similarity) == ((0, len(OLD)), (0, len(OLD)), 1)
    assert (passage.changes_a, passage.changes_b) == ((), ())
    assert (result.differences.a, result.differences.b) == ((), ())
    assert (result.differences.share_a, result.differences.share_b) == (1, 1)


@pytest.mark.parametrize("tf", ["binary", "raw", "log", "squared", "saturating"])
@pytest.mark.parametrize("idf", ["unary", "standard", "smooth", "probabilistic"])
def test_compare__weights(tf, idf):
    result = neardup.compare(OLD, NEW, tf=tf, idf=idf)
    value, totals = comparison.of_weights(words_of(OLD), words_of(NEW), 1, tf, idf)
    assert comparison.is_close(result["weighted-jaccard"].exact, value)
    assert [round(size.weight * 2**20) for size in result.sizes] == totals
    assert (result.options["tf"], result.options["idf"]) == (tf, idf)
    [estimated] = result["weighted-jaccard"].estimates
    if all(totals):
        assert estimated.low <= value <= estimated.high


def random_pair(seed: int, n_words: int = 3000, n_edits: int = 150) -> tuple[str, str]:
    """Make a text, and one in which some words were replaced."""
    rng = random.Random(seed)
    words = [f"{rng.randrange(10**6):x}" for _ in range(n_words)]
    other = list(words)
    for place in rng.sample(range(n_words), n_edits):
        other[place] = f"{rng.randrange(10**6):x}"
    return " ".join(words), " ".join(other)


def test_compare__intervals_hold_exact_values():
    """Of 95 % intervals over independent texts and seeds at least 85 % hold the exact value."""
    n_trials = 60
    held: dict[tuple[str, str, str], int] = {}
    for trial in range(n_trials):
        a, b = random_pair(trial, n_words=800, n_edits=40)
        result = neardup.compare(a, b, seed=trial, compression=20, num_perm=64)
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
    result = neardup.compare(a, b, num_perm=64, size=80, compression=50, seed=7, fold_digits=True)
    common = {"seed": 7, "fold_digits": True}
    own = {
        "minhash": {"num_perm": 64},
        "weighted": {"num_perm": 64},
        "smallest": {"size": 80},
        "modulo": {"size": 80},
        "edit": {"compression": 50},
    }
    for kind, options in own.items():
        sketches = neardup.sketch([a, b], kind=kind, **common, **options)
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
            assert result.differences.significance == row["significance"]
            assert result.differences.spread == row["spread"]
        else:
            expected = [row[key] for key in ("error", "low", "high", "samples")]
            assert [found.error, found.low, found.high, found.samples] == expected
        if kind == "modulo":
            for side, told in (("a", "a-in-b"), ("b", "b-in-a")):
                [found] = result[f"containment-{told}"].estimates
                assert found.value == row[f"containment_{side}"]
                assert found.error == row[f"containment_{side}_error"]


def test_compare__not_enough_samples():
    result = neardup.compare(OLD, NEW)
    [estimated] = result["edit-distance"].estimates
    assert (estimated.value, estimated.error) == (None, None)
    assert estimated.low == len(NEW) - len(OLD)
    assert estimated.high == len(NEW)
    [estimated] = result["edit-similarity"].estimates
    assert (estimated.value, estimated.low) == (None, 0)
    assert (result.differences.spread, result.differences.significance) == (None, None)
    assert "not enough samples" in str(result)


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
    assert "too long" in str(result)
    assert neardup.compare(a, a, edit_limit=0)["edit-distance"].exact == 0
    assert neardup.compare("", b, edit_limit=0)["edit-distance"].exact == 20


@pytest.mark.parametrize(
    ("options", "distance"),
    [({}, 2), ({"casefold": True}, 1), ({"strip_accents": True, "casefold": True}, 0)],
)
def test_compare__edit_distance_with_normalisation(options, distance):
    assert neardup.compare("École", "ecole", **options)["edit-distance"].exact == distance - (
        options == {}
    )


def test_compare__passages_have_places_in_both_texts():
    filler = ["nothing of the kind stands here at all 🙂 "] * 2
    a = filler[0] + OLD + " -- and so on"
    b = "Ø: " + NEW
    result = neardup.compare(a, b)
    [passage] = result.passages
    assert a[slice(*passage.a)].startswith("It was the best of times")
    assert b[slice(*passage.b)].startswith("IT WAS THE BEST OF DAYS")
    x, y = (Counter(words_of(text)) for text in (a[slice(*passage.a)], b[slice(*passage.b)]))
    assert passage.similarity == (x & y).total() / (x | y).total()
    changes = [a[slice(*place)] for place in passage.changes_a]
    assert changes[:2] == ["times", "times"]
    assert "WIT AND" in [b[slice(*place)] for place in passage.changes_b]
    for text, ranges, own, share in (
        (a, result.differences.a, passage.a, result.differences.share_a),
        (b, result.differences.b, passage.b, result.differences.share_b),
    ):
        places = [match.span() for match in re.finditer(r"\w+", text)]
        assert list(ranges) == comparison.uncovered(places, [own])
        inside = sum(own[0] <= start and stop <= own[1] for start, stop in places)
        assert share == inside / len(places)


def test_compare__several_passages_and_options_of_theirs():
    rng = random.Random(2)
    blocks = [" ".join(f"w{rng.randrange(10**6)}" for _ in range(30)) for _ in range(4)]
    a, b = f"{blocks[0]} {blocks[1]}. {blocks[2]}", f"{blocks[2]}; {blocks[3]} {blocks[0]}"
    result = neardup.compare(a, b)
    assert [a[slice(*p.a)] for p in result.passages] == [blocks[0], blocks[2]]
    assert [b[slice(*p.b)] for p in result.passages] == [blocks[0], blocks[2]]
    assert [a[slice(*place)] for place in result.differences.a] == [blocks[1]]
    assert [b[slice(*place)] for place in result.differences.b] == [blocks[3]]
    # In one, blocks in another order would be half of it.
    assert neardup.compare(a, b, min_tokens=31, threshold="0.6").passages == ()
    assert result.differences.share_a == 60 / 90


def test_compare__passages_of_short_texts():
    [passage] = neardup.compare("a few words", "but a few words more").passages
    assert (passage.a, passage.b) == ((0, 11), (4, 15))
    assert neardup.compare("a few words", "but a few words more", min_tokens=20).passages == ()
    a, b = (f"{x} one two three four five {y}" for x, y in ("ab", "cd"))
    [passage] = neardup.compare(a, b).passages
    assert a[slice(*passage.a)] == "one two three four five"


def test_compare__texts_of_the_same_tokens_share_one_passage():
    text = "one two three four five six seven eight nine ten. " * 4
    a, b = f"... {text}", text.upper().replace(".", ",")
    [passage] = neardup.compare(a, b).passages
    assert (passage.a, passage.b) == ((4, 4 + len(text) - 2), (0, len(text) - 2))
    assert (passage.similarity, passage.changes_a, passage.changes_b) == (1, (), ())
    assert len(neardup.compare(a, b, min_tokens=40).passages) == 1
    assert neardup.compare(a, b, min_tokens=41).passages == ()


def test_compare__options_of_passages(monkeypatch):
    told, others = [], []
    align = compare_passages.align

    def spy(*arguments, **options):
        told.append(options["min_tokens"])
        others.append(options)
        return align(*arguments, **options)

    monkeypatch.setattr(compare_passages, "align", spy)
    for n, m in ((0, 50), (1, 50), (9, 50), (50, 39), (50, 40), (60, 70)):
        neardup.compare(*(" ".join(f"w{i}" for i in range(k)) for k in (n, m)))
    neardup.compare("a b c", "a b d", min_tokens=7)
    assert told == [1, 1, 4, 19, 20, 20, 7]
    chosen = {"seed": 3, "threshold": "0.7", "tokenizer": "whitespace", "fold_digits": True}
    chosen |= {"casefold": True, "unicode_form": "NFC", "strip_accents": True, "workers": 1}
    neardup.compare("a b c", "a b d", **chosen)
    assert chosen.items() <= others[-1].items()


def test_compare__passages_too_long_for_changes(monkeypatch):
    a, b = (f"{OLD} {x} and {y} {OLD}" for x, y in (("one", "two"), ("three", "four")))
    monkeypatch.setattr(compare_passages, "_MOST_CELLS", 9)
    [passage] = neardup.compare(a, b).passages
    assert [a[slice(*place)] for place in passage.changes_a] == ["one", "two"]
    assert [b[slice(*place)] for place in passage.changes_b] == ["three", "four"]
    monkeypatch.setattr(compare_passages, "_MOST_CELLS", 8)
    result = neardup.compare(a, b)
    assert (result.passages[0].changes_a, result.passages[0].changes_b) == (None, None)
    assert "changed in" not in str(result)
    assert result.html()
    assert neardup.compare(OLD, OLD).passages[0].changes_a == ()


def test_compare__bytes_of_one_character():
    """Bytes of a character that differ on their own are one change."""
    assert ("\u6f22".encode(), "\u7f23".encode()) == (b"\xe6\xbc\xa2", b"\xe7\xbc\xa3")
    a, b = (f"abcdefghij{c}abcdefghij" for c in ("\u6f22", "\u7f23"))
    [passage] = neardup.compare(a, b, tokenizer="bytes").passages
    assert (passage.changes_a, passage.changes_b) == (((10, 11),), ((10, 11),))


def test_find_differences__overlapping_passages():
    starts = np.arange(0, 50, 5)
    tokens = TokenPlaces(np.zeros(10, np.uint64), starts, starts + 4)
    shared = [(5, 19), (10, 14), (15, 29), (40, 44)]
    assert find_differences(tokens, shared) == (((0, 4), (30, 39), (45, 49)), 0.6)
    assert find_differences(tokens, []) == (((0, 49),), 0.0)
    assert find_differences(tokens, [(0, 49)]) == ((), 1.0)


def test_compare__as_plain_values():
    result = neardup.compare(OLD, NEW)
    plain = result.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["names"] == ["a", "b"]
    assert plain["sizes"]["b"]["characters"] == len(NEW)
    assert len(plain["measures"]) == len(result.measures) == 17
    assert plain["passages"][0]["a"] == list(result.passages[0].a)


def test_compare__text_for_a_terminal_obeys_nothing():
    hostile = f"\x1b[31m{OLD}\x1b]0;title\x07 \u202e abc \r rest"
    text = str(neardup.compare(hostile, hostile + " more \x1b[2J words \x9b31m that only one has"))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "[2J words 31m" in text


def test_compare__table():
    text = str(neardup.compare(OLD, NEW))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    result = neardup.compare(OLD, NEW)
    exact = result["jaccard"].exact
    assert ["jaccard", "shingles of 5", f"{exact:.4f}", "minhash"] in [row[:4] for row in rows]
    overlap = f"{result['overlap', 'numbered'].exact:.0f}"
    assert ["overlap", "shingles of 5, copies count", overlap] in rows
    assert ["weight", "36.00", "41.00"] in rows
    assert text.splitlines()[0].split() == ["a", "b"]


def test_compare__numbers_are_not_rounded_to_0_or_1():
    words = [f"w{i}" for i in range(30_000)]
    result = neardup.compare(" ".join(words), " ".join(words[1:]), ngram=1)
    assert "0.9999" in str(result)
    assert result["jaccard"].exact == 29_999 / 30_000


def test_compare_result__measures_by_name():
    result = neardup.compare(OLD, NEW)
    assert result["jaccard"] is result["jaccard", "set"]
    assert result["jaccard", "numbered"].elements == "numbered"
    for key in ("jacard", ("jaccard", "weighted")):
        with pytest.raises(KeyError):
            result[key]
    assert OLD not in repr(result)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 80}, "threshold must lie in (0, 1], got 80; write 0.8 for 80 %"),
        ({"min_tokens": 0}, "min_tokens must be at least 1, got 0"),
        ({"edit_limit": -1}, "edit_limit must be at least 0, got -1"),
        ({"edit_limit": 1.5}, "edit_limit must be a whole number, got 1.5"),
        ({"ngram": 0}, "ngram must lie between 1 and 65536, got 0"),
        ({"tokenizer": "letters"}, "tokenizer must be one of"),
        ({"tf": "much"}, "tf must be one of"),
        ({"num_perm": 0}, "num_perm must lie between"),
        ({"size": 0}, "size must lie between"),
        ({"compression": 0}, "compression must lie between"),
        ({"workers": 0}, "workers must"),
    ],
)
def test_compare__bad_option(options, message):
    with pytest.raises(InvalidParameterError, match=re.escape(message)):
        neardup.compare(OLD, NEW, **options)


def test_compare__bad_texts():
    with pytest.raises(InvalidInputError, match=r"^b: expected a text, got bytes$"):
        neardup.compare("a", b"b")
    with pytest.raises(InvalidInputError, match=r"^a: .* half of a surrogate pair at character 2;"):
        neardup.compare("a\ud800", "b")


def test_compare__functions_cannot_tell_places():
    with pytest.raises(InvalidParameterError):
        neardup.compare("a", "b", tokenizer=str.split)
