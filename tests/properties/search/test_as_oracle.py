"""Every report of a search against brute force over all sub-texts."""

from __future__ import annotations

import random
from fractions import Fraction
from unittest.mock import patch

from hypothesis import assume, given
from hypothesis import strategies as st

from neardup import PassageIndex
from tests.calls import grouped
from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES, each_of
from tests.examples import examples
from tests.oracles import passages
from tests.oracles import search as oracle
from tests.properties.search.cases import (
    Case,
    can_reach,
    cases,
    hits_asked_for,
    indexed,
    new_folder,
    recalls,
    rows_of,
    windows_of,
)

MOST_TIMES = "neardup.options.passage_options.MOST_TIMES"


@given(case=cases(), recall=recalls)
def test_search__windows_as_oracle(case, recall):
    assume(can_reach(case, recall))
    least = hits_asked_for(case, Fraction(recall))
    with indexed(case) as index:
        n_hits, found = windows_of(index, case.queries, case.threshold, recall=recall)
    assert n_hits == least
    for number, query in enumerate(case.queries):
        for name, text in case.documents.items():
            common = oracle.common_hashes(case.scheme, case.hashes(query), case.hashes(text))
            cells = {
                (i, j): n
                for (i, j), n in found.pop((number, name), {}).items()
                if i + case.scheme.min_tokens <= j + 1
            }
            assert cells == {cell: n for cell, n in common.items() if n >= least}
    assert not found


@given(case=cases(), recall=recalls)
@examples(100)
def test_search__candidates_as_oracle(case, recall):
    """Compare the sub-texts between the candidates of each start with the query."""
    assume(can_reach(case, recall))
    with indexed(case) as index:
        _, candidates = windows_of(index, case.queries, case.threshold, recall=recall)
        table = index.search(case.queries, case.threshold, recall=recall).passages

    def found(number, name):
        query, tokens = case.hashes(case.queries[number]), case.hashes(case.documents[name])
        rows = oracle.hull_rows(candidates.get((number, name), {}), len(tokens))
        return case.picked(oracle.similar(case.scheme, query, tokens, case.threshold, rows))

    assert table.to_pylist() == rows_of(case, found)


@given(
    case=cases() | cases(num_perm=0, longest=40),
    tokens=st.sampled_from([1 << 24, 20]),
)
@examples(100)
def test_search__all_that_is_similar_as_oracle(case, tokens):
    """Compare all that may be similar, so that nothing is missed."""
    asked = {"recall": 1} if case.num_perm else {}
    with indexed(case, cut=1, tokens=tokens) as index:
        found = index.search(case.queries, case.threshold, **asked)
    assert (found.summary["least_hits"], found.summary["predicted_recall"]) == (0, 1)

    def similar(number, name):
        query, tokens = case.hashes(case.queries[number]), case.hashes(case.documents[name])
        return case.picked(oracle.similar(case.scheme, query, tokens, case.threshold))

    assert found.passages.to_pylist() == rows_of(case, similar)


@given(
    case=cases(ngram=1) | cases(num_perm=0, longest=40),
    times=st.integers(1, 6),
    tokens=st.sampled_from([1 << 24, 20]),
)
@examples(150)
def test_search__all_that_holds_a_share_as_oracle(case, times, tokens):
    with indexed(case, cut=1, tokens=tokens) as index, patch(MOST_TIMES, times):
        found = index.search(case.queries, case.threshold, measure="containment")
    assert (found.summary["least_hits"], found.summary["predicted_recall"]) == (0, 1)

    def holding(number, name):
        query, tokens = case.hashes(case.queries[number]), case.hashes(case.documents[name])
        cells, total = oracle.holding(case.scheme, query, tokens, case.threshold, times)
        picked = passages.picked_holding(cells, total, times, case.ngram - 1)
        return [(i, j, cells[i, j][0], total) for i, j, _, _ in picked]

    assert found.passages.to_pylist() == rows_of(case, holding)


@each_of("times", [1, 2, 3, 30])
def test_search__as_heavy_as_it_may_be(times):
    """Two words of a query, as far apart as the passage that holds them may be long, or more."""
    for gap in range(max(2 * times - 5, 0), 2 * times + 3):
        text = " ".join(["x", "a", *(f"y{i}" for i in range(gap)), "b", "x"])
        case = Case({"d0": text}, ["a b"], 2, 0, tf="raw", threshold=Fraction(1))
        with indexed(case) as index, patch(MOST_TIMES, times):
            found = index.search(case.queries, 1, measure="containment")
        assert len(found.passages) == (gap + 2 <= 2 * times)


@each_of("seed", range(6))
def test_search__all_that_is_similar_in_long_texts(seed):
    """Starts of passages follow each other over more tokens than are bounded together."""
    rng = random.Random(seed)
    text, query = (" ".join(rng.choices("abcd", k=k)) for k in (90, 12))
    case = Case({"d0": text}, [query], 2, 0, tf="raw", threshold=Fraction(3, 5))
    with indexed(case) as index:
        table = index.search([query], case.threshold).passages
    cells = oracle.similar(case.scheme, case.hashes(query), case.hashes(text), case.threshold)
    assert table.to_pylist() == rows_of(case, lambda *_: case.picked(cells))
    assert len(table) > 1


