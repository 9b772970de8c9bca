"""What edit signatures refuse, and what they say then."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.kind import pack_letters, unpack_letters
from neardup.sketches.edit.signature import EditScheme, edit_signatures
from neardup.tables import EditSignatures
from tests.arrays import make_texts
from tests.each import each_of


@each_of(
    ("options", "message"),
    [
        ({"compression": 0}, "compression must lie between 1 and 1,048,576, got 0"),
        ({"compression": 2**20 + 1}, "compression must lie .* got 1,048,577"),
        ({"neighbourhood": 0}, "neighbourhood must lie between 1 and 256, got 0"),
        ({"neighbourhood": 257}, "neighbourhood must lie .* got 257"),
        ({"letters": 1}, "letters must lie between 2 and 4,294,967,296, got 1"),
        ({"letters": 2**32 + 1}, "letters must lie .* got 4,294,967,297"),
        ({"hash": "sum", "residue": -1}, "residue must lie between 0 and 99, got -1"),
        ({"hash": "sum", "residue": 100}, "residue must lie between 0 and 99, got 100"),
        ({"seed": -1}, "seed must lie between 0 and .* got -1"),
        ({"seed": 2**64}, "seed must lie"),
        ({"hash": "crc"}, "hash must be 'mixed' or 'sum', got 'crc'"),
        ({"residue": 3}, "residue has no effect with hash='mixed', got 3; leave it out"),
    ],
    ids=str,
)
def test_edit_scheme__refuses(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        EditScheme(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"compression": 1, "neighbourhood": 1, "letters": 2, "seed": 0},
        {"compression": 2**20, "neighbourhood": 256, "letters": 2**32, "seed": 2**64 - 1},
        {"hash": "sum", "residue": 99},
    ],
    ids=str,
)
def test_edit_scheme__takes_the_ends_of_ranges(options):
    scheme = EditScheme(**options)
    described = scheme.describe()
    assert described["kind"] == "edit"
    assert options.items() <= described.items()
    assert EditScheme(**{k: v for k, v in described.items() if k != "kind"}) == scheme
    edit_signatures(make_texts(["text" * 100]), scheme)


def test_edit_scheme__defaults():
    assert EditScheme().describe() == {
        "kind": "edit",
        "compression": 100,
        "neighbourhood": 12,
        "hash": "mixed",
        "letters": 2**32,
        "residue": 0,
        "seed": 42,
    }


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
