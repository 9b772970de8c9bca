"""Comparisons: mirrored when the texts are exchanged, right by definition for any texts."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

import neardup
from neardup.jobs.compare import CompareResult
from neardup.reports.comparison_page import SharedPassage
from tests.calls import grouped
from tests.examples import examples
from tests.oracles import comparison, edits
from tests.oracles.tokens import Options, tokenize
from tests.strategies import any_text, assigned_only, kinds, small_texts

words = st.lists(st.sampled_from("abcdefgh"), max_size=60).map(" ".join)
blocks = [" ".join(f"{side}{i}" for i in range(12)) for side in "xyz"]
composed = st.lists(st.sampled_from([*blocks, "a", "b", "c d", "🙂."]), max_size=8).map(" ".join)


def mirror(result: CompareResult) -> CompareResult:
    """Exchange the sides of a result."""
    names = {"containment-a-in-b": "containment-b-in-a", "containment-b-in-a": "containment-a-in-b"}
    measures = {names.get(name, name): value for name, value in result.measures.items()}
    passages = [
        SharedPassage(p.b, p.a, p.similarity, p.changes_b, p.changes_a) for p in result.passages
    ]
    d = result.differences
    return replace(
        result,
        texts=result.texts[::-1],
        sizes=result.sizes[::-1],
        measures=measures,
        passages=tuple(sorted(passages, key=lambda p: (p.a, p.b))),
        differences=replace(d, a=d.b, b=d.a, share_a=d.share_b, share_b=d.share_a),
    )


@examples(25)
@example(f"a b {blocks[0]}", blocks[0], 1)
@given(st.one_of(words, composed), st.one_of(words, composed), st.integers(1, 3))
def test_compare__mirrored(a, b, ngram):
    options = {"ngram": ngram, "min_tokens": 5}
    result = neardup.compare(a, b, **grouped(**options))
    assert mirror(neardup.compare(b, a, **grouped(**options))) == result


@examples(25)
@given(any_text.map(assigned_only), any_text.map(assigned_only), kinds, st.integers(1, 3))
def test_compare__exact_values_of_any_text(a, b, kind, ngram):
    result = neardup.compare(a, b, text=neardup.TextOptions(tokenizer=kind, ngram=ngram))
    x, y = (tokenize(text, kind, Options(kind == "words")) for text in (a, b))
    for name, value in comparison.of_shingles(x, y, ngram).items():
        assert comparison.is_close(result[name], value)
    distance, longer = edits.distance(a, b), max(len(a), len(b))
    assert result["edit-distance"] == distance
    assert result["edit-similarity"] == ((longer - distance) / longer if longer else 0)
    sizes = [(each.characters, each.tokens) for each in result.sizes]
    assert sizes == [(len(a), len(x)), (len(b), len(y))]
    assert result.report().html
    assert str(result)


def outside(text: str, places: list[tuple[int, int]]) -> str:
    """Put a space for each of some ranges of a text."""
    for start, stop in reversed(places):
        text = text[:start] + " " + text[stop:]
    return text


@examples(30)
@given(st.one_of(words, composed), st.one_of(words, composed))
def test_compare__changes_leave_a_longest_common_subsequence(a, b):
    result = neardup.compare(a, b, min_tokens=3, threshold="0.3")
    for passage in result.passages:
        left = []
        for text, place, changes in (
            (a, passage.a, passage.changes_a),
            (b, passage.b, passage.changes_b),
        ):
            inner = [(start - place[0], stop - place[0]) for start, stop in changes]
            left.append(tokenize(outside(text[slice(*place)], inner), "words", Options()))
        x, y = (
            tokenize(text[slice(*place)], "words", Options())
            for text, place in ((a, passage.a), (b, passage.b))
        )
        assert left[0] == left[1]
        assert len(left[0]) == comparison.common_subsequence(x, y)


@examples(25)
@given(small_texts, small_texts)
def test_compare__every_token_is_in_a_passage_or_a_difference(a, b):
    result = neardup.compare(a, b)
    for text, ranges, shared, share in (
        (a, result.differences.a, [p.a for p in result.passages], result.differences.share_a),
        (b, result.differences.b, [p.b for p in result.passages], result.differences.share_b),
    ):
        places = [(i, i + 1) for i, c in enumerate(text) if c != " "]
        assert list(ranges) == comparison.uncovered(places, shared)
        n_outside = sum(any(s <= i < e for s, e in ranges) for i, _ in places)
        assert share == ((len(places) - n_outside) / len(places) if places else 0)
