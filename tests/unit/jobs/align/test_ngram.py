"""Passages that are compared by shingles of several tokens, in indexes and alignments."""

from __future__ import annotations

import re

import pytest

import neardup
from neardup import InvalidParameterError, PassageIndex
from tests.calls import grouped
from tests.each import each_of

TEXT = "Once upon a midnight dreary, while I pondered, weak and weary"
SHUFFLED = "weary and weak, pondered I while dreary midnight a upon once"


def places(found: neardup.types.PassageResult) -> list[tuple[str, int, int, float]]:
    names = ("doc_id", "doc_start", "doc_end", "similarity")
    return [tuple(row[name] for name in names) for row in found.passages.to_pylist()]


@pytest.fixture(params=[1, 2, 3])
def ngram(request) -> int:
    return request.param


@pytest.fixture
def index(tmp_path, ngram) -> PassageIndex:
    made = PassageIndex.create(
        tmp_path / "index", min_tokens=4, num_perm=16, text=neardup.TextOptions(ngram=ngram)
    )
    made.add([TEXT, SHUFFLED, "Once upon"])
    return made


def test_search__order_of_tokens_counts(index, ngram):
    """Of 8 tokens, one is left out: one of 8, two of 7 or three of 6 shingles."""
    query = "upon a midnight dreary I pondered, weak and"
    found = places(index.search(query, "0.3"))
    similarity = {1: 8 / 9, 2: 6 / 9, 3: 4 / 9}[ngram]
    assert found[0] == ("0", 5, 55, pytest.approx(similarity))
    assert [row[0] for row in found[1:]] == ["1"] * (ngram == 1)


@each_of(
    ("options", "text", "query", "expected"),
    [
        ({"tokenizer": "bytes"}, "завтра поездом.", "утра поездов", ("тра поездо", "тра поездо")),
        ({"tokenizer": "bytes"}, "b文語日本", "d斉語日本", ("語日本", "語日本")),
        ({"tokenizer": "characters", "casefold": True}, "a fuß.", "b fus", (" fu", " fus")),
        ({"tokenizer": "characters", "casefold": True}, "a fus.", "b fuß", (" fus", " fu")),
    ],
)
def test_places__of_whole_characters(ngram, options, text, query, expected):
    """A character is in a passage that has all of its tokens."""
    if options["tokenizer"] == "characters" and ngram > 1:
        return
    found = neardup.align(
        [query], [text], **grouped(ngram=ngram, min_tokens=4, threshold=1, **options)
    )
    [row] = found.passages.to_pylist()
    passage = query[row["query_start"] : row["query_end"]]
    assert (text[row["doc_start"] : row["doc_end"]], passage) == expected


def test_min_tokens__below_ngram(tmp_path):
    message = "^min_tokens.*ngram.*4 and 5"
    with pytest.raises(InvalidParameterError, match=message) as caught:
        PassageIndex.create(tmp_path / "index", min_tokens=4, text=neardup.TextOptions(ngram=5))
    assert caught.value.parameters == ("min_tokens", "ngram")
    assert list(tmp_path.iterdir()) == []
    for others in ([TEXT], None):
        with pytest.raises(InvalidParameterError, match=message):
            neardup.align([TEXT], others, min_tokens=4, text=neardup.TextOptions(ngram=5))


def test_min_tokens__beyond_all_windows(index):
    assert neardup.align([TEXT], index, min_tokens=98_304).passages.num_rows == 0
    for others in (index, [TEXT]):
        with pytest.raises(InvalidParameterError, match=r"98,304, got 1000000000$"):
            neardup.align([TEXT], others, min_tokens=10**9)


def test_align__with_an_index(index, ngram):
    """Its ngram holds, by which shuffled words are alike or not; another one is refused."""
    summary = neardup.align([TEXT], index).summary
    assert (summary["min_tokens"], summary["passages"]) == (4, 2 if ngram == 1 else 1)
    with pytest.raises(InvalidParameterError, match=r"^ngram.*index"):
        neardup.align([TEXT], index, text=neardup.TextOptions(ngram=ngram))


def test_align__function_as_tokenizer(ngram):
    old = "It was the best of times, it was the worst of times, it was the age of wisdom"
    new = "He wrote: it was the best of days, it was the worst of days, it was the age of fools"

    def words(text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+", text)]

    options = {"min_tokens": 8, "threshold": "0.4", "ngram": ngram, "casefold": True}
    named, by_function = (
        neardup.align([new], [old], **grouped(tokenizer=tokenizer, **options))
        for tokenizer in ("words", words)
    )
    assert len(named.passages) == 1
    assert by_function.passages.equals(named.passages)
    pair = neardup.align([old, new], **grouped(tokenizer=words, **options)).passages
    assert len(pair) == 1
