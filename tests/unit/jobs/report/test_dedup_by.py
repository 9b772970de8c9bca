"""A page's counts by a column are those of a run that counted by it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.jobs.report.dedup import (
    count_by_values,
    report_of_dedup,
    report_of_result,
    with_values,
)
from neardup.runs.runner import Runner
from neardup.stages.output import open_output
from neardup.stages.selection import collections_of
from neardup.stages.shown import Outcome

_SOURCES = ["web", "book", None, "news", 7]


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """Two files of documents of which a third are copies, a bad row in each."""
    paths = []
    for name in ("one", "two"):
        rows = [
            {"text": f"a b c d e f {n % 40} {n % 3}", "source": _SOURCES[n % 5]} for n in range(60)
        ]
        lines = [json.dumps(row) for row in rows]
        lines.insert(7, '{"source": "web", "text": 3}')
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def counted(outcome: Outcome) -> dict[str, Any]:
    return count_by_values(outcome.values("source"), outcome.documents(), outcome.removed)


@pytest.mark.parametrize("against", [False, True])
def test_count_by_values__agrees_with_the_run(
    inputs: list[Path], tmp_path: Path, against: bool
) -> None:
    options: dict[str, Any] = {"ngram": 1, "threshold": "0.9", "on_error": "skip"}
    if against:
        options["against"] = inputs[1:]
        del inputs[1:]
    expected = neardup.deduplicate(inputs, by="source", **options).summary["by"]
    assert expected["pairs"]
    assert len(expected["counts"]) == 5
    result = neardup.deduplicate(inputs, **options)
    assert counted(Outcome.of_result(result, collections_of(result)[0])) == expected
    result.write(tmp_path / "out")
    assert counted(Outcome.of_folder(open_output(tmp_path / "out"))) == expected


def test_with_values__are_those_of_the_run(inputs: list[Path]) -> None:
    options: dict[str, Any] = {"ngram": 1, "threshold": "0.9", "on_error": "skip"}
    for against in (None, inputs[1:]):
        own = inputs if against is None else inputs[:1]
        expected = neardup.deduplicate(own, against=against, by="source", **options).removed
        result = neardup.deduplicate(own, against=against, **options)
        outcome = Outcome.of_result(result, collections_of(result)[0])
        rows = with_values(outcome.values("source"), outcome.documents(), outcome.removed)
        found = pa.concat_tables(rows)
        for name in ("by", "kept_by"):
            assert found[name].to_pylist() == expected[name].to_pylist()


def test_report_of_dedup__says_where_values_differ(inputs: list[Path]) -> None:
    result = neardup.deduplicate(inputs, ngram=1, threshold="0.9", on_error="skip")
    with Runner(1, None) as runner:
        page = report_of_result(result, runner, by="source").html
        same = report_of_result(result, runner, by="text").html
    question = "Do removed documents have the same source as the one that stays?"
    assert question in page
    assert "Do removed documents have the same text as the one that stays?" in same


def test_report_of_dedup__counts_by_a_column(inputs: list[Path], tmp_path: Path) -> None:
    result = neardup.deduplicate(inputs, ngram=1, threshold="0.9", on_error="skip")
    result.write(tmp_path / "out")
    with Runner(1, None) as runner:
        plain = report_of_dedup(open_output(tmp_path / "out"), runner).html
        page = report_of_dedup(open_output(tmp_path / "out"), runner, by="source").html
        same = report_of_result(result, runner, by="source").html
        with pytest.raises(InvalidInputError, match="no column 'nowhere', which by names"):
            report_of_result(result, runner, by="nowhere")
    assert "<h3>By source</h3>" not in plain
    for each in (page, same):
        assert "<h3>By source</h3>" in each
        assert "Removed documents by their source, and by that of the one that stays" in each


def test_report_of_dedup__has_the_column_of_the_run(inputs: list[Path]) -> None:
    result = neardup.deduplicate(inputs, by="source", on_error="skip")
    with Runner(1, None) as runner:
        assert "<h3>By source</h3>" in report_of_result(result, runner).html


def test_report__a_column_may_be_called_as_what_is_counted_anyway(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.jsonl" for name in ("one", "two")]
    for path in paths:
        rows = [{"text": f"a b c d e {n % 3}", "file": f"f{n % 2}"} for n in range(9)]
        path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    result = neardup.deduplicate(paths, ngram=1, threshold="0.9")
    names = re.findall(r' id="([^"]+)"', neardup.report(result, by="file").html)
    assert sum(name.startswith("flow-chart") for name in names) >= 2
    assert sum(name.startswith("exchange-chart") for name in names) >= 2
    assert len(set(names)) == len(names)
