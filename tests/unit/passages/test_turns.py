"""Cuts that are watched: some texts have their turns, and rounds are timed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.passages.turns import CutInRounds, SomeTurns
from tests.cutting import cut_similar, cutting


def make_texts(rng, n=24, passages=5):
    """Texts with passages that some others have, between what nobody has."""
    pool = [[rng.randrange(10**9) for _ in range(30)] for _ in range(passages)]
    texts = []
    for _ in range(n):
        text = []
        for passage in rng.sample(pool, rng.randint(0, 2)):
            text += [rng.randrange(10**9) for _ in range(9)] + passage
        texts.append([*text, *(rng.randrange(10**9) for _ in range(9))])
    return texts


@pytest.mark.parametrize("min_documents", [None, 3])
@pytest.mark.parametrize("step", [1, 3, 7])
def test_some_turns__lose_what_they_lose_among_all(step, min_documents):
    """Whoever else has a turn: what stands before them is gone, and what is behind is not."""
    rng = random.Random(step)
    texts = make_texts(rng)
    texts[4] = texts[4] + [1] * 9 + texts[4][-39:]
    rows, _ = cut_similar(texts, 20, "0.8", min_documents=min_documents)
    with cutting(SomeTurns, texts, 20, "0.8", min_documents=min_documents) as turns:
        turns.index()
        for first in (0, 1):
            chosen = turns.turns[first::step]
            turned = turns.take(chosen)
            lost = [row for row in rows if row[0] in chosen]
            assert turned.passages == len(lost)
            assert turned.n_cut == len({row[0] for row in lost})
            assert turned.tokens == sum(row[2] - row[1] for row in lost)
            assert turned.seconds > 0
    assert len(rows) > 5


def test_some_turns__look_up_what_is_left_of_them(monkeypatch):
    """Copies that others have of what is gone are gone, too, and need not be compared."""
    rng = random.Random(1)
    passage = [rng.randrange(10**9) for _ in range(60)]
    texts = [[*passage, k] for k in range(12)]
    settled = []
    with cutting(SomeTurns, texts, 20, "0.8") as turns:
        turns.index()
        maker = turns._indexed[0].maker
        settle = maker.settle

        def count(tokens, hits, own=None):
            settled.append(len(np.unique(hits.documents)))
            return settle(tokens, hits, own)

        monkeypatch.setattr(type(maker), "settle", lambda _, *given: count(*given))
        first = turns.take(np.array([0]))
        # All others have it.
        assert (first.passages, settled) == (0, [11])
        settled.clear()
        late = turns.take(np.array([6]))
        # The first one that has it takes all; others are not compared with it.
        assert (late.passages, settled) == (1, [1])
        # So have those behind it lost theirs; those before it are as they were.
        n_left = [len(turns._texts.left(k)) for k in range(12)]
        assert n_left == [61] * 6 + [1] * 6


def test_some_turns__of_others():
    """They lose nothing, and the texts that are cut are no matter of theirs."""
    rng = random.Random(2)
    texts = make_texts(rng, 9)
    with cutting(SomeTurns, texts[:5], 20, "0.8", others=texts[5:]) as turns:
        turns.index()
        assert turns.turns.tolist() == [5, 6, 7, 8]
        turned = turns.take(turns.turns[1:3])
        assert (turned.passages, turned.n_cut, turned.tokens) == (0, 0, 0)


def test_cut_in_rounds__times_each():
    texts = make_texts(random.Random(3))
    rows, cutter = cut_similar(texts, 20, "0.8")
    with cutting(CutInRounds, texts, 20, "0.8") as timed:
        found = timed.cut()
        assert found.documents.tolist() == [row[0] for row in rows]
        assert timed.n_lost(found.documents) == sum(row[2] - row[1] for row in rows)
    assert len(timed.seconds) == cutter.n_rounds == 2
    assert timed.is_whole
    with cutting(CutInRounds, texts, 20, "0.8") as stopped:
        stopped.most_seconds = 0.0
        assert len(stopped.cut()) == len(rows)
    assert (len(stopped.seconds), stopped.is_whole) == (1, False)
