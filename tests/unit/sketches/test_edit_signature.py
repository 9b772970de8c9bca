"""Known answers of edit signatures."""

from __future__ import annotations

import pytest

from neardup.sketches.edit import EditScheme, edit_signatures
from tests.arrays import make_texts

# Written down once: signatures on disk must stay what they are.
KNOWN = [
    ({}, [0x8DBE3DC6, 0xE1E47BB2, 0x42BE65BA, 0x90280786, 0x6E027D6]),
    ({"letters": 2}, [1, 1, 0, 1, 0]),
    ({"hash": "sum", "residue": 1}, [0xE8AB8122, 0xC5B49502, 0xC5B49502]),
]


@pytest.mark.parametrize(("options", "expected"), KNOWN, ids=str)
def test_edit_signatures__known_answers(options, expected):
    scheme = EditScheme(compression=8, neighbourhood=6, **options)
    texts = make_texts(["the quick brown fox jumps over the lazy dog"])
    assert edit_signatures(texts, scheme).symbols.tolist() == expected
