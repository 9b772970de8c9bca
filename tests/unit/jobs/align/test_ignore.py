"""Text that counts nowhere: passages are those of texts without it, places of the originals."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

import neardup
from tests.calls import grouped
from tests.examples import examples

PHRASES = [" ".join(f"{kind}{i}é" for i in range(9)) for kind in "abcd"]
TEMPLATE = ["Say what you think, please. And why?", "Name:"]
TEXT = st.lists(st.sampled_from([*PHRASES, *TEMPLATE, "x", "own\nwords"]), min_size=1, max_size=7)
LEAST = {"min_tokens": 6, "threshold": 0.9}


def tokens_of(text):
    """Return the words that are not of the template, with their places."""
    words = [(match.group().lower(), *match.span()) for match in re.finditer(r"\w+", text)]
    kept = [True] * len(words)
    phrases = [[word.lower() for word in re.findall(r"\w+", each)] for each in TEMPLATE]
    runs = [phrases[0][i : i + 4] for i in range(len(phrases[0]) - 3)] + phrases[1:]
    for run in runs:
        for i in range(len(words) - len(run) + 1):
            if [word for word, _, _ in words[i : i + len(run)]] == run:
                kept[i : i + len(run)] = [False] * len(run)
    return [word for word, keep in zip(words, kept, strict=True) if keep]


@examples(25)
@given(
    a=st.lists(TEXT.map(" ".join), min_size=1, max_size=4),
    b=st.none() | st.lists(TEXT.map(" ".join), min_size=1, max_size=3),
)
def test_align__ignore_as_if_not_written(a, b):
    found = neardup.align(a, b, **grouped(ignore=TEMPLATE, summary="documents", **LEAST))
    bare = [
        [" ".join(w for w, _, _ in tokens_of(text)) for text in texts] for texts in (a, b or [])
    ]
    expected = neardup.align(
        bare[0], None if b is None else bare[1], **grouped(summary="documents", **LEAST)
    )
    rows, bare_rows = found.passages.to_pylist(), expected.passages.to_pylist()
    assert len(rows) == len(bare_rows)
    for row, bare_row in zip(rows, bare_rows, strict=True):
        assert row["similarity"] == bare_row["similarity"]
        for side, texts, bare_texts in (
            ("query", a, bare[0]),
            ("doc", a if b is None else b, bare[0] if b is None else bare[1]),
        ):
            number = int(row[f"{side}_id"])
            assert number == int(bare_row[f"{side}_id"])
            words, bare_text = tokens_of(texts[number]), bare_texts[number]
            first = bare_text[: bare_row[f"{side}_start"]].count(" ")
            last = bare_text[: bare_row[f"{side}_end"]].count(" ")
            assert row[f"{side}_start"] == words[first][1]
            assert row[f"{side}_end"] == words[last][2]
    n_words = sum(len(re.findall(r"\w+", text)) - len(tokens_of(text)) for text in a)
    assert found.summary["ignored_tokens"] == n_words


def test_align__ignore_in_shares():
    """What is ignored is no part of texts: the answers were copied as a whole."""
    first = f"{TEMPLATE[0]} {PHRASES[0]} {TEMPLATE[0]} {PHRASES[1]}"
    second = f"{PHRASES[0]} - {TEMPLATE[0].upper()} {PHRASES[1]}!"
    found = neardup.align([first, second], **grouped(ignore=TEMPLATE, summary="documents", **LEAST))
    [row] = found.document_pairs.to_pylist()
    n = len(PHRASES[0].split()) + len(PHRASES[1].split())
    assert (row["passages"], row["longest"]) == (1, n)
    assert (row["query_shared"], row["doc_shared"]) == (n, n)
    assert row["query_share"] == row["doc_share"] == 1.0


def test_align__ignore_with_an_index(tmp_path):
    """An index keeps what it has, but nothing of it is like the template then."""
    index = neardup.PassageIndex.create(tmp_path / "index", min_tokens=5)
    text = f"{PHRASES[0]} {PHRASES[2]}"
    index.add([text])
    assert len(neardup.align([PHRASES[0]], index).passages) == 1
    ignoring = neardup.align([text], index, ignore=[PHRASES[0]], summary="documents")
    [row] = ignoring.passages.to_pylist()
    assert (row["query_start"], row["doc_start"]) == (len(PHRASES[0]) + 1,) * 2
    [pair] = ignoring.document_pairs.to_pylist()
    assert (pair["query_share"], pair["doc_share"]) == (1.0, 0.5)
    assert len(neardup.align([PHRASES[0]], index, ignore=[PHRASES[0]]).passages) == 0
