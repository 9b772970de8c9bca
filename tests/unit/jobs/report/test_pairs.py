"""The page of pairs says what the table has, with texts and labels or without."""

from __future__ import annotations

import re
from html import unescape
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError
from neardup.files.memory import MemorySource
from neardup.files.rows import ColumnNames
from neardup.jobs.report.report import report_of_pairs
from neardup.outputs.table_rows import TableRows
from neardup.reports.pairs.judgements import read_judgements
from neardup.reports.pairs.table import MOST_LISTED, PairsTable, partners_of
from neardup.runs import totals
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from neardup.stages.tables import Collection
from tests.each import each_of
from tests.oracles.evaluation import figures

LEFT = [
    {"id": "f1", "text": "art delis restaurant", "city": "la"},
    {"id": "f2", "text": "blue moon grill", "city": "ny"},
    {"id": "f3", "text": "cafe bizou", "city": "la"},
    {"id": "f4", "text": "the palm", "city": "la"},
]
RIGHT = [
    {"id": "z1", "text": "art delis restaurant", "city": "la"},
    {"id": "z2", "text": "blue moon bar", "city": "ny"},
    {"id": "z3", "text": "cafe bizou of la", "city": "la"},
    {"id": "z4", "text": "palm", "city": "la"},
    {"id": "z5", "text": "grill of the moon", "city": "la"},
]
RIGHT_PAIRS = [("f1", "z1"), ("f2", "z2"), ("f3", "z3"), ("f4", "z9")]


def collection(rows):
    return Collection([MemorySource(pa.Table.from_pylist(rows))], ColumnNames(id="id"))


def labels_of(pairs, **more):
    a, b = zip(*pairs, strict=True)
    return pa.table({"id_a": a, "id_b": b, **more})


def found(left=LEFT, right=RIGHT, **options):
    chosen = {"ngram": 1, "threshold": "0.2"} | options
    return neardup.find_pairs(left, right, **chosen)


def rendered(table, summary=None, own=None, other=None, labels=None):
    rows = TableRows.of_table(table)
    known = None if labels is None else read_judgements(labels).decided()
    with Runner(1) as runner:
        return report_of_pairs(rows, summary, own, other, runner, IN_MEMORY, labels=known).html


def page_of(result, own=LEFT, other=RIGHT, **options):
    sides = [None if rows is None else collection(rows) for rows in (own, other)]
    return rendered(result.table, result.summary, *sides, **options)


def text_of(page):
    """Return what is read on the page, without tags and in single spaces."""
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_report__says_what_was_found():
    text = text_of(page_of(found()))
    assert "6 similar pairs among 4 and 5 documents" in text
    assert "Similarity is jaccard, 0.2 or more." in text
    assert "4 documents of side a (100 %) and 5 documents of side b (100 %) are in a pair" in text
    assert "All documents were compared, exactly: no pair is missing." in text
    # Both texts, and where they stand.
    assert "blue moon grill" in text
    assert "blue moon bar" in text
    assert "data, row 2" in text
    assert "To see the texts" not in text


def test_report__without_texts():
    text = text_of(page_of(found(), None, None))
    assert "neardup report TABLE INPUT --against OTHER -o PAGE.html" in text
    assert "f2 z2 similarity 0.5000, 2 shingles in common" in text
    # Columns of the table stand in for them.
    text = text_of(page_of(found(with_columns=["text", "city"]), None, None))
    assert "To see the texts" not in text
    assert "text: blue moon grill city: ny" in text


@each_of(
    "options",
    [
        {"measure": "overlap", "threshold": 1},
        {"max_distance": 9, "threshold": None, "ngram": None},
        {"measure": "hamming", "max_distance": 3, "threshold": None},
        {"measure": "weighted-jaccard", "threshold": "0.1"},
        {"top": 3, "threshold": None},
        {"method": "minhash", "recall": "0.9"},
        {"blocking": "city", "one_to_one": True},
    ],
    ids=str,
)
def test_report__of_every_kind(options):
    result = found(**options)
    assert len(result) > 0
    text = text_of(page_of(result, labels=labels_of(RIGHT_PAIRS)))
    assert f"{len(result):,} similar pair" in text
    assert "Precision and recall by threshold" in text


@each_of("kind", ["minhash", "smallest", "modulo", "edit"])
def test_report__of_estimates(kind):
    sketches = neardup.sketch(LEFT, kind=kind, id_column="id")
    result = neardup.estimate(sketches, neardup.sketch(RIGHT, kind=kind, id_column="id"))
    text = text_of(page_of(result))
    assert "among 4 and 5 documents" in text
    assert ("Similarities are estimates" in text) == (kind != "edit")


