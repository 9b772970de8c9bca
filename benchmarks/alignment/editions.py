"""Long texts with known alignments, for the section ``alignment``.

They are read from the folder that the environment variable NEARDUP_ALIGNMENT names. It has a folder
for each set; without it nothing is measured. Texts are ``jsonl.xz`` files:

- ``frankenstein-editions``: ``chapters`` with doc, witness, text and segs, a list of [unit of the
  collation, start, end]; ``chapter-pairs.tsv`` with doc_a, doc_b, a_start, a_end, b_start, b_end.
- ``shakespeare-editions``: ``plays`` with work, edition (modern or folio1623) and text.
- ``bible-en-ot``: ``verses.tsv.xz`` with id, book and a column for each translation.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

from benchmarks.alignment.plagdet import Passage
from benchmarks.corpora.lines import read_rows, read_table

FOLDER_VARIABLE = "NEARDUP_ALIGNMENT"
HALVES = ("chosen on", "reported")

Text = dict[str, str]
# Middle of a word, verse or unit of a query; document and middle of its counterpart.
Anchor = tuple[int, str, int]

TRANSLATIONS = (("asv", "kjv"), ("web", "asv"), ("web", "kjv"), ("ylt", "kjv"))
# Long texts are looked up for minutes, so of these sets a sample is read.
PLAYS, BOOKS = 4, 5


@dataclass
class Aligned:
    """Two collections with known alignments.

    ``cases`` are the aligned passages. ``anchors`` align smaller parts, by
    query, in order.
    """

    name: str
    queries: list[Text]
    documents: list[Text]
    cases: list[Passage] = field(default_factory=list)
    anchors: dict[str, list[Anchor]] = field(default_factory=dict)


def folder() -> Path | None:
    """Return the folder of the sets, if there is one."""
    given = os.environ.get(FOLDER_VARIABLE)
    return Path(given) if given else None


def half_of(identity: str) -> str:
    """Return which half something belongs to, by a digest of its id."""
    return HALVES[_digest(identity)[0] & 1]


def sample_of(identities: Iterable[str], half: str, size: int) -> list[str]:
    """Take some of one half, by their digests."""
    of_half = [identity for identity in identities if half_of(identity) == half]
    return sorted(of_half, key=_digest)[:size]


def frankenstein(root: Path, half: str) -> Iterator[Aligned]:
    """Pair five witnesses of the novel; halves are by the query's chapter."""
    chapters: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in read_rows(root / "frankenstein-editions" / "chapters.jsonl.xz"):
        chapters[row["witness"]][row["doc"]] = row
    cases: list[Passage] = []
    for row in read_table(root / "frankenstein-editions" / "chapter-pairs.tsv"):
        places = [int(row[name]) for name in ("a_start", "a_end", "b_start", "b_end")]
        cases.append(Passage(row["doc_a"], *places[:2], row["doc_b"], *places[2:]))
    for first, second in combinations(("f1818", "fThomas", "f1823", "f1831", "fMS"), 2):
        queries, documents = chapters[first], chapters[second]
        of_witnesses = [
            case if case.query in queries else _turned(case)
            for case in cases
            if (case.query in queries and case.document in documents)
            or (case.query in documents and case.document in queries)
        ]
        places = {
            unit: (name, (start + stop) // 2)
            for name, row in documents.items()
            for unit, start, stop in row["segs"]
        }
        anchors = {
            name: sorted(
                ((start + stop) // 2, *places[unit])
                for unit, start, stop in row["segs"]
                if unit in places
            )
            for name, row in queries.items()
        }
        kind = "light revision"
        if "f1831" in (first, second):
            kind = "heavy revision"
        if second == "fMS":
            kind = "manuscript"
        yield _take_half(
            Aligned(
                f"frankenstein: {kind}",
                [{"id": name, "text": row["text"]} for name, row in queries.items()],
                [{"id": name, "text": row["text"]} for name, row in documents.items()],
                of_witnesses,
                anchors,
            ),
            half,
        )


def shakespeare(root: Path, half: str) -> Iterator[Aligned]:
    """Pair modern plays with those of 1623; halves are by the play."""
    plays: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_rows(root / "shakespeare-editions" / "plays.jsonl.xz"):
        plays[row["edition"]][row["work"]] = row["text"]
    modern, folio = plays["modern"], plays["folio1623"]
    chosen = sample_of(modern, half, PLAYS)
    yield Aligned(
        "shakespeare",
        [{"id": work, "text": modern[work]} for work in chosen],
        [{"id": work, "text": folio[work]} for work in chosen],
        [Passage(work, 0, len(modern[work]), work, 0, len(folio[work])) for work in chosen],
        {work: _equal_words(modern[work], folio[work], work) for work in chosen},
    )


def bible(root: Path, half: str) -> Iterator[Aligned]:
    """Pair translations of the Old Testament, a book being a document; halves are by the book."""
    verses = read_table(root / "bible-en-ot" / "verses.tsv.xz")
    chosen = set(sample_of({row["book"] for row in verses}, half, BOOKS))
    rows = [row for row in verses if row["book"] in chosen]
    for first, second in TRANSLATIONS:
        texts: dict[str, dict[str, list[str]]] = {
            first: defaultdict(list),
            second: defaultdict(list),
        }
        places: dict[str, dict[tuple[str, str], int]] = {first: {}, second: {}}
        for translation, books in texts.items():
            reached: dict[str, int] = defaultdict(int)
            for row in rows:
                book, verse = row["book"], row[translation] or ""
                if verse:
                    books[book].append(verse)
                    places[translation][book, row["id"]] = reached[book] + len(verse) // 2
                    reached[book] += len(verse) + 1
        anchors: dict[str, list[Anchor]] = defaultdict(list)
        for (book, verse), middle in places[first].items():
            if (book, verse) in places[second]:
                anchors[book].append((middle, book, places[second][book, verse]))
        queries = {book: "\n".join(verses) for book, verses in texts[first].items()}
        documents = {book: "\n".join(verses) for book, verses in texts[second].items()}
        yield Aligned(
            f"bible: {first.upper()} and {second.upper()}",
            [{"id": book, "text": text} for book, text in queries.items()],
            [{"id": book, "text": text} for book, text in documents.items()],
            [
                Passage(book, 0, len(text), book, 0, len(documents[book]))
                for book, text in queries.items()
            ],
            anchors,
        )


def _digest(identity: str) -> bytes:
    return hashlib.sha256(identity.encode()).digest()


def _turned(case: Passage) -> Passage:
    return Passage(
        *(case.document, case.start, case.stop), *(case.query, case.query_start, case.query_stop)
    )


def _take_half(aligned: Aligned, half: str) -> Aligned:
    return Aligned(
        aligned.name,
        [query for query in aligned.queries if half_of(query["id"]) == half],
        aligned.documents,
        [case for case in aligned.cases if half_of(case.query) == half],
        {name: found for name, found in aligned.anchors.items() if half_of(name) == half},
    )


def _equal_words(modern: str, folio: str, work: str) -> list[Anchor]:
    """Align two spellings of a play, and return the equal words."""
    query, document = list(_find_words(modern)), list(_find_words(folio))
    first = [_respell(match.group()) for match in query]
    second = [_respell(match.group()) for match in document]
    anchors: list[Anchor] = []
    for edit in Levenshtein.opcodes(first, second):
        if edit.tag == "equal":
            for i in range(edit.src_end - edit.src_start):
                one, other = query[edit.src_start + i], document[edit.dest_start + i]
                middles = [(match.start() + match.end()) // 2 for match in (one, other)]
                anchors.append((middles[0], work, middles[1]))
    return anchors


_find_words = re.compile(r"\w+").finditer


def _respell(word: str) -> str:
    """Fold the old spelling of a word: u and v, i, j and y, double letters, final e.

    Vowels inside go too, because ``beene`` and ``been`` are one word.
    """
    folded = word.casefold().replace("v", "u").replace("j", "i").replace("y", "i")
    folded = re.sub(r"(.)\1+", r"\1", folded.replace("'", ""))
    return folded[:1] + re.sub(r"[aeiou]", "", folded[1:])
