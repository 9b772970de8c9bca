"""Rounds of a cut, joints, and what many texts have."""

from __future__ import annotations

import random

import pytest

from neardup.passages import cutting
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import WindowFinder
from tests.cutting import cut_similar, dense_case


def words(rng, n):
    return [rng.randrange(10**9) for _ in range(n)]


def test_cutter__the_first_copy_stays():
    rng = random.Random(1)
    passage, one, other = words(rng, 30), words(rng, 20), words(rng, 20)
    rows, cutter = cut_similar([one + passage, passage + other, passage], 20, "0.8")
    assert rows == [(1, 0, 30, 0, 20, 50, 1.0), (2, 0, 30, 0, 20, 50, 1.0)]
    # The second round finds nothing in what has changed.
    assert cutter.n_rounds == 2


def test_cutter__within_a_text():
    rng = random.Random(2)
    passage = words(rng, 30)
    text = [*passage, *words(rng, 9), *passage, *words(rng, 9), *passage]
    rows, _ = cut_similar([text, passage], 20, "0.8")
    assert rows == [
        (0, 39, 69, 0, 0, 30, 1.0),
        (0, 78, 108, 0, 0, 30, 1.0),
        (1, 0, 30, 0, 0, 30, 1.0),
    ]
    assert cut_similar([text, passage], 20, "0.8", min_documents=2)[0] == rows
    assert cut_similar([text], 20, "0.8", min_documents=2)[0] == []


def test_cutter__what_a_cut_has_joined():
    """Before and behind what went stand two halves of what an earlier text has whole."""
    rng = random.Random(3)
    halves, inner = words(rng, 24), words(rng, 40)
    texts = [inner, halves, [*halves[:12], *inner, *halves[12:]]]
    rows, cutter = cut_similar(texts, 20, "0.9")
    assert rows == [(2, 0, 64, 1, 0, 24, 1.0), (2, 12, 52, 0, 0, 40, 1.0)]
    assert cutter.n_rounds == 3


def test_cutter__a_joint_on_the_side_that_stays():
    rng = random.Random(4)
    halves, inner = words(rng, 24), words(rng, 40)
    joined = [*halves[:12], *inner, *halves[12:]]
    rows, _ = cut_similar([inner, joined, halves], 20, "0.9")
    assert rows == [(1, 12, 52, 0, 0, 40, 1.0), (2, 0, 24, 1, 0, 64, 1.0)]


def test_cutter__others_stay():
    rng = random.Random(5)
    passage, other = words(rng, 30), words(rng, 30)
    rows, _ = cut_similar([passage, passage + other, other], 20, "0.8", others=[passage])
    # What two of the first ones have is no reason.
    assert rows == [(0, 0, 30, 3, 0, 30, 1.0), (1, 0, 30, 3, 0, 30, 1.0)]


@pytest.mark.parametrize("n_documents", [3, 4])
def test_cutter__enough_texts(n_documents):
    rng = random.Random(6)
    common, rare = words(rng, 30), words(rng, 30)
    texts = [[*words(rng, 5), *common, *words(rng, 5)] for _ in range(3)]
    for text in texts[:2]:
        text += [*words(rng, 40), *rare]
    rows, _ = cut_similar(texts, 20, "0.8", min_documents=n_documents)
    expected = [(k, 5, 35, 0, 5, 35, 1.0) for k in (1, 2)]
    assert rows == (expected if n_documents == 3 else [])


def test_cutter__most_of_a_passage_counts():
    """Those that have less than half of what stays do not."""
    rng = random.Random(7)
    passage = words(rng, 60)
    texts = [passage, passage, passage[:40], passage[:25]]
    rows, _ = cut_similar(texts, 20, "0.8", min_documents=3)
    assert [row[0] for row in rows] == [1, 2, 3]
    rows, _ = cut_similar(texts, 20, "0.8", min_documents=4)
    # 25 of 60 are not most, 25 of 40 are.
    assert [row[0] for row in rows] == [2, 3]


def boilerplate(n):
    rng = random.Random(8)
    notice = words(rng, 40)
    return [[*words(rng, 60), *notice, *words(rng, 30)] for _ in range(n)]


