"""What another format cannot hold: told by the types, or by the rows when they are first read."""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
import neardup.cli
from neardup.errors import InvalidInputError
from neardup.files.fitting import check_conversion, to_fit
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.memory import MemorySource
from neardup.files.rows import ColumnNames
from tests.each import each_of


def first_pass(source, *, skip_bad=True):
    """Return the texts as a first pass reads them, and the numbers of bad rows."""
    texts, skipped = [], []
    for block in source.blocks():
        demanded = block if source.demand is None else source.demand.block(source, block)
        rows = demanded.parse(ColumnNames(), skip_bad=skip_bad)
        texts += rows.text.to_pylist()
        skipped += rows.skipped
    return texts, skipped


@each_of(
    ("kind", "output_format", "said"),
    [
        (pa.binary(), "jsonl", "column 'x' holds binary values, and JSON cannot hold binary"),
        (pa.list_(pa.large_binary()), "jsonl", "column 'x' holds list<item: large_binary> values"),
        (pa.struct([("y", pa.binary(3))]), "jsonl", "JSON cannot hold binary"),
        (pa.struct([]), "parquet", "column 'x' holds nothing but empty objects, which Parquet"),
        (pa.list_(pa.struct([])), "parquet", "nothing but empty objects"),
        (pa.month_day_nano_interval(), "parquet", "month_day_nano_interval values, which Parquet"),
    ],
)
def test_check_conversion__types_before_any_work(kind, output_format, said):
    table = pa.table({"text": ["a"], "x": pa.nulls(1).cast(kind)})
    source = MemorySource(table)
    for fine in {"same", "jsonl", "parquet"} - {output_format}:
        if not (fine == "jsonl" and kind == pa.month_day_nano_interval()):
            check_conversion([source], fine)
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        check_conversion([source], output_format)
    # A result says so before it writes.
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        neardup.deduplicate(table).write("never", format=output_format)


ROWS = [{"text": f"row {i}", "n": i, "meta": {"lang": "en"}} for i in range(40)]


@pytest.mark.slow
@pytest.mark.parametrize("block_bytes", [100, 700, 1 << 20])
@pytest.mark.parametrize("seed", range(6))
def test_misfits__are_bad_rows_of_the_first_pass(make_file, seed, block_bytes):
    """Rows of another type than most are named, alone and exactly, wherever blocks end."""
    draw = np.random.default_rng(seed)
    odd = {int(place) for place in draw.choice(np.arange(3, 40), 4, replace=False)}
    changes = [{"n": "many"}, {"meta": "none"}, {"n": [1]}, {"n": {"k": 1}}]
    rows = [dict(row) for row in ROWS]
    for place, change in zip(sorted(odd), changes, strict=True):
        rows[place] |= change
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path = make_file("a.jsonl", lines.encode())
    source = JsonLinesSource(str(path), "a.jsonl", block_bytes=block_bytes)
    to_fit([source], "parquet")
    for one in (source, pickle.loads(pickle.dumps(source)), copy.copy(source)):
        texts, skipped = first_pass(one)
        assert [number - 1 for number, _ in skipped] == sorted(odd)
        assert [i for i, text in enumerate(texts) if text is None] == sorted(odd)
    with pytest.raises(InvalidInputError) as caught:
        first_pass(source, skip_bad=False)
    assert (caught.value.path, caught.value.row) == (str(path), min(odd) + 1)
    assert caught.value.is_bad_row


def lines_of(values):
    rows = ({"text": "a", "n": value} for value in values)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def misfits_in(path):
    source = JsonLinesSource(str(path), path.name)
    to_fit([source], "parquet")
    return [number for number, _ in first_pass(source)[1]]


def test_misfits__most_values_tell_the_type_wherever_they_stand(make_file):
    values = [*["x"] * 4, *[1] * 4, "x", *[1] * 7]
    path = make_file("a.jsonl", lines_of(values))
    assert misfits_in(path) == [1, 2, 3, 4, 9]


def test_misfits__beside_rows_that_cannot_be_read(make_file):
    path = make_file("a.jsonl", lines_of([1, "x", 2]) + b'{"te\n' + lines_of(["y", 3]))
    assert misfits_in(path) == [2, 4, 5]


