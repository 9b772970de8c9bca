"""Company: how many documents share a bucket, judged by a part of the collection."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.files.resolve import resolve_inputs
from neardup.options.documents import DedupOptions
from neardup.reading.sign import sign_block
from neardup.stages.plan import plan_deduplication
from neardup.stages.sample import Company, find_company

PLAN = plan_deduplication(DedupOptions())


def signed(texts: list[str], size: int):
    """Sign texts in blocks of so many."""
    for start in range(0, len(texts), size):
        for source in resolve_inputs(texts[start : start + size], PLAN.options):
            yield from (sign_block(block, PLAN.reading) for block in source.blocks())


def made_up(n: int) -> list[str]:
    words = np.random.default_rng(3).integers(0, 10**6, (n, 20))
    return [" ".join(map(str, row)) for row in words]


@pytest.mark.parametrize("share", [1, 2, 4])
def test_company__of_partners_anywhere(share):
    """Every fourth document has a partner, which of a part of the collection is in it by chance."""
    texts = made_up(4000)
    texts += [f"{text} more" for text in texts[:500]]
    texts = [texts[i] for i in np.random.default_rng(1).permutation(len(texts))]
    n = len(texts)
    _, live = find_company(list(signed(texts[: n // share], 150)), PLAN)
    assert live.expected(n) == pytest.approx(1000, rel=0.3)
    # Twice as many documents find twice as many partners, until all have one.
    assert live.expected(2 * n) == pytest.approx(4 * live.expected(n), rel=0.15)
    assert live.expected(1000 * n) == pytest.approx(1000 * n, rel=0.01)


def test_company__of_neighbours():
    """Partners beside each other are all in a part, and no more come with more documents."""
    texts = [each for text in made_up(2000) for each in (text, text + " more")]
    candidates, live = find_company(list(signed(texts[:1000], 200)), PLAN)
    for company in (candidates, live):
        assert company.expected(4000) == pytest.approx(4000, rel=0.01)
    alone, _ = find_company(list(signed(texts[1000:2000:2], 100)), PLAN)
    assert alone.expected(10**6) == 0


def test_company__copies_are_one_content():
    texts = [text for text in made_up(100) for _ in range(3)]
    candidates, live = find_company(list(signed(texts, 50)), PLAN)
    assert candidates.expected(300) == live.expected(300) == 0


def test_company__of_nothing():
    assert find_company([], PLAN) == (Company(0.0, 0.0), Company(0.0, 0.0))


def test_company__of_some_neighbours():
    """The share that has a partner beside it stays the same at any size."""
    texts = [
        each
        for i, text in enumerate(made_up(1900))
        for each in ((text, text + " more") if i % 19 == 0 else (text,))
    ]
    _, live = find_company(list(signed(texts, 200)), PLAN)
    assert live.expected(len(texts)) == pytest.approx(200, rel=0.05)
    assert live.expected(20 * len(texts)) == pytest.approx(20 * 200, rel=0.15)
