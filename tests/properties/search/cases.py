"""Documents and queries for passage searches, and what is found in them spelt out."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from neardup import PassageIndex
from neardup.files.memory import MemorySource
from neardup.files.rows import ColumnNames
from neardup.kernels.passage.segment_kernels import SegmentWindows
from neardup.passages.document_blocks import DocumentReading
from neardup.passages.open_passages import PassageHandle
from neardup.passages.search_plan import make_search_plan
from neardup.passages.windows import gather_queries
from neardup.runs.runner import Runner
from neardup.tables import Texts, Uint64s
from tests.calls import grouped
from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES
from tests.oracles import passages
from tests.oracles import search as oracle
from tests.oracles.hashing import hash_shingles, hash_token
from tests.oracles.shingles import shingle_tuples
from tests.oracles.weighted import document_frequencies

Documents = Mapping[str, str]

hash_of = cache(hash_token)


def hashes(text: str, ngram: int = 1) -> list[int]:
    tokens = [hash_of(word.encode()) for word in text.split()]
    return tokens if ngram == 1 else hash_shingles(tokens, ngram)


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
    ngram: int = 1

    @property
    def options(self) -> dict[str, object]:
        names = ("min_tokens", "num_perm", "tf", "idf", "ngram")
        return {name: getattr(self, name) for name in names} | {"tokenizer": "whitespace"}

    @property
    def scheme(self) -> oracle.Scheme:
        lists = [self.hashes(text) for text in self.documents.values()]
        counts = document_frequencies(lists)
        names = (self.min_tokens - self.ngram + 1, self.num_perm, self.tf, self.idf)
        return oracle.Scheme(*names, counts=counts, total=len(lists))

    def hashes(self, text: str) -> list[int]:
        return hashes(text, self.ngram)

    def picked(self, cells: Mapping[passages.Cell, tuple[int, int]]) -> list[passages.Passage]:
        """Passages that have no token in common, of those that are given by their shingles."""
        return passages.picked(cells, self.ngram - 1)

    def places_of(self, text: str) -> tuple[dict[int, int], dict[int, int]]:
        """Number the shingles by where they start and by where they end."""
        found = [match.span() for match in re.finditer(r"\S+", text)]
        shingles = [(run[0][0], run[-1][1]) for run in shingle_tuples(found, self.ngram)]
        return {a: i for i, (a, _) in enumerate(shingles)}, {
            b: i for i, (_, b) in enumerate(shingles)
        }


def add(folder: Path, documents: Documents, *, cut: int = 100, tokens: int = 1 << 24, workers=1):
    """Add documents that are read ``cut`` at a time; a segment has that many tokens, or more."""
    table = pa.table({"id": list(documents), "text": list(documents.values())})
    table = table.cast(pa.schema([("id", "string"), ("text", "string")]))
    reading = DocumentReading(ColumnNames("text", "id"))
    with patch("neardup.passages.open_passages.SEGMENT_TOKENS", tokens):
        source = MemorySource(table, block_rows=cut)
        PassageHandle(folder).add([source], reading, Runner(workers))


@contextlib.contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "index"


@contextlib.contextmanager
def indexed(case: Case, **how) -> Iterator[PassageIndex]:
    with new_folder() as folder:
        PassageIndex.create(folder, **grouped(**case.options))
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
        ngram=draw(st.sampled_from([1, 1, 2, 3])),
    )
    case = replace(case, **fixed)
    case = replace(case, min_tokens=max(case.min_tokens, case.ngram))
    thresholds = [Fraction(t) for t in ("1/3", "1/2", "3/5", "2/3", "3/4", "4/5", "1")]
    reached = {
        Fraction(*similarity)
        for query in case.queries
        for text in case.documents.values()
        for similarity in oracle.similar(
            case.scheme, case.hashes(query), case.hashes(text), Fraction(1, 10)
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


def windows_of(
    index: PassageIndex,
    queries: list[str],
    threshold: Fraction,
    *,
    recall: str | Fraction | None = None,
) -> tuple[int, dict[tuple[int, str], dict[passages.Cell, int]]]:
    """Find all sub-texts with enough common min-hashes, as the paper does.

    Returns the least number of them, and by query and document each sub-text with its number.
    """
    view = index._handle.view(Runner(1))
    recall = None if recall is None else Fraction(recall)
    plan = make_search_plan(view.scheme, threshold, recall)
    tokens, _ = view.scheme.tokenizer.locate_tokens(Texts.from_arrow(pa.array(queries)))
    ends = tokens.offsets[:-1], tokens.offsets[1:]
    asked = gather_queries(tokens.values, *ends, view.scheme, view.frequencies)
    keys, have_weight = asked.hash(np.arange(len(queries)))
    cells: dict[tuple[int, str], dict[passages.Cell, int]] = {}
    for segment, query in product(view.segments, np.flatnonzero(have_weight).tolist()):
        windows: dict[int, list[passages.Window]] = {}
        for window in _windows_with(segment.windows, keys[query]):
            document = int(np.searchsorted(segment.offsets, window[0], side="right")) - 1
            first = int(segment.offsets[document])
            windows.setdefault(document, []).append(tuple(corner - first for corner in window))
        for document, own in windows.items():
            if counted := passages.counted_cells(own, plan.hits):
                cells[query, segment.ids[document].as_py()] = counted
    return plan.hits, cells


def _windows_with(index: SegmentWindows, keys: Uint64s) -> Iterator[passages.Window]:
    """Yield the windows that have the min-hash of their function."""
    for function, key in enumerate(keys):
        first, stop = index.key_starts[function : function + 2].tolist()
        places = first + np.flatnonzero(index.keys[first:stop] == key)
        for row in places.tolist():
            yield tuple(accumulate(map(int, (index.starts[row], *index.spans[row]))))


def rows_of(case: Case, found) -> list[dict[str, object]]:
    """Spell out passages: ``found(query number, document id)`` gives the passages of both."""
    rows = []
    for number, query in enumerate(case.queries):
        for name, text in case.documents.items():
            starts, ends = ({n: p for p, n in places.items()} for places in case.places_of(text))
            rows += [
                {
                    "query_id": str(number),
                    "query_start": min(case.places_of(query)[0]),
                    "query_end": max(case.places_of(query)[1]),
                    "doc_id": name,
                    "doc_start": starts[i],
                    "doc_end": ends[j],
                    "similarity": shared / either,
                }
                for i, j, shared, either in found(number, name)
            ]
    return rows