@each_of("share", [Fraction(share) for share in ("1/4", "1/3", "1/2", "2/3", "4/5")])
def test_search__passages_at_the_threshold_of_any_weight(share):
    """All words of a query, in other order and with so many more between them, far from others."""
    queries, passages_of, documents, rng = [], {}, {}, random.Random(1)
    for n in range(4, 29, 4):
        words = [f"q{n}_{i}" for i in range(n)]
        inner = [*words[2:], *(f"m{n}_{i}" for i in range(int(n / share) - n))]
        rng.shuffle(inner)
        passage = " ".join([words[0], *inner, words[1]])
        before, behind = (" ".join(f"{side}{n}_{i}" for i in range(150)) for side in "lr")
        documents[f"d{n}"] = f"{before} {passage} {behind}"
        passages_of[f"d{n}"] = (len(before) + 1, len(before) + 1 + len(passage))
        queries.append(" ".join(words))
    with indexed(Case(documents, queries, 1, 0)) as index:
        found = index.search(queries, share).passages.to_pylist()
    # All of a passage, or a part of it that is more similar.
    for name, (start, end) in passages_of.items():
        assert any(
            row["doc_id"] == name and start <= row["doc_start"] and row["doc_end"] <= end
            for row in found
        )


@each_of("n", [6, 12, 40, 100])
@each_of("k", [2, 4, 5])
def test_search__passages_lighter_than_most_places(n, k):
    """A few words of a query again and again, between as many words that stand once each."""
    words, rng = [f"q{i}" for i in range(n)], random.Random(n)
    passage = words[:k] + rng.choices(words[:k], k=n - k)
    around = [" ".join(f"{side}{i}" for i in range(500)) for side in "lr"]
    case = Case({"d0": " ".join([around[0], *passage, around[1]])}, [" ".join(words)], n, 0)
    with indexed(case) as index:
        found = index.search(case.queries, Fraction(k, n)).passages
    (row,) = found.to_pylist()
    start = len(around[0]) + 1
    assert (row["doc_start"], row["doc_end"]) == (start, start + len(" ".join(passage)))


@given(case=cases(num_perm=16))
@examples(100)
def test_search__nearly_everything_as_oracle(case):
    """Ask for one common min-hash, or hardly more, which nearly all similar sub-texts have."""
    recall = Fraction(int((1 - (1 - case.threshold) ** case.num_perm) * 10**9), 10**9)
    least = hits_asked_for(case, recall)
    with indexed(case) as index:
        table = index.search(case.queries, case.threshold, recall=recall).passages

    def found(number, name):
        query, tokens = case.hashes(case.queries[number]), case.hashes(case.documents[name])
        cells = oracle.similar(case.scheme, query, tokens, case.threshold)
        common = oracle.common_hashes(case.scheme, query, tokens)
        assume(all(common[cell] >= least for cell in cells))
        return case.picked(cells)

    assert table.to_pylist() == rows_of(case, found)


@each_of("idf", INVERSE_FREQUENCIES)
@each_of("tf", TERM_FREQUENCIES)
def test_search__copies_share_all_hashes(tf, idf):
    copy = "a a a a b b b c c d e"
    documents = {"d0": f"f g {copy} g f", "d1": "b c", "d2": "a b c d", "d3": "f", "d4": "g"}
    case = Case(documents | {f"x{i}": "h" for i in range(9)}, [copy], 3, 16, tf, idf)
    with indexed(case) as index:
        (row,) = index.search([copy], 1, recall=1).passages.to_pylist()
    found = documents["d0"][row["doc_start"] : row["doc_end"]]
    assert (row["doc_id"], found, row["similarity"]) == ("d0", copy, 1)


def test_search__order_of_rows():
    """Queries, then documents, then places; also over many segments."""
    documents = {f"d{i}": " ".join(["a b c d", "x" * (i + 1)] * 3) for i in range(7)}
    case = Case(documents, ["a b c d", "c d", "a b"], 2, 16, tf="raw", threshold=Fraction(1))
    with indexed(case, cut=1, tokens=1) as index:
        rows = index.search(case.queries, "0.9").passages.to_pylist()
    keys = [(row["query_id"], row["doc_id"], row["doc_start"]) for row in rows]
    assert keys == sorted(keys)
    assert len({key[:2] for key in keys}) == 21


@each_of("query", ["a b c", "b b b", "a b a"])
@each_of("ngram", [2, 3])
def test_search__passages_of_shingles_share_no_token(query, ngram):
    documents = {"d0": query, "d1": query, "d2": f"{query} {query.split(' ', 1)[1]}", "d3": query}
    case = Case(documents, [query], ngram, 16, tf="raw", threshold=Fraction(1), ngram=ngram)
    with indexed(case) as index:
        rows = index.search([query], "1", recall="1").passages.to_pylist()
    assert [(row["doc_id"], row["doc_start"], row["doc_end"]) for row in rows] == [
        (name, 0, 5) for name in documents
    ]


def test_search__windows_of_shorter_passages():
    """Windows are listed whole, also where only passages too short for a search begin."""
    case = Case({"0": "c k a o g f d i h"}, ["o g f"], 5, 8, threshold=Fraction(3, 5))
    with new_folder() as folder:
        index = PassageIndex.create(folder, **grouped(seed=1, **case.options))
        index.add(list(case.documents.values()))
        _, found = windows_of(index, case.queries, case.threshold, recall="0.5")
        assert len(index.search(case.queries, "0.6", recall="0.5").passages) == 0
    assert found == {(0, "0"): {(3, 5): 6, (3, 6): 5}}
