from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from neardup import InvalidInputError, PassageIndex
from neardup.files.memory import MemorySource
from neardup.files.rows import ColumnNames
from neardup.passages import index as passage_index
from neardup.passages.documents import ReadOptions
from neardup.passages.scheme import make_passage_scheme
from neardup.runtime.progress import no_progress
from neardup.text.weighting import INVERSE_FREQUENCIES, TERM_FREQUENCIES
from tests.oracles import passages, spans
from tests.oracles import search as oracle
from tests.oracles.hashing import hash_token
from tests.oracles.tokens import Options
from tests.oracles.weighted import document_frequencies
from tests.strategies import GAPS, any_text, assigned_only

Documents = Mapping[str, str]

hash_of = cache(hash_token)


@pytest.fixture(scope="module", autouse=True)
def _as_if_large() -> Iterator[None]:
    """Do not wait for the disk, and let few queries and windows do what else many do."""
    with (
        patch("os.fsync", lambda _: None),
        patch("neardup.passages.lookup._CHUNK", 1),
        patch("neardup.passages.search._CHEAP_ROWS", 0),
        patch("neardup.passages.search._LEAST_OF_SHORT", 2),
        patch("neardup.passages.search._FIRST_ROOM", 1),
    ):
        yield


def hashes(text: str) -> list[int]:
    return [hash_of(word.encode()) for word in text.split()]


@dataclass(frozen=True)
class Case:
    """Documents by id, some of them as queries, too, and how they are hashed."""

    documents: Documents
    queries: list[str]
    min_tokens: int
    num_perm: int
    tf: str = "binary"
    idf: str = "unary"
    threshold: Fraction = Fraction(4, 5)

    @property
    def options(self) -> dict[str, object]:
        names = ("min_tokens", "num_perm", "tf", "idf")
        return {name: getattr(self, name) for name in names} | {"tokenizer": "whitespace"}

    @property
    def scheme(self) -> oracle.Scheme:
        lists = [hashes(text) for text in self.documents.values()]
        counts = document_frequencies(lists)
        names = (self.min_tokens, self.num_perm, self.tf, self.idf)
        return oracle.Scheme(*names, counts=counts, total=len(lists))


def add(folder: Path, documents: Documents, *, cut: int = 100, tokens: int = 1 << 24, workers=1):
    """Add documents that are read ``cut`` at a time; a segment has that many tokens, or more."""
    table = pa.table({"id": list(documents), "text": list(documents.values())})
    passage_index.add_documents(
        folder,
        [
            MemorySource(
                table.cast(pa.schema([("id", "string"), ("text", "string")])), block_rows=cut
            )
        ],
        ReadOptions(ColumnNames("text", "id")),
        workers=workers,
        progress=no_progress,
        segment_tokens=tokens,
    )


@contextlib.contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "index"


@contextlib.contextmanager
def indexed(case: Case, **how) -> Iterator[PassageIndex]:
    with new_folder() as folder:
        PassageIndex.create(folder, **case.options)
        add(folder, case.documents, **how)
        yield PassageIndex.open(folder)


# Those whose hashes are of plain counts half of the time.
weightings = st.sampled_from([("binary", "unary"), ("raw", "unary")]) | st.tuples(
    st.sampled_from(TERM_FREQUENCIES), st.sampled_from(INVERSE_FREQUENCIES)
)

WORDS = ["a", "b", "c", "d", "e", "é", "ß"]


