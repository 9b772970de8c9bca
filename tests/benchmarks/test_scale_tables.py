"""What is measured of a run at scale, and what tables make of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.measuring.processes import run
from benchmarks.scale import tables
from benchmarks.scale.generate import generate
from benchmarks.scale.kinds import make_kind
from benchmarks.scale.measure import Watch, measure_dedup
from benchmarks.scale.parts import PARTS
from tests.each import each_of


def case(size, wall, **more):
    seconds = {"read": wall / 2, "write": wall / 4}
    row = {"collection": "ordinary", "options": [], "documents_in": 1000, "input_bytes": size}
    row |= {"wall": wall, "cpu": 2 * wall, "peak_tree": 10**9, "peak_work": 5000, "output": size}
    return {**row, "load": 0.0, "seconds": seconds, "candidates": 7, **more}


def cells(table):
    rows = [[each.strip() for each in line.strip("|").split("|")] for line in table.splitlines()]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


@pytest.mark.slow
def test_watch__sees_the_largest_size_and_the_time_of_children(tmp_path):
    work = (
        "import pathlib, sys, time\n"
        "path = pathlib.Path(sys.argv[1]) / 'a'\n"
        "path.write_bytes(b'x' * 3000)\n"
        "start = time.process_time()\n"
        "while time.process_time() < start + 0.8: pass\n"
        "path.unlink()\n"
    )
    with Watch({"work": tmp_path, "none": tmp_path / "none"}) as watch:
        measured = run([sys.executable, "-c", work, str(tmp_path)])
    assert watch.peaks == {"work": 3000, "none": 0}
    assert 0.3 < watch.cpu <= measured.cpu + 0.02


@pytest.mark.slow
def test_measure_dedup(tmp_path):
    source = tmp_path / "made.jsonl"
    kind = make_kind("ordinary", 1, 500.0)
    written = generate(kind, source, n_documents=400, document_bytes=500.0)
    row = measure_dedup(Path(sys.executable), source, ["--workers", "1"], tmp_path / "scratch")
    assert row["documents_in"] == 400
    assert 0 < row["documents_removed"] < 80
    assert row["input_bytes"] == written.bytes
    # Kept and removed rows, tables and summary.
    assert row["output"] > written.bytes
    assert row["cpu"] > 0
    assert row["peak_tree"] >= row["peak_process"] > 50_000_000
    assert list((tmp_path / "scratch").iterdir()) == []
    json.dumps(row)


@pytest.mark.slow
def test_in_memory__reaches_its_speed():
    fast, slow = cells(tables.in_memory([case(10**9, 5.0), case(10**9, 8.0)]))
    assert (fast["MB/s"], fast["reached"]) == ("200", "yes")
    assert slow["reached"] == "**no**"


@pytest.mark.slow
@pytest.mark.parametrize(("power", "reached"), [(1.0, "yes"), (1.1, "**no**")])
def test_growth__fits_the_exponent(power, reached):
    sizes = [10**9, 2 * 10**9, 10**10]
    options = ["--memory", "1GB"]
    laid_out = tables.growth([case(n, (n / 10**9) ** power, options=options) for n in sizes])
    rows, exponents = laid_out.split("\n\n")
    assert {row["kept to"] for row in cells(rows)} == {"yes"}
    wall = cells(exponents)[0]
    assert (float(wall["exponent"]), wall["reached"]) == (pytest.approx(power), reached)


@pytest.mark.slow
def test_growth__exceeds_its_memory():
    over = case(10**9, 1.0, options=["--memory", "1GB"], peak_tree=1.31e9)
    assert cells(tables.growth([over]))[0]["kept to"] == "**no**"
    assert cells(tables.growth([case(10**9, 1.0)]))[0]["kept to"] == "–"


@pytest.mark.slow
def test_shapes__are_compared_with_the_case_behind_them():
    bucket = case(10**6, 9.0, collection="bucket")
    row = cells(tables.shapes([bucket, case(10**6, 2.0)]))[0]
    assert (row["times as long"], row["reached"]) == ("4.50", "**no**")


@pytest.mark.slow
def test_workers__sum_reading_and_deciding():
    one = case(10**9, 8.0, seconds={"read": 4.0, "choose": 2.0, "write": 2.0})
    two = case(10**9, 5.0, seconds={"read": 2.0, "choose": 1.0, "write": 2.0})
    rows = {row["stage"]: row for row in cells(tables.workers([one, two]))}
    assert rows["write"]["times"] == "1.00"
    assert rows["reading and deciding"]["times"] == "2.00"
    assert rows["reading and deciding"]["reached"] == "yes"


@pytest.mark.slow
@each_of("name", PARTS)
def test_tables__of_nothing_measured(name):
    assert tables.TABLES[name]([])
