from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.kernels.text.tokens import find_sentences, find_units
from tests.arrays import make_texts
from tests.examples import examples
from tests.oracles import units as oracle

SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
PIECE = st.sampled_from(["a", "é語", "b c", "\n", "\n\n", "\r\n", "\r", " ", "\u200b", "😀"])
TEXT = st.lists(PIECE | st.sampled_from(SPACES), max_size=10).map("".join)


def units_of(texts: list[str], *, of_paragraphs: bool) -> list[tuple[int, bytes, bytes]]:
    """Find units with exactly the room that the kernel's description asks for."""
    arrays = make_texts(texts, lead="a", trail="\n")
    n_most = sum(text.count("\n") + text.count("\r") + 1 for text in texts)
    documents, starts, stops, ends = (np.full(n_most, -7, np.int64) for _ in range(4))
    count = find_units(
        arrays.data, arrays.offsets, int(of_paragraphs), documents, starts, stops, ends
    )
    rows = zip(*(array[:count].tolist() for array in (documents, starts, stops, ends)), strict=True)
    data = [text.encode() for text in texts]
    return [(doc, data[doc][start:stop], data[doc][start:end]) for doc, start, stop, end in rows]


@examples(200)
@given(texts=st.lists(TEXT, min_size=1, max_size=3), of_paragraphs=st.booleans())
def test_find_units__as_on_strings(texts, of_paragraphs):
    split = oracle.paragraphs if of_paragraphs else oracle.lines
    assert units_of(texts, of_paragraphs=of_paragraphs) == [
        (doc, text[start:stop].encode(), text[start:end].encode())
        for doc, text in enumerate(texts)
        for start, stop, end in split(text)
    ]


MARKS = ".!?\u2026\u061f\u06d4\u0964\u1362\u3002\uff01\uff0e\uff1f\uff61"
CLOSING = "\"')]}\u00bb\u2019\u201c\u201d\u203a\u300d\u300f\u3011\uff09"
SENTENCES = st.lists(
    st.sampled_from([*MARKS, *CLOSING, *"   aAzZ", "\n", "\r\n", "{", "é", "語", "😀", "\u3000"])
    | st.sampled_from(SPACES),
    max_size=14,
).map("".join)


@examples(600)
@given(texts=st.lists(SENTENCES, min_size=1, max_size=3))
@example(["A. z", "A. a.", "A. {", "A. `", "A. Z", "A…  z", "A! z", "A? ", "A.) b ) c", "。 a"])
def test_find_sentences__as_on_strings(texts):
    arrays = make_texts(texts, lead="a", trail=". \n")
    count = find_sentences(arrays.data, arrays.offsets, *(np.empty(0, np.int64) for _ in range(4)))
    filled = [np.full(count, -7, np.int64) for _ in range(4)]
    assert find_sentences(arrays.data, arrays.offsets, *filled) == count
    data = [text.encode() for text in texts]
    rows = zip(*(array.tolist() for array in filled), strict=True)
    assert [
        (doc, data[doc][start:stop], data[doc][start:end]) for doc, start, stop, end in rows
    ] == [
        (doc, text[start:stop].encode(), text[start:end].encode())
        for doc, text in enumerate(texts)
        for start, stop, end in oracle.sentences(text)
    ]


def test_find_units__white_space():
    """What parts paragraphs is what Python takes for white space."""
    characters = [*map(chr, [*range(0x250), *range(0x1600, 0x1800), *range(0x2000, 0x3100)])]
    characters += ["\ufeff", "\U0001f600"]
    texts = [f"a\n{character}\nb" for character in characters]
    found = [doc for doc, _, _ in units_of(texts, of_paragraphs=True)]
    assert [found.count(doc) for doc in range(len(texts))] == [
        1 + (character.isspace()) for character in characters
    ]