@st.composite
def cases(draw, n_documents=3, longest=12, **fixed):
    words = st.sampled_from(WORDS[: draw(st.integers(2, 4) | st.just(7))])
    texts = draw(st.lists(st.lists(words, max_size=longest), max_size=n_documents))
    queries = []
    for _ in range(draw(st.integers(1, 2))):
        query = draw(st.lists(words | st.just("f"), max_size=6))
        long = [text for text in texts if text]
        if long and draw(st.booleans()):  # a copy, perhaps with a change
            text = draw(st.sampled_from(long))
            start = draw(st.integers(0, len(text) - 1))
            query = text[start : start + draw(st.integers(1, 8))] + query[:1]
        queries.append(query)
    gaps = st.sampled_from([" ", "  ", "\u3000", "\n"])
    case = Case(
        {f"d{i}": draw(gaps).join(text) for i, text in enumerate(texts)},
        [draw(gaps).join(query) for query in queries],
        draw(st.integers(1, 5)),
        draw(st.integers(8, 16)),
        *draw(weightings),
    )
    case = replace(case, **fixed)
    thresholds = [Fraction(t) for t in ("1/3", "1/2", "3/5", "2/3", "3/4", "4/5", "1")]
    reached = {
        Fraction(*similarity)
        for query in case.queries
        for text in case.documents.values()
        for similarity in oracle.similar(
            case.scheme, hashes(query), hashes(text), Fraction(1, 10)
        ).values()
    }
    if reached and draw(st.booleans()):
        thresholds = sorted(reached)
    return replace(case, threshold=draw(st.sampled_from(thresholds)))


recalls = st.sampled_from(["0.99", "0.5", "0.01", "0.9"])


def can_reach(case: Case, recall: str) -> bool:
    return 1 - (1 - case.threshold) ** case.num_perm >= Fraction(recall)


def hits_asked_for(case: Case, recall: Fraction) -> int:
    numbers = range(case.num_perm, 0, -1)
    enough = (
        n for n in numbers if oracle.probability_of_hits(case.num_perm, n, case.threshold) >= recall
    )
    return next(enough)


def places_of(text: str) -> tuple[dict[int, int], dict[int, int]]:
    """Number the tokens by where they start and by where they end."""
    found = [match.span() for match in re.finditer(r"\S+", text)]
    return {a: i for i, (a, _) in enumerate(found)}, {b: i for i, (_, b) in enumerate(found)}


def cells_of_windows(case: Case, table: pa.Table) -> dict[tuple[int, str], list[tuple[int, int]]]:
    """Give the sub-texts of rectangles, with repeats, by query and document."""
    cells: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for row in table.to_pylist():
        starts, ends = places_of(case.documents[row["doc_id"]])
        corners = (
            starts[row["first_start"]],
            starts[row["last_start"]],
            ends[row["first_end"]],
            ends[row["last_end"]],
        )
        key = (int(row["query_id"]), row["doc_id"])
        cells.setdefault(key, []).extend(passages.cells_of(corners))
    return cells


def rows_of(case: Case, found) -> list[dict[str, object]]:
    """Spell out passages: ``found(query number, document id)`` gives the passages of both."""
    rows = []
    for number, query in enumerate(case.queries):
        for name, text in case.documents.items():
            starts, ends = ({n: p for p, n in places.items()} for places in places_of(text))
            rows += [
                {
                    "query_id": str(number),
                    "query_start": min(places_of(query)[0]),
                    "query_end": max(places_of(query)[1]),
                    "doc_id": name,
                    "doc_start": starts[i],
                    "doc_end": ends[j],
                    "similarity": shared / either,
                }
                for i, j, shared, either in found(number, name)
            ]
    return rows


@given(case=cases(), recall=recalls)
def test_search__windows_as_oracle(case, recall):
    assume(can_reach(case, recall))
    least = hits_asked_for(case, Fraction(recall))
    with indexed(case) as index:
        table = index.search(case.queries, case.threshold, recall=recall, report="windows")
    found = cells_of_windows(case, table)
    for number, query in enumerate(case.queries):
        for name, text in case.documents.items():
            common = oracle.common_hashes(case.scheme, hashes(query), hashes(text))
            cells = [
                (i, j) for i, j in found.pop((number, name), []) if i + case.min_tokens <= j + 1
            ]
            assert sorted(cells) == sorted(cell for cell, n in common.items() if n >= least)
    assert not found


