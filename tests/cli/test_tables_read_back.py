"""Tables that commands write are read back from every format that is written."""

from __future__ import annotations

import csv
import io
import json

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.sheets import open_source
from neardup.options.groups import InputOptions
from neardup.outputs.output_tables import resolve_tables, write_xlsx
from tests.examples import examples

# What a spreadsheet program would take for a number, a formula, a date or a link.
IDS = ["007", "1e5", "=1+1", "2020-01-02", "http://a.example", "TRUE", "9" * 20, " x ", 'é,"\n']
BASE = "one two three four five six seven eight nine ten eleven twelve"
FORMATS = ("parquet", "csv", "jsonl", "xlsx")


@pytest.fixture
def documents(write_file):
    """Write documents of which each but the last is similar to the ones beside it."""
    words = BASE.split()
    rows = [
        {"id": key, "text": " ".join([*words, *[f"w{n}"] * n, *words[:6]])}
        for n, key in enumerate(IDS)
    ]
    rows.append({"id": "8", "text": "something else altogether, and nothing of the rest"})
    write_file("docs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return rows


def values_of(path) -> list[tuple[str, ...]]:
    """Return ids and similarity of a table in Parquet."""
    table = pq.read_table(path)
    names = [name for name in table.column_names if "id" in name or name == "similarity"]
    return sorted(zip(*(map(str, table[name].to_pylist()) for name in names), strict=True))


PAIRS = ("pairs", "docs.jsonl", "--threshold", "0.3", "--ngram", "2")


@pytest.mark.parametrize("ending", FORMATS)
def test_pairs__show_and_report(run, here, documents, ending):
    table = f"pairs.{ending}"
    assert run(*PAIRS, "-o", "pairs.parquet").code == 0
    assert run(*PAIRS, "-o", table, "--overwrite").code == 0
    assert len(values_of("pairs.parquet")) > 5
    # Only Parquet says of how many documents the pairs are.
    shown, expected = (
        run("report", name, "docs.jsonl", "-o", "-").out.partition("\n")[2]
        for name in (table, "pairs.parquet")
    )
    assert "similarity" in shown
    assert shown == expected
    assert run("report", table, "docs.jsonl", "-o", "a.html").code == 0
    page = (here / "a.html").read_text()
    assert "007" in page
    assert "2020-01-02" in page


def write(table: pa.Table, path) -> None:
    from neardup.outputs.output_tables import write_table

    write_table(table, path)


@pytest.mark.parametrize("ending", FORMATS)
def test_drop__ids_of_any_kind(run, here, documents, ending):
    gone = IDS[::2]
    write(pa.table({"id": gone, "why": gone}), here / f"gone.{ending}")
    outcome = run(
        "drop", "docs.jsonl", "--named-in", f"gone.{ending}", "--column", "id", "-o", "out"
    )
    assert (outcome.code, outcome.err) == (0, "")
    lines = (here / "out/kept/docs.jsonl").read_text().splitlines()
    kept = [json.loads(line)["id"] for line in lines]
    assert kept == [*IDS[1::2], "8"]


@pytest.mark.parametrize("ending", FORMATS)
def test_passages__report_and_show(run, here, documents, ending):
    table = f"passages.{ending}"
    align = ("align", "docs.jsonl", "--min-tokens", "8")
    assert run(*align, "-o", "passages.parquet").code == 0
    assert run(*align, "-o", table, "--overwrite").code == 0
    shown = run("report", table, "docs.jsonl", "-o", "-")
    assert shown.code == 0
    first = "one two three four five six seven eight nine ten eleven twelve"
    assert first in shown.out
    assert run("report", table, "docs.jsonl", "-o", "a.html").code == 0


TABLES = {
    "pairs": PAIRS,
    "pairs with columns": (*PAIRS, "--columns", "text"),
    "edit distance": ("pairs", "docs.jsonl", "--measure", "edit", "--threshold", "0.5"),
    "alignment": ("align", "docs.jsonl", "--min-tokens", "8", "--places", "--no-text"),
    "pairs of documents": ("align", "docs.jsonl", "--min-tokens", "8", "--summary", "documents"),
    "search of documents": ("search", "documents", "docs.jsonl"),
    "search of passages": ("search", "passages", "docs.jsonl", "--no-text"),
    "estimates": ("estimate", "s.parquet", "--threshold", "0.3"),
    "containments": ("estimate", "modulo.parquet"),
    "clusters": ("estimate", "modulo.parquet", "--threshold", "0.3", "--clusters"),
}


@pytest.mark.parametrize("case", TABLES)
def test_spreadsheet__has_the_same_columns(run, here, documents, case):
    """So has CSV that it was saved as, and a data frame of it."""
    for kind in {"documents", "passages"} & {TABLES[case][1]}:
        least = ("--min-tokens", "8") if kind == "passages" else ()
        outcome = run("index", "build", kind, "docs.jsonl", "--kind", kind, *least)
        assert outcome.code == 0, outcome.err
    for name in {"s.parquet", "modulo.parquet"} & set(TABLES[case]):
        kind = ("--kind", "modulo") if name == "modulo.parquet" else ()
        assert run("sketch", "docs.jsonl", "-o", name, "--ngram", "2", *kind).code == 0
    for name in ("t.parquet", "t.xlsx"):
        outcome = run(*TABLES[case], "-o", name)
        assert outcome.code == 0, outcome.err
    rows = list(openpyxl.load_workbook("t.xlsx").active.values)
    expected = pq.read_table("t.parquet")
    assert len(rows) == len(expected) + 1 > 1
    assert list(rows[0]) == expected.column_names
    with (here / "saved.csv").open("w", encoding="utf-8-sig", newline="") as file:
        file.write("sep=;\n")
        csv.writer(file, delimiter=";").writerows(rows)
    frame = pa.table(dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True)))
    for given_as in ("t.xlsx", "saved.csv", frame):
        [source] = resolve_tables(given_as)
        found = pa.concat_tables(block.to_table() for block in source.blocks())
        assert found.column_names == expected.column_names
        assert source.column_names() == expected.column_names
        column = next(name for name in found.column_names if name.startswith(("id", "query_id")))
        assert found[column].to_pylist() == expected[column].to_pylist()


