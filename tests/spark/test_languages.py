"""Programs are cut by the languages of their files on Spark, too."""

from __future__ import annotations

import pytest

import neardup
from tests.calls import grouped
from tests.programs import write_programs
from tests.spark import on_session
from tests.spark.runs import assert_same, run_spark, run_threads

CODE = {"tokenizer": "code", "ngram": 4, "threshold": "0.5"}
LINES = {"job": "cut", "tokenizer": "code", "unit": "lines", "min_tokens": 5}
WRITTEN = {
    "dedup": CODE,
    "equal passages": {"job": "cut", "tokenizer": "code", "exact": True, "min_tokens": 30},
    "passages": {"job": "cut", "tokenizer": "code", "threshold": "0.9", "min_tokens": 80},
    "equal lines": LINES | {"exact": True},
    "lines": LINES | {"threshold": "0.8"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(write_programs(tmp_path_factory.mktemp("programs"))["all"])


@pytest.mark.parametrize("name", WRITTEN)
def test_languages__of_files(in_process, folder, tmp_path, small_tasks, name):
    expected = run_threads(folder, tmp_path / "threads", **WRITTEN[name])
    assert_same(run_spark(in_process, folder, tmp_path / "spark", **WRITTEN[name]), expected)


@pytest.mark.parametrize("method", ["exact", "minhash"])
def test_languages__of_pairs(in_process, folder, small_tasks, method):
    expected = neardup.find_pairs(folder, **grouped(method=method, **CODE)).pairs
    assert len(expected) > 10
    assert on_session.find_pairs(in_process, folder, method=method, **CODE).pairs.equals(expected)


def test_languages__of_passages(in_process, folder, small_tasks):
    options = CODE | {"min_tokens": 60}
    expected = neardup.align(folder, **grouped(**options)).passages
    assert len(expected) > 10
    assert on_session.align(in_process, folder, **options).passages.equals(expected)