def test_cutter__boilerplate_is_looked_up_once(monkeypatch):
    """Twice as many copies cost twice as many look-ups, whatever the size of a batch."""
    monkeypatch.setattr(cutting, "_FIRST_BATCH", 100)
    find, looked_up = WindowFinder.find, []

    def counted(finder, *arguments):
        try:
            yield from find(finder, *arguments)
        finally:
            looked_up.append(finder.counts.windows)

    monkeypatch.setattr(WindowFinder, "find", counted)
    n_windows = []
    n_removals = []
    for n in (20, 40, 80):
        looked_up.clear()
        rows, _ = cut_similar(boilerplate(n), 20, "0.8")
        assert [row[:1] + row[3:6] for row in rows] == [(k, 0, 60, 100) for k in range(1, n)]
        n_windows.append(sum(looked_up) / n)
        n_removals.append(len(rows))
    assert n_removals == [19, 39, 79]
    assert max(n_windows) < 1.05 * min(n_windows)


@pytest.mark.slow
@pytest.mark.parametrize("is_own", [False, True])
def test_cutter__texts_are_looked_up_together_as_they_will_be(monkeypatch, is_own):
    """Where segments are made ready again for each look-up, there is one a batch of texts."""
    texts = boilerplate(40)
    if is_own:
        # What has a copy before it in its own text goes at the turn of that.
        texts = [[*text, *text[:60]] for text in texts]
    expected, _ = cut_similar(texts, 20, "0.8")
    in_turns, looked_up = OpenPassages.in_turns, []

    def counted(index, *arguments):
        looked_up.append(len(index.segments))
        return in_turns(index, *arguments)

    monkeypatch.setattr(OpenPassages, "in_turns", counted)
    memory = 100_000
    rows, cutter = cut_similar(texts, 20, "0.8", memory=memory)
    assert rows == expected
    assert cutter.n_rounds == 3 if is_own else 2
    n_batches = sum(map(len, texts)) / (0.25 * memory / 60) + 1
    # A batch by itself is one segment.
    n_whole = sum(n_segments > 1 for n_segments in looked_up)
    # Those that have changed are looked up in what was indexed before, too.
    assert 0 < n_whole <= n_batches * sum(range(cutter.n_rounds + 1))


@pytest.mark.parametrize("memory", [None, 1])
def test_cutter__joint_where_an_own_copy_was(memory):
    """A text that had lost something has a copy of its own part between two halves of another."""
    rng = random.Random(10)
    notice, part, halves = words(rng, 40), words(rng, 40), words(rng, 24)
    text = [*notice, *part, *halves[:12], *part, *halves[12:]]
    rows, _ = cut_similar([notice, text, halves], 20, "0.9", memory=memory)
    assert rows == [
        (1, 0, 40, 0, 0, 40, 1.0),
        (1, 92, 132, 1, 40, 80, 1.0),
        (2, 0, 24, 1, 80, 144, 1.0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [37, 13])
def test_cutter__what_turns_out_otherwise_than_foreseen(seed):
    texts, _, min_tokens, threshold, min_documents = dense_case(seed)
    texts = [*texts, *dense_case(seed + 1000)[0], *texts[:2]]
    options = (texts, min_tokens, threshold, None, min_documents, 0)
    expected, _ = cut_similar(*options)
    for memory in (6_000, 10_000, 16_000):
        assert cut_similar(*options, memory)[0] == expected


@pytest.mark.slow
def test_cutter__periodic_text_comes_to_an_end(monkeypatch):
    """What goes is named as a reason again and again; after some rounds it may no longer go."""
    rounds = []
    for free in (0, 3, 20):
        monkeypatch.setattr(cutting, "_FREE_ROUNDS", free)
        rows, cutter = cut_similar([[0] * 24], 4, "0.5")
        rounds.append(cutter.n_rounds)
        assert rows
        for _, start, stop, _, kept_start, kept_stop, similarity in rows:
            assert kept_stop <= start < stop
            assert similarity >= 0.5
            # What is named stays.
            for other in rows:
                assert other[2] <= kept_start or kept_stop <= other[1]
    assert rounds == sorted(set(rounds))
    assert rounds[-1] < 30


def test_cutter__no_texts():
    assert cut_similar([], 20, "0.8")[0] == []
    assert cut_similar([[], []], 20, "0.8")[0] == []
    assert cut_similar([[]], 20, "0.8", others=[[1] * 50])[0] == []
