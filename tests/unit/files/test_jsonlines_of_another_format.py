"""A file that is read as JSON lines, and is of another format."""

from __future__ import annotations

import re

import numpy as np
import pytest

from neardup.errors import InvalidInputError
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.rows import ColumnNames

GOOD = b'{"text": "a"}\n'


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"2026-01-31 a line of a log\n", "text reads a file as text"),
        (b'  [{"text": "a"}]\n', "json reads an array of objects"),
    ],
)
def test_parse__first_row_of_another_format(make_file, content, advice):
    """A later row is a mishap, and one that is skipped needs no advice."""
    [block] = JsonLinesSource(str(make_file("a.jsonl", content)), "a.jsonl").blocks()
    with pytest.raises(InvalidInputError, match=f"; input_format {re.escape(advice)}$"):
        block.parse(ColumnNames())
    [(_, reason)] = block.parse(ColumnNames(), skip_bad=True).skipped
    assert "input_format" not in reason
    [block] = JsonLinesSource(str(make_file("b.jsonl", GOOD + content)), "b.jsonl").blocks()
    for select in (None, np.array([False, True])):
        with pytest.raises(InvalidInputError) as caught:
            block.parse(ColumnNames(), select=select)
        assert "input_format" not in str(caught.value)