def read_back(table: pa.Table, tmp_path) -> list[dict[str, str]]:
    path = tmp_path / "table.xlsx"
    with path.open("wb") as file:
        write_xlsx(table, file)
    source = open_source(str(path), path.name, InputOptions())
    return [row for block in source.blocks() for row in block.to_table().to_pylist()]


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(IDS) | ANY.filter(bool),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        ANY,
    ),
    max_size=5,
)


@examples(100)
@given(rows=ROWS)
def test_xlsx__rows_are_the_same(rows, tmp_path_factory):
    names = ("id", "n", "x", "is", "text")
    kinds = (pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.string())
    columns = zip(*rows, strict=True) if rows else [[] for _ in names]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    found = read_back(pa.table(arrays, names=names), tmp_path_factory.mktemp("x"))
    assert [(row["id"], row["text"] or "") for row in found] == [(r[0], r[4]) for r in rows]
    for row, (_, n, x, truth, _) in zip(found, rows, strict=True):
        assert (int(row["n"]), float(row["x"]), row["is"]) == (n, x, truth)


def test_xlsx__as_a_spreadsheet_program_saves_it_again(tmp_path):
    """Another program that opens and saves the file changes no id."""
    out = io.BytesIO()
    write_xlsx(pa.table({"id": IDS}), out)
    book = openpyxl.load_workbook(out)
    book.save(tmp_path / "again.xlsx")
    source = open_source(str(tmp_path / "again.xlsx"), "again.xlsx", InputOptions())
    assert [row["id"] for block in source.blocks() for row in block.to_table().to_pylist()] == IDS


def test_xlsx__text_that_no_cell_holds_is_cut_with_a_word(run, here, write_file):
    long = " ".join(f"word{n}" for n in range(4_000))
    rows = [{"id": key, "text": f"{long} {key}"} for key in "ab"]
    write_file("docs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    outcome = run("align", "docs.jsonl", "-o", "passages.xlsx")
    assert outcome.code == 0
    [row] = read_table(here / "passages.xlsx")
    assert " [cut: 34,8" in row["doc_text"]


def read_table(path) -> list[dict[str, str]]:
    source = open_source(str(path), path.name, InputOptions())
    return [row for block in source.blocks() for row in block.to_table().to_pylist()]
