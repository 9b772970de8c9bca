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
from neardup.runs.runner import Runner
from neardup.stages.output import open_output
from tests.calls import grouped
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
    return neardup.report(folder).html


def words_of(page: str) -> str:
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
    text = words_of(page)
    assert text.startswith("4 of 9 documents removed")
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert facts == {
        "documents read": "9",
        "stay": "5",
        "removed as exact copies": "1",
        "removed as near-duplicates": "3",
    }
    assert "two.jsonl 4 1 3 1 75.0 % one.jsonl 5 4 1 0 20.0 %" in text
    # Every removed document is listed with its keeper, the least similar first, copies last.
    removed = pq.read_table(tmp_path / "out" / "removed.parquet").to_pylist()
    removed.sort(key=lambda row: (row["exact_copy"], row["similarity"]))
    table = page[page.index('id="removed-1"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")])[1:]
    for row, expected in zip(rows, removed, strict=True):
        cells = [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<td.*?</td>", row)]
        copy = "exact copy" if expected["exact_copy"] else ""
        places = [expected["kept_id"], expected["kept_file"]]
        own = [expected["id"], expected["file"], str(expected["row"])]
        assert cells == [*own, f"{expected['similarity']:.4f}", copy, *places]


def test_report_of_dedup__shows_both_texts_of_examples(inputs: list[Path], tmp_path: Path) -> None:
    neardup.deduplicate(inputs, threshold="0.7").write(tmp_path / "out")
    page = page_of(tmp_path / "out")
    for removed, kept in (("one", "word120"), ("two", "word320"), ("three", "word320")):
        assert re.search(rf"<del>{removed}</del>.*?<ins>{kept}</ins>", page, re.DOTALL)
    assert "Exact copy" in words_of(page)
    titles = re.findall(r"<h3>(.*?): similarity", page)
    assert titles[0] == "Least similar"
    assert titles[-1] == "Exact copy"


def test_report_of_result__of_texts_in_memory_and_an_index(tmp_path: Path) -> None:
    index = neardup.DocumentIndex.create(tmp_path / "index", threshold="0.7")
    index.add([numbered(7)])
    texts = [numbered(7, "other"), numbered(99)]
    page = neardup.deduplicate(texts, against=index).report().html
    assert "the text is in the other collection" in words_of(page)
    assert "Stays: against/0" in words_of(page)
    assert "<del>" not in page


@each_of(
    ("texts", "title", "said"),
    [
        ([], "No document read", "No document was removed."),
        ([numbered(1)], "0 of 1 document removed", "No document was removed."),
        ([numbered(1), numbered(1)], "1 of 2 documents removed", "Exact copy"),
        (["", "", "x"], "0 of 3 documents removed", "2 documents without text stayed"),
    ],
)
def test_report_of_dedup__of_next_to_nothing(
    tmp_path: Path, texts: list[str], title: str, said: str
) -> None:
    neardup.deduplicate([write_input(tmp_path, "in.jsonl", texts)]).write(tmp_path / "out")
    text = words_of(page_of(tmp_path / "out"))
    assert text.startswith(title)
    assert said in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "exact"}, "All documents were compared exactly"),
        ({"clusters": "components"}, "Of documents that similar ones connect, one stays"),
        ({"measure": "containment", "threshold": "0.6"}, "containment of at least 0.6"),
        ({"measure": "containment", "keep": "longest"}, "the longest one stays"),
        ({"measure": "weighted-jaccard"}, "weighted-jaccard of at least 0.7"),
        ({"tokenizer": "characters", "ngram": 9}, "characters 9-grams"),
        ({"measure": "cosine"}, "cosine of at least 0.7"),
        ({"audit": 5}, "The audit found "),
    ],
)
def test_report_of_dedup__of_other_options(
    inputs: list[Path], tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    neardup.deduplicate(inputs, **grouped(**{"threshold": "0.7"} | options)).write(tmp_path / "out")
    assert said in words_of(page_of(tmp_path / "out"))


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
        paths[:2],
        against=paths[2],
        threshold="0.7",
        clusters=clusters,
        text=neardup.TextOptions(ngram=1),
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
