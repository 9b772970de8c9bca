"""Near cuts: copies, joints, repeats of one text, and passages that many texts have."""

from __future__ import annotations

import random

import pytest

from neardup.passages import cutting
from tests.cutting import cut_similar, dense_case


def words(rng, n):
    return [rng.randrange(10**9) for _ in range(n)]


def test_cutter__within_a_text():
    rng = random.Random(2)
    passage = words(rng, 30)
    text = [*passage, *words(rng, 9), *passage, *words(rng, 9), *passage]
    rows = cut_similar([text, passage], 20, "0.8")
    assert rows == [
        (0, 39, 69, 0, 0, 30, 1.0),
        (0, 78, 108, 0, 0, 30, 1.0),
        (1, 0, 30, 0, 0, 30, 1.0),
    ]
    assert cut_similar([text, passage], 20, "0.8", min_documents=2) == rows
    assert cut_similar([text], 20, "0.8", min_documents=2) == []


def test_cutter__what_a_cut_has_joined():
    """Before and behind what went stand two halves of what an earlier text has whole."""
    rng = random.Random(3)
    halves, inner = words(rng, 24), words(rng, 40)
    texts = [inner, halves, [*halves[:12], *inner, *halves[12:]]]
    rows = cut_similar(texts, 20, "0.9")
    assert rows == [(2, 0, 64, 1, 0, 24, 1.0), (2, 12, 52, 0, 0, 40, 1.0)]


@pytest.mark.parametrize("n_documents", [3, 4])
def test_cutter__enough_texts(n_documents):
    rng = random.Random(6)
    common, rare = words(rng, 30), words(rng, 30)
    texts = [[*words(rng, 5), *common, *words(rng, 5)] for _ in range(3)]
    for text in texts[:2]:
        text += [*words(rng, 40), *rare]
    rows = cut_similar(texts, 20, "0.8", min_documents=n_documents)
    expected = [(k, 5, 35, 0, 5, 35, 1.0) for k in (1, 2)]
    assert rows == (expected if n_documents == 3 else [])


def test_cutter__most_of_a_passage_counts():
    """Those that have less than half of what stays do not."""
    rng = random.Random(7)
    passage = words(rng, 60)
    texts = [passage, passage, passage[:40], passage[:25]]
    rows = cut_similar(texts, 20, "0.8", min_documents=3)
    assert [row[0] for row in rows] == [1, 2, 3]
    rows = cut_similar(texts, 20, "0.8", min_documents=4)
    # 25 of 60 are not most, 25 of 40 are.
    assert [row[0] for row in rows] == [2, 3]


@pytest.mark.parametrize("block", [1, 200, 10_000])
def test_cutter__texts_of_a_block_are_cut_in_order(block):
    """A text is compared with what stays of those before it, not with what they were."""
    rng = random.Random(9)
    first, second, third = words(rng, 30), words(rng, 30), words(rng, 30)
    texts = [first, [*first, *second], [*second, *first, *third], [*third, *second]]
    rows = cut_similar(texts, 20, "0.9", block=block)
    assert rows == [
        (1, 0, 30, 0, 0, 30, 1.0),
        (2, 0, 30, 1, 30, 60, 1.0),
        (2, 30, 60, 0, 0, 30, 1.0),
        (3, 0, 30, 2, 60, 90, 1.0),
        (3, 30, 60, 1, 30, 60, 1.0),
    ]


@pytest.mark.parametrize("memory", [None, 1])
def test_cutter__joint_where_an_own_copy_was(memory):
    """A text that had lost something has a copy of its own part between two halves of another."""
    rng = random.Random(10)
    notice, part, halves = words(rng, 40), words(rng, 40), words(rng, 24)
    text = [*notice, *part, *halves[:12], *part, *halves[12:]]
    rows = cut_similar([notice, text, halves], 20, "0.9", memory=memory)
    assert rows == [
        (1, 0, 40, 0, 0, 40, 1.0),
        (1, 92, 132, 1, 40, 80, 1.0),
        (2, 0, 24, 1, 80, 144, 1.0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_cutter__blocks_and_memory_do_not_matter(seed):
    texts, _, min_tokens, threshold, min_documents = dense_case(seed)
    texts = [*texts, *dense_case(seed + 1000)[0], *texts[:2]]
    options = (texts, min_tokens, threshold, None, min_documents, 0)
    expected = cut_similar(*options)
    for memory, block in ((6_000, 1), (10_000, 25), (None, 60)):
        assert cut_similar(*options, memory, block) == expected


@pytest.mark.slow
@pytest.mark.parametrize("most_back", [1, 3, 20])
@pytest.mark.parametrize("period", [1, 3, 8])
def test_cutter__periodic_text(monkeypatch, most_back, period):
    """A passage that stays for one that went is not taken itself."""
    monkeypatch.setattr(cutting, "_MOST_PUT_BACK", most_back)
    for _, start, stop, _, kept_start, kept_stop, similarity in (
        rows := cut_similar([list(range(period)) * (48 // period)], 4, "0.5")
    ):
        assert kept_stop <= start < stop
        assert similarity >= 0.5
        for other in rows:
            assert other[2] <= kept_start or kept_stop <= other[1]
