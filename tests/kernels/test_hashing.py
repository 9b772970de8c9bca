from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.kernels.common.hashing import GOLDEN, hash_bytes, mix_words
from tests.arrays import as_uint64, random_words
from tests.each import each_of
from tests.oracles import hashing as oracle

# First outputs of SplitMix64 for seeds 0 and 1234567, as published with the generator's many
# ports; the mixer turns seed + k * GOLDEN into the k-th output.
SPLITMIX = [
    (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]),
    (1234567, [6457827717110365317, 3203168211198807973, 9817491932198370423]),
]


@pytest.mark.parametrize(("seed", "outputs"), SPLITMIX)
def test_mix_words__known_answers(seed, outputs):
    states = [(seed + k * int(GOLDEN)) % 2**64 for k in range(1, len(outputs) + 1)]
    assert mix_words(as_uint64(states)).tolist() == outputs
    assert [oracle.mix(state) for state in states] == outputs


def test_mix_words__zero_stays_zero():
    assert int(mix_words(np.uint64(0))) == 0


def test_mix_words__scalars_and_arrays_as_oracle():
    words = random_words(random.Random(1), 500)
    expected = [oracle.mix(word) for word in words]
    assert mix_words(as_uint64(words)).tolist() == expected
    assert [int(mix_words(np.uint64(word))) for word in words[:50]] == expected[:50]


@each_of("length", range(41))
def test_hash_bytes__every_length(length):
    data = random.Random(length).randbytes(length)
    assert hash_bytes(data) == oracle.hash_token(data)


def test_hash_bytes__trailing_zero_bytes_count():
    assert len({hash_bytes(b"a" + b"\0" * n) for n in range(20)}) == 20
