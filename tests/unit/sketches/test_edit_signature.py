"""What edit signatures refuse, and what they say then."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.kind import pack_letters, unpack_letters
from neardup.sketches.edit.signature import EditScheme, edit_signatures
from neardup.tables import EditSignatures
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


def test_pack_letters__refuses_more_than_two():
    signatures = EditSignatures(np.array([0, 1, 2], np.uint32), np.array([0, 3]), np.array([300]))
    with pytest.raises(InvalidParameterError, match=r"letters must be 2 .* got symbols up to 2"):
        pack_letters(signatures)


def test_unpack_letters__refuses_another_number_of_bytes():
    with pytest.raises(InvalidParameterError, match=r"packed must have the 2 bytes .* got 1"):
        unpack_letters(np.zeros(1, np.uint8), np.array([0, 9]))