@given(case=cases(), report=st.sampled_from(["best", "maximal"]), recall=recalls)
@settings(max_examples=100)
def test_search__candidates_as_oracle(case, report, recall):
    """Compare the sub-texts between the candidates of each start with the query."""
    assume(can_reach(case, recall))
    with indexed(case) as index:
        windows = index.search(case.queries, case.threshold, recall=recall, report="windows")
        table = index.search(case.queries, case.threshold, recall=recall, report=report)
    candidates = cells_of_windows(case, windows)
    choose = passages.picked if report == "best" else passages.maximal

    def found(number, name):
        query, tokens = hashes(case.queries[number]), hashes(case.documents[name])
        rows = oracle.hull_rows(candidates.get((number, name), []), len(tokens))
        return choose(oracle.similar(case.scheme, query, tokens, case.threshold, rows))

    assert table.to_pylist() == rows_of(case, found)


@given(case=cases(num_perm=16), report=st.sampled_from(["best", "maximal"]))
@settings(max_examples=100)
def test_search__everything_as_oracle(case, report):
    """Ask for one common min-hash, or hardly more, which nearly all similar sub-texts have."""
    recall = Fraction(int((1 - (1 - case.threshold) ** case.num_perm) * 10**9), 10**9)
    least = hits_asked_for(case, recall)
    with indexed(case) as index:
        table = index.search(case.queries, case.threshold, recall=recall, report=report)
    choose = passages.picked if report == "best" else passages.maximal

    def found(number, name):
        query, tokens = hashes(case.queries[number]), hashes(case.documents[name])
        cells = oracle.similar(case.scheme, query, tokens, case.threshold)
        common = oracle.common_hashes(case.scheme, query, tokens)
        assume(all(common[cell] >= least for cell in cells))
        return choose(cells)

    assert table.to_pylist() == rows_of(case, found)


def answers(index: PassageIndex, case: Case, recall: str, workers: int = 1) -> list[pa.Table]:
    """Give the tables of all reports; a thread takes a single query at a time."""
    return [
        index.search(
            case.queries * 2, case.threshold, recall=recall, report=report, workers=workers
        )
        for report in ("best", "maximal", "windows")
    ]


@given(
    case=cases(n_documents=6),
    recall=recalls,
    cut=st.integers(1, 3),
    tokens=st.integers(1, 30),
    workers=st.integers(1, 3),
)
@settings(max_examples=40)
def test_search__same_for_all_workers_and_segments(case, recall, cut, tokens, workers):
    assume(can_reach(case, recall))
    with indexed(case) as index:
        expected = answers(index, case, recall)
        assert answers(index, case, recall, workers=2) == expected
        assert answers(index, case, recall, workers=3) == expected
    with indexed(case, cut=cut, tokens=tokens, workers=workers) as index:
        assert answers(index, case, recall, workers) == expected
        assert index.compact(workers=workers) <= 1
        assert answers(index, case, recall) == expected


@given(case=cases(n_documents=6, idf="unary"), recall=recalls, data=st.data())
@settings(max_examples=40)
def test_search__same_however_it_came_about(case, recall, data):
    assume(can_reach(case, recall))
    names = list(case.documents)
    removed = set(data.draw(st.lists(st.sampled_from(names)))) if names else set()
    first = data.draw(st.integers(0, len(names)))
    kept = {name: text for name, text in case.documents.items() if name not in removed}
    with indexed(case) as index, indexed(replace(case, documents=kept)) as other:
        everything, expected = answers(index, case, recall), answers(other, case, recall)
        parts = [dict(list(case.documents.items())[a:b]) for a, b in ((0, first), (first, 99))]
        with indexed(replace(case, documents=parts[0])) as grown:
            add(grown.folder, parts[1], cut=1, tokens=8)
            grown = PassageIndex.open(grown.folder)
            assert answers(grown, case, recall) == everything
            assert grown.remove(sorted(removed)) == len(removed)
            assert len(grown) == len(kept)
            assert answers(grown, case, recall) == expected
            shutil.copytree(grown.folder, grown.folder.parent / "again")
            grown.compact()
            assert answers(grown, case, recall) == expected
            assert grown.info()["removed_documents"] == 0
            # What was removed may come back, before its room is free.
            back = {name: text for name, text in case.documents.items() if name in removed}
            add(grown.folder.parent / "again", back)
            again = PassageIndex.open(grown.folder.parent / "again")
            assert len(again) == len(names)
            again.remove(list(back))
            assert answers(again, case, recall) == expected


