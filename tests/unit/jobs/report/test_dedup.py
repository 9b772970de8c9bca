"""The page of an output folder of dedup, against its tables and its texts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.files import parquet
from neardup.jobs.explain import explain_document
from neardup.jobs.report import dedup
from neardup.jobs.report.dedup import report_of_dedup, report_of_result
from neardup.runs.runner import Runner
from neardup.stages.output import open_output
from tests.each import each_of


def write_input(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / name
    lines = [json.dumps({"id": f"{name}-{n}", "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n")
    return path


def numbered(first: int, changed: str = "") -> str:
    """Return a text of 40 words; what is changed is its 21st."""
    words = [f"word{first + n}" for n in range(40)]
    if changed:
        words[20] = changed
    return " ".join(words)


def page_of(folder: Path) -> str:
    with Runner(1, None) as runner:
        return report_of_dedup(open_output(folder), runner).html


def told(page: str) -> str:
    """Return the words of a page."""
    without = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", without)).split())


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    one = [numbered(100), numbered(200), numbered(300), numbered(100, "one"), numbered(400)]
    two = [numbered(200), numbered(300, "two"), numbered(300, "three"), numbered(500)]
    return [write_input(tmp_path, "one.jsonl", one), write_input(tmp_path, "two.jsonl", two)]


def test_report_of_dedup__has_the_figures_of_the_tables(inputs: list[Path], tmp_path: Path) -> None:
    neardup.deduplicate(inputs, threshold="0.7").write(tmp_path / "out")
    page = page_of(tmp_path / "out")
    text = told(page)
    assert text.startswith("Deduplication: 4 of 9 documents removed")
    assert "came in 9 stay 5 removed as exact copies 1 removed as near-duplicates 3 " in text
    assert "one.jsonl 5 4 1 0 20.0 % two.jsonl 4 1 3 1 75.0 %" in text
    block = re.search(r'id="removed-documents">(.*?)</script>', page)
    assert block
    found = json.loads(block[1])
    removed = pq.read_table(tmp_path / "out" / "removed.parquet").to_pydict()
    assert found["id"] == removed["id"]
    assert [found["files"][place] for place in found["file"]] == removed["file"]
    assert found["row"] == removed["row"]
    keeper = found["keeper"]
    assert [keeper["id"][place] for place in found["kept"]] == removed["kept_id"]
    assert [keeper["row"][place] for place in found["kept"]] == removed["kept_row"]


def test_report_of_dedup__shows_both_texts_of_examples(inputs: list[Path], tmp_path: Path) -> None:
    neardup.deduplicate(inputs, threshold="0.7").write(tmp_path / "out")
    page = page_of(tmp_path / "out")
    for removed, kept in (("one", "word120"), ("two", "word320"), ("three", "word320")):
        assert re.search(rf"<del>{removed}</del>.*?<ins>{kept}</ins>", page, re.DOTALL)
    assert "An exact copy" in told(page)


def test_report_of_dedup__shows_pairs_that_stay(inputs: list[Path], tmp_path: Path) -> None:
    # Of 36 shingles 5 differ: 31 of 41 are in both, and 31 of 41 are below the threshold.
    neardup.deduplicate(inputs, threshold="0.8").write(tmp_path / "out")
    text = told(page_of(tmp_path / "out"))
    assert "Both stay: just below the threshold" in text
    assert f"similarity {31 / 41:.4f}" in text
    assert "31 of 41 runs of 5 words are in both." in text
    assert "no two of them reach the threshold" in text


def test_report_of_dedup__admits_what_was_missed(inputs: list[Path], tmp_path: Path) -> None:
    neardup.deduplicate(inputs, threshold="0.7", bands=1, rows=100).write(tmp_path / "out")
    text = told(page_of(tmp_path / "out"))
    assert "compared with each other, exactly: 4 pairs reach the threshold" in text
    assert "Missed: both stay, and reach the threshold" in text
    assert "find less than the recall asked for" in text


def test_report_of_result__is_that_of_the_folder(inputs: list[Path], tmp_path: Path) -> None:
    result = neardup.deduplicate(inputs, threshold="0.75", audit=3)
    with Runner(1, None) as runner:
        page = report_of_result(result, runner).html
    result.write(tmp_path / "out")
    written = page_of(tmp_path / "out")
    assert "<del>two</del>" in page
    different = set(page.splitlines()) ^ set(written.splitlines())
    # Only where the rows and tables are, and what explains a document.
    assert len(different) == 6, different


def test_report_of_result__of_texts_in_memory_and_an_index(tmp_path: Path) -> None:
    index = neardup.DocumentIndex.create(tmp_path / "index", threshold="0.7")
    index.add([numbered(7)])
    texts = [numbered(7, "other"), numbered(99)]
    with Runner(1, None) as runner:
        result = neardup.deduplicate(texts, against=index)
        page = report_of_result(result, runner).html
    text = told(page)
    assert "the texts of the other collection are not in the output" in text
    assert "Stays: against/0 in the index" in text
    assert "<del>" not in page


@each_of(
    ("texts", "title", "said"),
    [
        ([], "No document read", "The input has no documents"),
        ([numbered(1)], "None of 1 document removed", "there is none to look up"),
        ([numbered(1), numbered(900)], "None of 2 documents removed", "no two of them reach"),
        ([numbered(1), numbered(1)], "1 of 2 documents removed", "are exact copies of the one"),
        (["", "", "x"], "None of 3 documents removed", "2 documents without text stayed"),
    ],
)
def test_report_of_dedup__of_next_to_nothing(
    tmp_path: Path, texts: list[str], title: str, said: str
) -> None:
    neardup.deduplicate([write_input(tmp_path, "in.jsonl", texts)]).write(tmp_path / "out")
    text = told(page_of(tmp_path / "out"))
    assert text.startswith(f"Deduplication: {title}")
    assert said in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "exact"}, "Nothing: the method was exact"),
        ({"clusters": "components"}, "clusters components"),
        ({"measure": "containment", "threshold": "0.6"}, "are also in the one that stays"),
        ({"measure": "containment", "keep": "longest"}, "depends on keep longest"),
        ({"measure": "weighted-jaccard"}, "What few documents have weighs more."),
        ({"measure": "weighted-jaccard", "idf": "unary"}, "idf unary"),
        ({"tokenizer": "characters", "ngram": 9}, "runs of 9 characters"),
        ({"measure": "cosine"}, "31 runs of 5 words are in both, of 36 and 36."),
        ({"measure": "weighted-jaccard"}, "39 words in both; 1 only in the removed one"),
        ({"audit": 5}, "The audit saw "),
    ],
)
def test_report_of_dedup__of_other_options(
    inputs: list[Path], tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    neardup.deduplicate(inputs, **({"threshold": "0.7"} | options)).write(tmp_path / "out")
    assert said in told(page_of(tmp_path / "out"))


def test_report_of_dedup__of_components_says_what_is_not_similar(tmp_path: Path) -> None:
    words = numbered(1).split()
    chain = [" ".join([*words[n:], *(f"new{m}" for m in range(n))]) for n in range(0, 40, 8)]
    path = write_input(tmp_path, "chain.jsonl", chain)
    result = neardup.deduplicate([path], ngram=1, threshold="0.6", clusters="components")
    result.write(tmp_path / "out")
    text = told(page_of(tmp_path / "out"))
    assert result.summary["removed_beyond_survivors"] == 2
    assert "3 removed documents are less similar to the one that stays than the threshold" in text
    assert "Some are connected to the one that stays only by others between the two." in text
    assert "Connected components removed 2 documents more" in text


def test_report_of_dedup__decided_by_pairs(inputs: list[Path], tmp_path: Path) -> None:
    pairs = neardup.find_pairs(inputs, threshold="0.7")
    neardup.choose(pairs, inputs).write(tmp_path / "out")
    text = told(page_of(tmp_path / "out"))
    assert "removed as duplicates 4" in text
    assert "pairs were found in another run" in text


@pytest.mark.parametrize(("most", "n"), [(900, 3), (600, 2), (100, 0)])
def test_report_of_dedup__compares_texts_up_to_a_number_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, n: int
) -> None:
    # Long texts come first; by the mean of all many more would be compared.
    texts = [numbered(100 * k) for k in range(1, 9)] + [f"short {k}" for k in range(99)]
    names = [write_input(tmp_path, f"{k}.jsonl", texts[k::2]) for k in range(2)]
    result = neardup.deduplicate(names, threshold="0.7")
    result.write(tmp_path / "out")
    monkeypatch.setattr(dedup, "MOST_BYTES", most)
    for page in (page_of(tmp_path / "out"), neardup.report(result).html):
        text = told(page)
        if n:
            assert f"the first {n} documents that stay were compared" in text
        else:
            assert "not looked for: the first document that stays is too long" in text


def test_report_of_dedup__hostile_texts_and_ids_are_text(tmp_path: Path) -> None:
    evil = '</script><script>alert(1)</script><img src=x onerror=alert(2)> "\u202e'
    path = tmp_path / "evil.jsonl"
    rows = [{"id": f"{evil}{n}", "text": f"{evil} {numbered(1, 'x' * n)}"} for n in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)))
    neardup.deduplicate([path], threshold="0.5").write(tmp_path / "out")
    page = page_of(tmp_path / "out")
    assert "<script>alert" not in page
    assert "<img" not in page


@pytest.mark.slow
@pytest.mark.parametrize("clusters", ["survivors", "components"])
@pytest.mark.parametrize("rows", [1, 7])
def test_report_of_dedup__does_not_depend_on_how_tables_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clusters: str, rows: int
) -> None:
    generator = np.random.default_rng(rows)
    texts = [" ".join(generator.choice(list("abcdefgh"), 6)) for _ in range(120)]
    paths = [write_input(tmp_path, f"{n}.jsonl", texts[n::3]) for n in range(3)]
    result = neardup.deduplicate(
        paths[:2], against=paths[2], ngram=1, threshold="0.7", clusters=clusters
    )
    result.write(tmp_path / "out")
    page = page_of(tmp_path / "out")
    ids = result.clusters["id"].to_pylist()
    asked = [ids[n] for n in range(0, 80, 13)]

    def explained() -> list[str]:
        output = open_output(tmp_path / "out")
        return [explain_document(output, each, Runner(1)).to_text() for each in asked]

    before = explained()
    for name in ("_MIN_ROWS", "_MAX_ROWS"):
        monkeypatch.setattr(parquet, name, rows)
    assert page_of(tmp_path / "out") == page
    assert explained() == before
