"""What comparisons refuse."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError


def test_compare__bad_texts():
    with pytest.raises(InvalidInputError, match=r"^b: .*bytes"):
        neardup.compare("a", b"b")
    with pytest.raises(InvalidInputError, match=r"^a: .*surrogate.*2"):
        neardup.compare("a\ud800", "b")


def test_compare__function_as_tokenizer():
    """It has to say where tokens stand."""
    named, by_function = (
        neardup.compare(
            "a b c d", "x a b c", min_tokens=3, text=neardup.TextOptions(tokenizer=tokenizer)
        )
        for tokenizer in ("whitespace", str.split)
    )
    assert by_function.passages == named.passages
    assert [(found.a, found.b) for found in named.passages] == [((0, 5), (2, 7))]
    with pytest.raises(InvalidParameterError, match=r"\(token, start, stop\)"):
        neardup.compare("a", "b", text=neardup.TextOptions(tokenizer=str.encode))