@given(case=cases(n_documents=6), data=st.data())
@settings(max_examples=30)
def test_search__removed_documents_keep_their_frequencies(case, data):
    assume(can_reach(case, "0.9"))
    names = list(case.documents)
    assume(names)
    gone = data.draw(st.sampled_from(names))
    with indexed(case, cut=2, tokens=5) as index:
        expected = [
            table.filter(pa.compute.not_equal(table["doc_id"], gone))
            for table in answers(index, case, "0.9")
        ]
        index.remove([gone])
        assert answers(index, case, "0.9") == expected
        index.compact()
        assert answers(index, case, "0.9") == expected
        assert PassageIndex.open(index.folder).info()["documents"] == len(names) - 1


FOREIGN = ["naïve", "nai\u0308ve", "STRASSE", "straße", "日本語", "ไทย", "ﬁne", "ｆｕｌｌ", "Å"]
FOREIGN += ["\u212b", "가", "가각", "x_6", "½", "①", "\U0001f600", "a", "b", "\u0301"]


@given(
    words=st.lists(st.sampled_from(FOREIGN), min_size=1, max_size=25),
    gap=st.sampled_from([" ", "", *GAPS, " \u0301", "…"]),
    texts=st.lists(any_text, max_size=2),
    kind=st.sampled_from(["words", "whitespace", "characters"]),
    form=st.sampled_from([None, "NFC", "NFKC"]),
    casefold=st.booleans(),
    accents=st.booleans(),
    data=st.data(),
)
@settings(max_examples=200)
def test_search__places_are_those_of_the_tokens(
    words, gap, texts, kind, form, casefold, accents, data
):
    chosen = Options(casefold, form, accents)
    texts = [assigned_only(text) for text in (gap.join(words), *texts)]
    located = [spans.locate(text, kind, chosen) for text in texts]
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text)))
    query = text[start : start + data.draw(st.integers(0, 12))]
    scheme = make_passage_scheme(
        min_tokens=2, num_perm=8, tokenizer=kind, casefold=casefold, unicode_form=form,
        strip_accents=accents, tf="raw",
    )  # fmt: skip
    with new_folder() as folder:
        passage_index.create(folder, scheme)
        add(folder, {str(i): text for i, text in enumerate(texts)}, cut=2, tokens=1)
        index = PassageIndex.open(folder)
        table = index.search([query], Fraction(1, 2), recall="0.99", with_text=True)
        assert len(index) == len(texts)
    for row in table.to_pylist():
        number = int(row["doc_id"])
        tokens, text = located[number], texts[number]
        assert row["doc_text"] == text[row["doc_start"] : row["doc_end"]]
        assert row["query_text"] == query[row["query_start"] : row["query_end"]]
        assert (row["query_start"], row["query_end"]) == all_of(query, kind, chosen)
        edges = [len(text[: row[name]].encode()) for name in ("doc_start", "doc_end")]
        # Of several tokens of one character, it may be that only some belong to the passage.
        firsts = [i for i, token in enumerate(tokens) if token[1] == edges[0]]
        lasts = [i for i, token in enumerate(tokens) if token[2] == edges[1]]
        if len(firsts) > 1 or len(lasts) > 1:
            continue
        inside = [token for token, _, _ in tokens[firsts[0] : lasts[0] + 1]]
        again = [token for token, _, _ in spans.locate(row["doc_text"], kind, chosen)]
        if not is_changed_by_neighbours(text, row["doc_start"], row["doc_end"], chosen):
            assert again == inside
        wanted = [token for token, _, _ in spans.locate(query, kind, chosen)]
        assert row["similarity"] == pytest.approx(multiset_jaccard(inside, wanted))