@pytest.mark.slow
@each_of("command", ["dedup", "cut", "drop", "pairs"])
@each_of("output_format", ["parquet", "jsonl"])
def test_commands__put_misfits_apart(tmp_path, monkeypatch, capsys, command, output_format):
    """JSON objects in Parquet, and CSV in both; by --pairs too."""
    monkeypatch.chdir(tmp_path)
    name = "a.jsonl" if output_format == "parquet" else "a.csv"
    rows = [b'{"text": "one", "n": %d}\n' % i for i in range(3)]
    bad = b'{"text": "one", "n": "many"}\n'
    head = b""
    if output_format == "jsonl":
        head, rows, bad = b"text,n\n", [b"one,%d\n" % i for i in range(3)], b"one,caf\xe9\n"
    content = b"".join([head, *rows[:2], bad, rows[2]])
    (tmp_path / name).write_bytes(content)
    (tmp_path / "ids.txt").write_text(f"{name}:1\n")
    (tmp_path / "pairs.csv").write_text(f"id_a,id_b,similarity\n{name}:1,{name}:2,1.0\n")
    arguments = {
        "dedup": ["dedup"],
        "cut": ["cut", "--exact"],
        "drop": ["drop", "--named-in", "ids.txt"],
        "pairs": ["dedup", "--pairs", "pairs.csv", "--measure", "jaccard"],
    }[command]
    arguments += [name, "-o", "out", "--format", output_format]
    assert neardup.cli.run(arguments) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"error: {name}, row 3: ")
    assert error.endswith("--on-error skip leaves bad rows out")
    assert neardup.cli.run([*arguments, "--on-error", "skip"]) == 0
    assert (tmp_path / "out/skipped" / name).read_bytes() == head + bad
    [skipped] = pq.read_table("out/skipped.parquet").to_pylist()
    assert (skipped["file"], skipped["row"]) == (name, 3)
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["documents_in"], summary["skipped_rows"]) == (3, 1)
    if command == "dedup":
        assert (summary["documents_kept"], summary["documents_removed"]) == (1, 2)


def test_write__names_a_row_that_was_not_asked_to_fit(tmp_path):
    """In Python the format is known only when a result is written; it is still there then."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a", "n": 1}\n{"text": "b", "n": 2}\n{"text": "c", "n": "x"}\n')
    result = neardup.deduplicate(path)
    with pytest.raises(InvalidInputError) as caught:
        result.write(tmp_path / "out", format="parquet")
    assert str(caught.value) == (
        f"{path}, row 3: column 'n' holds string values, the first rows of the file int64; "
        "write format='jsonl'; this was found while writing, and nothing was "
        "written"
    )
    assert not (tmp_path / "out").exists()
    result.write(tmp_path / "out", format="jsonl")
    assert (tmp_path / "out/kept/a.jsonl").read_bytes() == path.read_bytes()


def test_jsonl__dates_that_python_lacks(tmp_path):
    days = pa.array([{"d": 0}, {"d": 10**9}], pa.struct([("d", pa.date32())]))
    result = neardup.deduplicate(pa.table({"text": ["a", "b"], "day": days}))
    said = r"^data, row 2: .*found while writing"
    with pytest.raises(InvalidInputError, match=said) as caught:
        result.write(tmp_path / "out", format="jsonl")
    # Whatever the traceback keeps, no thread is among it.
    assert caught.tb is not None
    assert not [each for each in threading.enumerate() if each.name.startswith("neardup")]


@pytest.mark.parametrize("odd", [1, 2, 7, 11])
def test_kept__names_the_row_whose_values_do_not_go_together(make_file, odd):
    values = [*range(12)]
    values[odd] = "x"
    rows = [{"text": f"text {i}", "n": value} for i, value in enumerate(values)]
    path = make_file("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    result = neardup.deduplicate(path)
    with pytest.raises(InvalidInputError) as caught:
        _ = result.kept
    assert (caught.value.path, caught.value.row) == (str(path), odd + 1)
    assert caught.value.reason.startswith("column 'n' holds values that do not go together in a ")


def test_kept__of_files_whose_types_differ(make_file):
    paths = [make_file("a.jsonl", b'{"text": "a", "n": 1}\n'), make_file("b.jsonl", b"")]
    paths.append(make_file("c.jsonl", b'{"text": "c", "n": "x"}\n'))
    with pytest.raises(InvalidInputError, match=r"c\.jsonl, row 1: .* of other types than before"):
        _ = neardup.deduplicate(paths).kept
    paths[2].write_bytes(b'{"text": "c", "n": 0.5, "more": []}\n')
    rows = neardup.deduplicate(paths).kept.to_pylist()
    assert [(row["n"], row["more"]) for row in rows] == [(1, None), (0.5, [])]
