"""Options of input files: each concerns some source, or is refused."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect, resolve_inputs, resolve_paths
from neardup.options.groups import InputOptions


@pytest.fixture
def sources(make_file):
    def make(name: str, content: bytes = b"", **options: object):
        return resolve_paths([str(make_file(name, content))], InputOptions(**options))

    return make


def test_check_effect__of_nothing_that_was_given(sources):
    check_effect(InputOptions(), sources("a.jsonl"), [])


def test_check_effect__input_format(sources):
    chosen = InputOptions(input_format="jsonl")
    check_effect(chosen, sources("a.jsonl"), resolve_inputs(["a text"]))
    check_effect(chosen, sources("a.parquet", input_format="jsonl"))
    with pytest.raises(InvalidParameterError, match=r"^input_format has no effect on data in mem"):
        check_effect(chosen, resolve_inputs(["a text"]))


def test_check_effect__encoding(sources):
    chosen = InputOptions(encoding="latin-1")
    for name in ("a.jsonl", "a.csv", "a.txt", "a.json"):
        check_effect(chosen, sources(name, encoding="latin-1"))
    table = sources("a.parquet", parquet_bytes(), encoding="latin-1")
    for others in (table, resolve_inputs(["a text"])):
        with pytest.raises(InvalidParameterError, match=r"^encoding has no effect where no input"):
            check_effect(chosen, others)


def test_check_effect__delimiter(sources):
    chosen = InputOptions(delimiter=";")
    check_effect(chosen, sources("a.csv", delimiter=";"), sources("a.txt", delimiter=";"))
    with pytest.raises(InvalidParameterError, match=r"^delimiter has no effect where no input "):
        check_effect(chosen, sources("a.txt", delimiter=";"))


def parquet_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["a"]}), sink)
    return sink.getvalue().to_pybytes()


def test_check_effect__lines(sources):
    lines = InputOptions(document="line")
    text = sources("a.txt", document="line")
    check_effect(lines, text)
    check_effect(lines, sources("a.jsonl"), text)
    for others in (sources("a.jsonl"), resolve_inputs(["a text"]), []):
        with pytest.raises(InvalidParameterError, match=r"^document line has no effect where "):
            check_effect(lines, others)