def test_labels__figures_as_counted():
    """Every row of the table of thresholds is what counting gives."""
    result = found()
    page = page_of(result, labels=labels_of(RIGHT_PAIRS))
    scored = [
        (row["similarity"], (row["id_a"], row["id_b"]) in RIGHT_PAIRS)
        for row in result.pairs.to_pylist()
    ]
    table = page[page.index("<h3>Thresholds</h3>") :]
    rows = re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")])[1:]
    assert len(rows) > 3
    for row in rows:
        cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        threshold = float(cells[0].removesuffix(" (best)"))
        expected = figures(scored, len(RIGHT_PAIRS), threshold)
        assert expected is not None
        assert cells[5:] == [f"{float(share):.3f}" for share in expected]
        assert int(cells[1]) == sum(value >= threshold for value, _ in scored)
    text = text_of(page)
    assert "1 of them (25.0 %) are not in the table and count as missed" in text
    assert "they are less similar than 0.2" in text
    wrong, missing = text.index("Found, but wrong"), text.index("Right, but not in the table")
    assert wrong < missing
    assert "f4 z9 not in the table" in text[missing:]


def test_labels__half_of_them_confirms_the_threshold():
    similarities = [0.9, 0.95, 0.8, 0.85, 0.5, 0.6, 0.4, 0.3]
    ids = [(f"a{k}", f"b{k}") for k in range(8)]
    table = pa.table(
        {
            "id_a": [a for a, _ in ids],
            "id_b": [b for _, b in ids],
            "similarity": similarities,
        }
    )
    labels = labels_of(ids, label=[1, 1, 1, 0, 0, 1, 0, 0])
    assert (
        "Half of the judged pairs choose the threshold 0.8; on the other half it has precision "
        "0.500, recall 0.500 and F1 0.500."
    ) in text_of(rendered(table, labels=labels))
    alone = labels_of(ids[:1], label=[1])
    assert "Half of the judged pairs" not in text_of(rendered(table, labels=alone))


def test_labels__that_say_which_are_wrong():
    """Only pairs with a label are judged."""
    labels = labels_of([*RIGHT_PAIRS[:2], ("f2", "z5")], label=[1, 1, 0])
    text = text_of(page_of(found(), labels=labels))
    assert "3 labelled pairs of the table were judged, 2 of them right" in text
    assert "Pairs without a label are left out." in text


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        (pa.table({"a": ["f1"], "b": ["z1"]}), "labels have no column 'id_a'"),
        (labels_of([("1", "2")]), "labels and pairs have no document in common: labels name '1'"),
        (labels_of([("f1", "z1")], label=["maybe"]), "labels, row 1: label must be one of 1, 1.0"),
    ],
)
def test_labels__errors(labels, error):
    with pytest.raises(InvalidInputError, match=error):
        page_of(found(), labels=labels)


@pytest.mark.parametrize("block_rows", [3, 1000])
@each_of(
    "options",
    [{}, {"max_distance": 9, "threshold": None, "ngram": None}, {"with_columns": ["text", "city"]}],
    ids=str,
)
def test_report__does_not_depend_on_how_the_table_is_read(tmp_path, block_rows, options):
    """Nor on what of it goes to files."""
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdef"), 4)) for _ in range(20)]
    rows = [{"id": str(n), "text": text, "city": text[0]} for n, text in enumerate(texts)]
    result = found(rows, None, **options)
    assert len(result) > 50
    page = rendered(result.table, result.summary, collection(rows))
    streamed = TableRows.of_table(result.table, block_rows=block_rows)
    with (
        patch.object(totals, "_LEAST", 5),
        Workspace(900, WorkFolder.temporary(tmp_path)) as workspace,
        Runner(1) as runner,
    ):
        found_again = report_of_pairs(
            streamed, result.summary, collection(rows), None, runner, workspace
        )
        assert workspace.work.n_done > 0
    assert found_again.html == page


def expected_partners(ids_a, ids_b, *, two_sided):
    """Count the different partners of each document; most first, on a tie the one met first."""
    ways = [[(ids_a, ids_b)], [(ids_b, ids_a)]]
    if not two_sided:
        ways = [[*ways[0], *ways[1]]]
    found = []
    for side in ways:
        partners = {}
        for own, others in side:
            for one, other in zip(own, others, strict=True):
                partners.setdefault(one, set()).add(other)
        counts = [(name, len(each)) for name, each in partners.items()]
        ranked = sorted(counts, key=lambda each: -each[1])
        found.append((len(counts), [each for each in ranked if each[1] > 1][:MOST_LISTED]))
    return found


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1), st.integers(1, 9))
def test_partners__as_counted_one_by_one(pairs, block_rows):
    ids = [[f"d{pair[side]}" for pair in pairs] for side in (0, 1)]
    columns = {"id_a": ids[0], "id_b": ids[1], "similarity": [0.5] * len(pairs)}
    rows = TableRows.of_table(pa.table(columns), block_rows=block_rows)
    for two_sided in (True, False):
        table = PairsTable(rows, ("id_a", "id_b"), two_sided, len(pairs), 0, 0.5, 0.5, 0)
        found = [(each.n_documents, list(each.most)) for each in partners_of(table)]
        assert found == expected_partners(*ids, two_sided=two_sided)
