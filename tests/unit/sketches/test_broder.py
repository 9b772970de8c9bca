from __future__ import annotations

from neardup.sketches.samples import ModuloScheme, SmallestScheme
from neardup.text.shingles import make_shingle_scheme, shingle_lists
from tests.arrays import make_texts, unragged
from tests.each import each_of
from tests.unit.sketches.samples import TEXTS, sketch

KNOWN_ANSWERS = [
    (
        SmallestScheme(size=3, seed=42),
        "mixer",
        [
            [0x18F8EC8360C1A5E4, 0x4D03BC46B597823B, 0xBE2E8E0F4B03EA91],
            [0x071B8B8992AB9308, 0x4F0C3C97087B6225, 0xE2DB37769303F253],
        ],
        [-1, -1],
        [1, 1],
    ),
    (
        SmallestScheme(size=4, seed=42),
        "mixer",
        [
            [0x18F8EC8360C1A5E4, 0x4D03BC46B597823B, 0xBE2E8E0F4B03EA91],
            [0x071B8B8992AB9308, 0x4F0C3C97087B6225, 0xE2DB37769303F253, 0xE474791BC0EE8039],
        ],
        [3, -1],
        [1, 1],
    ),
    (
        ModuloScheme(modulus=2, size=100, seed=42),
        "mixer",
        [[0x18F8EC8360C1A5E4], [0x071B8B8992AB9308, 0xE8322375E235420C]],
        [3, 5],
        [2, 2],
    ),
    (
        ModuloScheme(modulus=3, size=100, seed=42),
        "mixer",
        [[], [0xE474791BC0EE8039]],
        [3, 5],
        [3, 3],
    ),
    (
        ModuloScheme(modulus=None, size=2, seed=42),
        "mixer",
        [
            [0x18F8EC8360C1A5E4, 0x4D03BC46B597823B, 0xBE2E8E0F4B03EA91],
            [0x071B8B8992AB9308, 0xE8322375E235420C],
        ],
        [3, 5],
        [1, 2],
    ),
    (
        SmallestScheme(size=3, seed=42),
        "rabin",
        [
            [0x3F2CCEA1591EBFB8, 0x5E2B1EBAE60E6F74, 0xB0D27511B243B962],
            [0x108A2729FCB3713B, 0x48FAC59E6B292FF9, 0x6111E96832BB89E1],
        ],
        [-1, -1],
        [1, 1],
    ),
    (
        ModuloScheme(modulus=None, size=2, seed=42),
        "rabin",
        [[0x3F2CCEA1591EBFB8, 0x5E2B1EBAE60E6F74, 0xB0D27511B243B962], [0x6DCAA691D34FF8C6]],
        [3, 5],
        [1, 2],
    ),
]


@each_of(
    ("scheme", "fingerprint", "expected", "sizes", "moduli"),
    KNOWN_ANSWERS,
)
def test_sketch_sets__known_answers(scheme, fingerprint, expected, sizes, moduli):
    shingles = make_shingle_scheme(ngram=2, fingerprint=fingerprint)
    found = scheme.sample(
        shingle_lists(shingles.tokenizer.hash_tokens(make_texts(TEXTS)), shingles)
    )
    assert unragged(found.values, found.offsets) == expected
    assert found.sizes.tolist() == sizes
    assert found.moduli.tolist() == moduli


def test_sketch_sets__modulus_by_distinct_shingles():
    """Repeats do not raise the modulus, wherever the bound lies."""
    lists = [[*range(199), 5], range(200), [*range(100)] * 3, [*range(399), 1, 1], range(400)]
    found = sketch(lists, ModuloScheme())
    assert found.sizes.tolist() == [199, 200, 100, 399, 400]
    assert found.moduli.tolist() == [1, 2, 1, 2, 4]
