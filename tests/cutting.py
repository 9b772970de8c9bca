"""Collections whose documents share passages, nearly or word by word, and what is cut of them."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from contextlib import ExitStack
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

import neardup
from neardup.passages.aligner import make_alignment_plan, window_length
from neardup.passages.cutting import cut_similar as cut_tokens
from neardup.passages.passage_lookup import LookUp
from neardup.passages.search_plan import make_search_plan
from neardup.passages.windows import make_passage_scheme
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from neardup.tables import TokenLists
from tests.arrays import ragged
from tests.calls import grouped
from tests.repeats import spread


@st.composite
def collections(draw, n_words=40, max_documents=5, longest=30):
    """Lists of small numbers: documents of pieces that others have too, some with a change."""
    token = st.integers(0, n_words - 1)
    pieces = draw(st.lists(st.lists(token, min_size=6, max_size=14), min_size=1, max_size=4))
    documents = []
    for _ in range(draw(st.integers(1, max_documents))):
        document = []
        for _ in range(draw(st.integers(0, 4))):
            piece = list(draw(st.sampled_from(pieces) | st.lists(token, max_size=5)))
            if piece and draw(st.integers(0, 2)) == 0:
                piece[draw(st.integers(0, len(piece) - 1))] = draw(token)
            document += piece[: draw(st.just(len(piece)) | st.integers(0, len(piece)))]
        documents.append(document[:longest])
    return documents


def dense_case(seed):
    """Texts of few words, those to compare with or None, least tokens, threshold, least texts."""
    rng = random.Random(seed)
    n_documents, n_words = rng.randint(1, 5), rng.choice([3, 10, 40])
    pool = [[rng.randrange(n_words) for _ in range(rng.randint(6, 14))] for _ in range(5)]
    documents = []
    for _ in range(n_documents):
        document = []
        for _ in range(rng.randint(0, 5)):
            if rng.random() < 0.7:
                piece = list(rng.choice(pool))
            else:
                piece = [rng.randrange(n_words) for _ in range(rng.randint(1, 6))]
            if rng.random() < 0.4:
                piece[rng.randrange(len(piece))] = rng.randrange(n_words)
            if rng.random() < 0.2:
                piece = piece[: rng.randint(1, len(piece))]
            document += piece
        documents.append(document[:30])
    options = rng.choice([4, 6]), rng.choice(["0.5", "0.7", "0.8"]), rng.choice([None, None, 2, 3])
    if rng.random() < 0.3:
        return documents[2:], documents[:2], *options
    return documents, None, *options


def cut_similar(
    texts,
    min_tokens,
    threshold,
    others=None,
    min_documents=None,
    num_perm=16,
    memory=None,
    block=None,
):
    """Cut token lists, in blocks of so many tokens with little memory; returns rows as tuples.

    Others are numbered behind the texts.
    """
    scheme = make_passage_scheme(min_tokens=window_length(min_tokens), num_perm=num_perm)
    search = make_search_plan(scheme, Fraction(threshold), Fraction(99, 100))
    alignment = make_alignment_plan(search, min_tokens, gap=0)
    lists, n_others = make_lists([*(others or []), *texts]), len(others or [])
    with tempfile.TemporaryDirectory() as folder, Runner(1) as runner, ExitStack() as patches:
        patches.enter_context(no_waiting())
        patches.enter_context(patch("neardup.passages.passage_lookup._LEAST_TOKENS", 40))
        if block is not None:
            patches.enter_context(patch("neardup.passages.cutting._LEAST_BLOCK", block))
            patches.enter_context(patch("neardup.passages.cutting._LARGEST_BLOCK", block))
        workspace = IN_MEMORY
        if memory is not None:
            workspace = Workspace(memory, WorkFolder.temporary(Path(folder)))
        look_up = LookUp(scheme, alignment.windows, runner, workspace, Path(folder))
        order = np.arange(len(lists))
        found = cut_tokens(lists, order, n_others, alignment, min_documents, look_up)
    rows = zip(*(column.tolist() for column in vars(found).values()), strict=True)
    return [
        (row[0] - n_others, *row[1:3], (row[3] - n_others) % len(lists), *row[4:]) for row in rows
    ]


def make_lists(texts):
    return TokenLists(*ragged([list(map(spread, text)) for text in texts]))


def cut(data, **options):
    """Cut with one worker, and without waiting for the disk."""
    with no_waiting():
        return neardup.cut(data, **grouped(**{"workers": 1, **options}))


def no_waiting():
    return patch("os.fsync", lambda _: None)


def make_text(tokens):
    return " ".join(f"w{token}" for token in tokens)


def characters_gone(texts, rows):
    """Which characters of each text the rows of ``removed`` take; ids are numbers of texts."""
    gone = [set() for _ in texts]
    for row in rows:
        assert 0 <= row["start"] < row["end"] <= len(texts[int(row["id"])])
        gone[int(row["id"])].update(range(row["start"], row["end"]))
    return gone


def without(text, gone):
    return "".join(mark for i, mark in enumerate(text) if i not in gone)


def part(text, start, stop, gone, tokens_of=str.split):
    """Words of a part of a text, or other tokens, without the characters that are gone."""
    return tokens_of("".join(text[i] for i in range(start, stop) if i not in gone))


def similarity(one, other):
    one, other = Counter(one), Counter(other)
    return Fraction((one & other).total(), max((one | other).total(), 1))


def words_as_compared(texts, row, rows, tokens_of=str.split):
    """All that the words of a row's span can have been: others of its document may go before."""
    text, span = texts[int(row["id"])], range(row["start"], row["end"])
    meeting = [
        range(other["start"], other["end"])
        for other in rows
        if other is not row
        and other["id"] == row["id"]
        and other["start"] < span.stop
        and span.start < other["end"]
    ]
    for n in range(len(meeting) + 1):
        for chosen in combinations(meeting, n):
            gone = {i for each in chosen for i in each}
            yield part(text, span.start, span.stop, gone, tokens_of)