def all_of(text: str, kind: str, chosen: Options) -> tuple[int, int]:
    """Tell where the first token starts and the last one ends, in characters."""
    tokens = spans.locate(text, kind, chosen)
    data = text.encode()
    return len(data[: tokens[0][1]].decode()), len(data[: tokens[-1][2]].decode())


def is_changed_by_neighbours(text: str, start: int, end: int, chosen: Options) -> bool:
    """Tell whether normalisation of a cut-out text may differ because of what is around it."""
    import unicodedata

    if chosen.unicode_form is None:
        return False
    parts = (text[:start], text[start:end], text[end:])
    whole = unicodedata.normalize(chosen.unicode_form, text)
    return whole != "".join(unicodedata.normalize(chosen.unicode_form, part) for part in parts)


def multiset_jaccard(x: list[bytes], y: list[bytes]) -> float:
    kinds = {*x, *y}
    shared = sum(min(x.count(kind), y.count(kind)) for kind in kinds)
    return shared / sum(max(x.count(kind), y.count(kind)) for kind in kinds)


@pytest.mark.parametrize("idf", INVERSE_FREQUENCIES)
@pytest.mark.parametrize("tf", TERM_FREQUENCIES)
def test_search__copies_share_all_hashes(tf, idf):
    copy = "a a a a b b b c c d e"
    documents = {"d0": f"f g {copy} g f", "d1": "b c", "d2": "a b c d", "d3": "f", "d4": "g"}
    case = Case(documents | {f"x{i}": "h" for i in range(9)}, [copy], 3, 16, tf, idf)
    with indexed(case) as index:
        (row,) = index.search([copy], 1, recall=1).to_pylist()
    found = documents["d0"][row["doc_start"] : row["doc_end"]]
    assert (row["doc_id"], found, row["similarity"]) == ("d0", copy, 1)


def test_add__id_of_another_segment():
    case = Case({"x": "a b c d", "y": "b c d e"}, ["a b c d"], 2, 8)
    with new_folder() as folder:
        PassageIndex.create(folder, **case.options)
        rows = pa.table({"id": ["x", "y", "x"], "text": ["a b", "c d", "e f"]})
        source = MemorySource(rows, block_rows=1)
        options = ReadOptions(ColumnNames("text", "id"))
        with pytest.raises(InvalidInputError, match="id 'x' is in the index already, or comes twi"):
            passage_index.add_documents(
                folder, [source], options, workers=1, progress=no_progress, segment_tokens=1
            )
        assert len(PassageIndex.open(folder)) == 0
        add(folder, case.documents, cut=1, tokens=1)
        with pytest.raises(InvalidInputError, match="id 'y' is in the index already"):
            add(folder, {"y": "a"})


def test_search__order_of_rows():
    """Queries, then documents, then places; also over many segments."""
    documents = {f"d{i}": " ".join(["a b c d", "x" * (i + 1)] * 3) for i in range(7)}
    case = Case(documents, ["a b c d", "c d", "a b"], 2, 16, tf="raw", threshold=Fraction(1))
    with indexed(case, cut=1, tokens=1) as index:
        for report, column in (("best", "doc_start"), ("windows", "first_start")):
            rows = index.search(case.queries, "0.9", report=report).to_pylist()
            keys = [(row["query_id"], row["doc_id"], row[column]) for row in rows]
            assert keys == sorted(keys)
            assert len({key[:2] for key in keys}) == 21


def test_search__windows_of_shorter_passages():
    """Windows are told whole, also where only passages that are too short for a search begin."""
    options = {"min_tokens": 5, "num_perm": 8, "seed": 1, "tokenizer": "whitespace"}
    with new_folder() as folder:
        index = PassageIndex.create(folder, **options)
        index.add(["c k a o g f d i h"])
        found, none = (
            index.search(["o g f"], "0.6", recall="0.5", report=report).to_pylist()
            for report in ("windows", "best")
        )
    (row,) = found
    names = ("first_start", "last_start", "first_end", "last_end")
    assert [row[name] for name in names] == [6, 6, 11, 13]
    assert none == []
