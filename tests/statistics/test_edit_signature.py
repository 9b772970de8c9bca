"""Whether edit signatures do what the theory says, over fixed seeds and within stated bounds.

Bounds are numbers of standard errors that follow from the number of trials: 3.5 for a single
figure, exceeded by chance once in 2,000 times.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from neardup.sketches.edit import NEIGHBOURHOOD as N
from neardup.sketches.edit import EditScheme, edit_estimates, edit_signatures
from neardup.tables import EditSignatures, Texts

pytestmark = pytest.mark.statistics

SIGMAS = 3.5
TRIALS = 2000
LENGTH = 8000
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz ", np.uint8)
# New characters, so that blocks have nothing in common with what they replace.
OTHERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)
SCHEME = EditScheme()
LEFT = 2 * np.arange(TRIALS)


def lay_out(rows):
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Texts(np.concatenate(rows), offsets)


def substitute(generator, text, n_edits):
    text = text.copy()
    places = generator.choice(len(text), n_edits, replace=False)
    text[places] = generator.choice(OTHERS, n_edits)
    return text


def replace_blocks(generator, text, n_blocks, size):
    """Replace blocks, one in each equal part of the text, so that they stay apart."""
    text = text.copy()
    part = len(text) // n_blocks
    for block in range(n_blocks):
        start = block * part + generator.integers(N, part - size - N)
        text[start : start + size] = generator.choice(OTHERS, size)
    return text


def insert_blocks(generator, text, n_blocks, size):
    places = np.sort(generator.integers(0, len(text), n_blocks))
    parts = np.split(text, places)
    blocks = [generator.choice(OTHERS, size) for _ in places]
    return np.concatenate(
        [part for both in zip(parts, [*blocks, parts[0][:0]], strict=True) for part in both]
    )


def move_block(generator, text, size):
    """Delete a block in the first half and insert another in the second."""
    half = len(text) // 2
    start = generator.integers(0, half - size)
    rest = insert_blocks(generator, text[half:], 1, size)
    return np.concatenate([text[:start], text[start + size : half], rest])


def mixture(generator, text, n_edits, n_blocks, size):
    return insert_blocks(generator, substitute(generator, text, n_edits), n_blocks, size)


CHANGES = {
    "nothing": (lambda g, t: t, 0),
    "1 substitution": (lambda g, t: substitute(g, t, 1), 1),
    "10 substitutions": (lambda g, t: substitute(g, t, 10), 10),
    "80 substitutions": (lambda g, t: substitute(g, t, 80), 80),
    "400 substitutions": (lambda g, t: substitute(g, t, 400), 400),
    "1 block inserted": (lambda g, t: insert_blocks(g, t, 1, 500), 500),
    "5 blocks inserted": (lambda g, t: insert_blocks(g, t, 5, 500), 2500),
    "block deleted": (lambda g, t: t[: len(t) - 700], 700),
    "1 block replaced": (lambda g, t: replace_blocks(g, t, 1, 500), 500),
    "4 blocks replaced": (lambda g, t: replace_blocks(g, t, 4, 500), 2000),
    "20 blocks replaced": (lambda g, t: replace_blocks(g, t, 20, 50), 1000),
    "block moved": (lambda g, t: move_block(g, t, 500), 1000),
    "long block moved": (lambda g, t: move_block(g, t, 2000), 4000),
    "mixture": (lambda g, t: mixture(g, t, 40, 1, 1000), 1040),
    "mixture of more": (lambda g, t: mixture(g, t, 100, 3, 500), 1600),
}


def changed_pairs(name, seed=0):
    """Sign random texts and the same changed: x, y, x, y and so on. Gives the true distance too."""
    generator = np.random.default_rng([seed, *name.encode()])
    change, true = CHANGES[name]
    rows = []
    for _ in range(TRIALS):
        text = generator.choice(LETTERS, LENGTH)
        rows += [text, change(generator, text)]
    return edit_signatures(lay_out(rows), SCHEME), true


@pytest.mark.parametrize("compression", [25, 100, 200])
def test_edit_signatures__number_of_symbols_is_binomial(compression):
    trials, length = 4000, 4000
    generator = np.random.default_rng(compression)
    texts = Texts(
        generator.choice(LETTERS, trials * length), np.arange(trials + 1) * np.int64(length)
    )
    counts = np.diff(edit_signatures(texts, EditScheme(compression)).offsets)
    windows, p = length - N + 1, 1 / compression
    variance = windows * p * (1 - p)
    assert abs(counts.mean() - windows * p) <= SIGMAS * math.sqrt(variance / trials)
    kurtosis = (1 - 6 * p * (1 - p)) / variance
    relative_error = math.sqrt(2 / (trials - 1) + kurtosis / trials)
    assert SIGMAS * relative_error < 0.1
    assert abs(counts.var(ddof=1) / variance - 1) <= SIGMAS * relative_error


def test_edit_signatures__symbols_are_even():
    generator = np.random.default_rng(1)
    texts = lay_out([generator.choice(LETTERS, 2_000_000)])
    symbols = edit_signatures(texts, EditScheme(50)).symbols
    bins = 64
    counts = np.bincount(symbols >> 26, minlength=bins)
    n, degrees = len(symbols), bins - 1
    chi_square = ((counts - n / bins) ** 2).sum() / (n / bins)
    assert abs(chi_square - degrees) <= SIGMAS * math.sqrt(2 * degrees) + SIGMAS**2


@pytest.mark.parametrize("name", CHANGES)
def test_edit_estimates__intervals_hold_as_often_as_they_say(name):
    signatures, true = changed_pairs(name)
    found = edit_estimates(signatures, LEFT, LEFT + 1)
    assert found.is_usable.all()
    held = ((found.low <= true) & (true <= found.high)).mean()
    assert held >= 0.95 - SIGMAS * math.sqrt(0.95 * 0.05 / TRIALS)


@pytest.mark.parametrize("n_edits", [10, 80])
def test_edit_estimates__of_scattered_edits_is_too_large_by_twice_the_window(n_edits):
    signatures, true = changed_pairs(f"{n_edits} substitutions")
    found = edit_estimates(signatures, LEFT, LEFT + 1).distances
    assert N * true < found.mean() <= 2 * N * true


OTHER_CHANGES = {
    "30 substitutions": (lambda g, t: substitute(g, t, 30), 30),
    "150 substitutions": (lambda g, t: substitute(g, t, 150), 150),
    "2 blocks inserted": (lambda g, t: insert_blocks(g, t, 2, 187), 374),
    "block moved": (lambda g, t: move_block(g, t, 187), 374),
    "mixture": (lambda g, t: mixture(g, t, 30, 1, 374), 404),
}


@pytest.mark.parametrize("compression", [5, 10, 25, 50])
@pytest.mark.parametrize("name", OTHER_CHANGES)
def test_edit_estimates__intervals_hold_for_other_schemes(name, compression):
    """With many symbols for an isolated edit as with few: intervals are not made for c = 100."""
    trials = 400
    generator = np.random.default_rng([compression, *name.encode()])
    change, true = OTHER_CHANGES[name]
    rows = []
    for _ in range(trials):
        text = generator.choice(LETTERS, 3000)
        rows += [text, change(generator, text)]
    signatures = edit_signatures(lay_out(rows), EditScheme(compression))
    left = 2 * np.arange(trials)
    found = edit_estimates(signatures, left, left + 1)
    held = ((found.low <= true) & (true <= found.high)).mean()
    assert held >= 0.95 - SIGMAS * math.sqrt(0.95 * 0.05 / trials)


@pytest.mark.parametrize(
    ("least", "most", "trials"), [(20, 60, 4000), (60, 300, 4000), (400, 1000, 1000)]
)
def test_edit_estimates__unrelated_signatures_are_seldom_significant(least, most, trials):
    """Above 3 less than once in 100 pairs, of any lengths; means and deviations as simulated."""
    generator = np.random.default_rng(least)
    sizes = generator.integers(least, most + 1, 2 * trials)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    symbols = generator.integers(0, 2**32, int(offsets[-1]), np.uint32)
    signatures = EditSignatures(symbols, offsets, 100 * sizes)
    left = 2 * np.arange(trials)
    found = edit_estimates(signatures, left, left + 1).significances
    assert (found > 3).mean() < 0.01
    assert abs(found.mean()) <= 0.2
    assert found.std() <= 1.15
    assert found.min() > -6
