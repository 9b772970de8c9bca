"""What comparisons refuse."""

from __future__ import annotations

import re

import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from tests.calls import grouped
from tests.each import each_of
from tests.unit.jobs.compare.two_texts import NEW, OLD


@each_of(
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
        neardup.compare(OLD, NEW, **grouped(**options))


def test_compare__bad_texts():
    with pytest.raises(InvalidInputError, match=r"^b: expected a text, got bytes$"):
        neardup.compare("a", b"b")
    with pytest.raises(InvalidInputError, match=r"^a: .* half of a surrogate pair at character 2;"):
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
    with pytest.raises(InvalidParameterError, match=r"let it return \(token, start, stop\)"):
        neardup.compare("a", "b", text=neardup.TextOptions(tokenizer=str.encode))
