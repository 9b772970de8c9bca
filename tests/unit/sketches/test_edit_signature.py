"""What edit signatures refuse, and what they say then."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.sketches.edit.estimate import (
    common_blocks,
    edit_estimates,
    place_inside,
    signature_distances,
)
from neardup.sketches.edit.kind import pack_letters, unpack_letters
from neardup.sketches.edit.signature import EditScheme, edit_signatures
from neardup.tables import EditSignatures
from tests.arrays import make_texts
from tests.each import each_of

PAIR = (np.array([0]), np.array([1]))


def some_signatures(**options):
    scheme = EditScheme(**options)
    return edit_signatures(make_texts(["some text " * 9, "some other " * 9]), scheme), scheme


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
    ({}, [(4, 0x8DBE3DC6), (5, 0xE1E47BB2), (18, 0x42BE65BA), (21, 0x90280786), (37, 0x6E027D6)]),
    ({"letters": 2}, [(4, 1), (5, 1), (18, 0), (21, 1), (37, 0)]),
    ({"hash": "sum", "residue": 1}, [(7, 0xE8AB8122), (12, 0xC5B49502), (27, 0xC5B49502)]),
]


@pytest.mark.parametrize(("options", "expected"), KNOWN, ids=str)
def test_edit_signatures__known_answers(options, expected):
    scheme = EditScheme(compression=8, neighbourhood=6, **options)
    texts = make_texts(["the quick brown fox jumps over the lazy dog"])
    found = edit_signatures(texts, scheme, with_positions=True)
    assert list(zip(found.positions, found.symbols, strict=True)) == expected


@each_of("confidence", [0, 1, -0.5, 95, float("nan")])
def test_edit_estimates__refuses_confidence(confidence):
    signatures, scheme = some_signatures()
    with pytest.raises(InvalidParameterError, match=r"confidence must lie in \(0, 1\), got"):
        edit_estimates(signatures, scheme, *PAIR, confidence=confidence)


@pytest.mark.parametrize("unrelated", [0, 1.01, 78])
def test_edit_estimates__refuses_unrelated(unrelated):
    signatures, scheme = some_signatures()
    with pytest.raises(InvalidParameterError, match=r"unrelated must lie in \(0, 1\], got"):
        edit_estimates(signatures, scheme, *PAIR, unrelated=unrelated)


def test_edit_estimates__refuses_to_align_few_letters():
    signatures, scheme = some_signatures(letters=2**16 - 1)
    with pytest.raises(InvalidParameterError, match=r"letters must be at least 65,536 to align"):
        edit_estimates(signatures, scheme, *PAIR)
    assert len(edit_estimates(signatures, scheme, *PAIR, align=False)) == 1
    with pytest.raises(InvalidParameterError, match="letters must be at least 65,536 to find"):
        place_inside(signatures, scheme, *PAIR)


def test_pack_letters__refuses_more_than_two():
    signatures = EditSignatures(np.array([0, 1, 2], np.uint32), np.array([0, 3]), np.array([300]))
    with pytest.raises(InvalidParameterError, match=r"letters must be 2 .* got symbols up to 2"):
        pack_letters(signatures)


def test_unpack_letters__refuses_another_number_of_bytes():
    with pytest.raises(InvalidParameterError, match=r"packed must have the 2 bytes .* got 1"):
        unpack_letters(np.zeros(1, np.uint8), np.array([0, 9]))


def many_signatures():
    """Some pairs are alike, some share a symbol or two, most nothing; symbols wrap at 20 bits."""
    generator = np.random.default_rng(5)
    symbols = generator.integers(0, 2**32, 40 * 90, dtype=np.uint32)
    symbols[3000:] = np.roll(symbols[:600], 1)
    symbols[:2400:100] = symbols[1]
    symbols[90] = symbols[7] + np.uint32(0x110000 - 0x800)
    lengths = 8950 + generator.integers(0, 3, 40) * 50
    return EditSignatures(symbols, np.arange(41) * 90, lengths), np.indices((40, 40)).reshape(2, -1)


@each_of("limit", [None, 0, 12, 30])
def test_signature_distances__of_many_pairs_as_of_few(limit):
    signatures, (left, right) = many_signatures()
    found = signature_distances(signatures, left, right, limit=limit)
    for start in range(0, 1600, 400):
        few = slice(start, start + 400)
        expected = signature_distances(signatures, left[few], right[few], limit=limit)
        assert found[few].tolist() == expected.tolist()


@pytest.mark.parametrize("align", [True, False])
def test_edit_estimates__of_many_pairs_as_of_few(align):
    signatures, (left, right) = many_signatures()
    found = edit_estimates(signatures, EditScheme(), left, right, align=align)
    for start in range(0, 1600, 400):
        few = slice(start, start + 400)
        expected = edit_estimates(signatures, EditScheme(), left[few], right[few], align=align)
        for name, values in vars(expected).items():
            np.testing.assert_array_equal(getattr(found, name)[few], values)


def test_common_blocks__of_many_pairs_as_of_few():
    signatures, (left, right) = many_signatures()
    found = common_blocks(signatures, left, right)
    few = [
        common_blocks(signatures, left[s : s + 400], right[s : s + 400])
        for s in (0, 400, 800, 1200)
    ]
    for k, blocks in enumerate(few):
        blocks[:, 0] += 400 * k
    assert found.tolist() == np.concatenate(few).tolist()
