"""What is measured of an index of documents, and what tables make of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks.documents import parts, tables
from benchmarks.documents.__main__ import lay_out
from benchmarks.documents.memory import AnonymousMemory
from benchmarks.documents.queries import write_queries
from benchmarks.documents.shelf import Shelf, size_of
from benchmarks.documents.timed import read_rows, time_queries
from benchmarks.measuring.figures import latencies


def cells(table):
    rows = [[each.strip() for each in line.strip("|").split("|")] for line in table.splitlines()]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def run(wall, cpu=1.0, peak=10**8):
    return {"wall": wall, "cpu": cpu, "peak_tree": peak}


def timed(ms):
    times = latencies([ms] * 3)
    clocks = dict.fromkeys(("first", "first_cpu", "again", "again_cpu"), times)
    return {"queries": 3, "found": 3, "found_own": 2, **clocks}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return Shelf(tmp_path_factory.mktemp("shelf"), Path(sys.executable))


@pytest.mark.slow
def test_latencies():
    found = latencies([float(i) for i in range(101)])
    assert found == {"median_ms": 50, "slow_ms": 99, "least_ms": 0, "most_ms": 100}


@pytest.mark.slow
def test_collection__new_documents_follow_those_that_are_there(shelf):
    collection = shelf.collection(300)
    ids = [name for path in (collection.base, collection.new) for name, _ in read_rows(path)]
    assert (len(read_rows(collection.base)), len(ids), len(set(ids))) == (300, 330, 330)
    assert ids == sorted(ids)
    assert shelf.collection(300) == collection
    texts = dict(read_rows(collection.base))
    # Some of what is new is there already.
    assert any(text in texts.values() for _, text in read_rows(collection.new))


@pytest.mark.slow
def test_queries__are_like_a_document_or_like_none(shelf):
    like, unlike = shelf.queries(300, 100)
    texts = dict(read_rows(shelf.collection(300).base))
    rows = read_rows(like)
    assert len(rows) == len(read_rows(unlike)) == 100
    assert len({name for name, _ in rows}) > 50
    for name, text in rows:
        old, new = texts[name].split(" "), text.split(" ")
        changed = sum(a != b for a, b in zip(old, new, strict=True))
        # Another document's word may be the same one.
        assert changed <= max(1, len(old) // 100)
    assert sum(text != texts[name] for name, text in rows) > 90
    assert not {text for _, text in read_rows(unlike)} & set(texts.values())


@pytest.mark.slow
def test_queries__are_the_same_every_time(shelf, tmp_path):
    like, _ = shelf.queries(300, 100)
    write_queries(shelf.collection(300).base, tmp_path / "again", 100)
    assert (tmp_path / "again").read_bytes() == like.read_bytes()


@pytest.mark.slow
def test_copy__of_an_index_leaves_it_as_it_is(shelf):
    import neardup

    index = shelf.index(300)
    size = size_of(index)
    with shelf.copy(300) as folder:
        opened = neardup.DocumentIndex.open(folder)
        opened.insert("another", "one more text")
        opened.close()
        assert len(opened) == 301
    assert not folder.exists()
    assert size_of(index) == size
    assert len(neardup.DocumentIndex.open(index)) == 300


@pytest.mark.slow
def test_drop(shelf):
    for number in (40, 400):
        shelf.index(number)
    shelf.drop(40)
    left = {path.name for path in shelf.folder.iterdir()}
    assert {"400.jsonl", "400-new.jsonl", "400-index"} <= left
    assert not [name for name in left if name.startswith(("40.", "40-"))]


@pytest.mark.slow
def test_anonymous_memory__is_that_of_children():
    work = "import time; held = bytearray(60_000_000); time.sleep(0.5)"
    with AnonymousMemory() as memory:
        subprocess.run([sys.executable, "-c", work], check=True)
    assert 60_000_000 < memory.peak < 100_000_000


@pytest.mark.slow
def test_time_queries():
    answers = {"x": [("a", 1.0), ("b", 0.9)], "y": []}
    report, found = time_queries(answers.__getitem__, [("b", "x"), ("c", "y")])
    assert found == [["b", "a", 1.0], ["b", "b", 0.9]]
    assert (report["queries"], report["found"], report["found_own"]) == (2, 2, 1)
    assert report["again"]["slow_ms"] >= report["again_cpu"]["least_ms"] >= 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wall", "peak", "size", "reached"),
    [(10.0, 10**9, 850_000, "yes"), (14.0, 1.1 * 10**9, 850_001, "**no**")],
)
def test_build(wall, peak, size, reached):
    figures = {"documents": 1000, "input_bytes": 10**9, "text_bytes": 10**6, "index_bytes": size}
    row = tables.build(figures | run(wall, peak=peak))
    # There are several columns of one name.
    assert row.splitlines()[-1].count(reached) == 3


@pytest.mark.slow
def test_queries__beside_datasketch():
    own = [{"queries": [timed(0.2), timed(0.4)], "memory": {"peak": 10**9}}] * 2
    other = {"queries": [timed(4.0), timed(3.0)], "memory": {"peak": 10**9}, "build_seconds": 1.0}
    both = parts._compare([["q", "d", 0.9], ["q", "e", 0.8]], [["q", "d", 0.9], ["r", "e", 0.8]])
    assert both == {"both": 1, "neardup alone": 1, "datasketch alone": 1, "other similarity": 0}
    laid_out = tables.queries({"neardup": own, "datasketch": other, "both": both})
    like, _, unlike, peer = cells(laid_out.partition("\n\n")[0])
    assert (like["times as fast"], unlike["times as fast"], peer["times as fast"]) == (
        *("20.0", "7.50", "–"),
    )
    assert [each["reached"] for each in (like, unlike)] == ["yes", "**no**"]
    assert "datasketch alone 1" in laid_out


@pytest.mark.slow
def test_redis__beside_neardup():
    own = [{"queries": [timed(0.2), timed(0.4)]}] * 2
    peers = {
        "datasketch": {"queries": [timed(0.1), timed(0.4)], "build_seconds": 1.0},
        "redis": {"queries": [timed(1.0), timed(2.0)], "build_seconds": 9.0},
    }
    both = {"both": 2}
    laid_out = tables.redis({"neardup": own, **peers, "server_bytes": 5 * 10**6, "both": both})
    rows = cells(laid_out.partition("\n\n")[0])
    assert [each["tool"] for each in rows] == ["neardup", "datasketch", "datasketch on Redis"] * 2
    times = [each["times the median of neardup"] for each in rows]
    assert times == ["1.00", "0.50", "5.00", "1.00", "1.00", "5.00"]
    assert "both 2. The server has 5 MB; building took 1 s in memory and 9 s on Redis" in laid_out
    assert tables.redis({}).startswith("Not measured")


@pytest.mark.slow
def test_insertions__take_the_median():
    runs = [
        {"offered": 100, "seconds": s, "cpu": 0.001, "inserted": 90, "segments": 3}
        for s in (0.004, 0.005, 1)
    ]
    fresh, large = cells(
        tables.insertions(
            {"documents": 10, "runs": {"insert, fresh": runs, "insert_if_new, large": runs}}
        )
    )
    assert (fresh["a second"], fresh["reached"]) == ("20,000", "yes")
    assert (large["into"], large["to reach"]) == ("10 documents", "–")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wall", "peak", "reached"), [(4.0, 110, ["yes", "yes"]), (4.1, 111, ["**no**", "**no**"])]
)
def test_against(wall, peak, reached):
    runs = {"alone": run(2.0), "against": run(wall), "against fewer": run(2.0)}
    laid_out = tables.against(
        {
            "documents": 100,
            "fewer": 10,
            "input_bytes": 10**7,
            "runs": runs,
            "removed": dict.fromkeys(runs, 5),
            "anonymous": {"alone": 100, "against": peak, "against fewer": 100},
        }
    )
    _, against, _ = cells(laid_out)
    assert [against["reached"], against["at most 1.1"]] == reached


@pytest.mark.slow
@pytest.mark.parametrize(("power", "reached"), [(0.05, "yes"), (0.2, "**no**")])
def test_growth__fits_exponents(power, reached):
    opened = {"seconds": 0.1, "cpu": 0.1, "memory": {"added": 10**6}}
    cases = [
        {
            "documents": n,
            "input_bytes": n,
            "index_bytes": n,
            "opened": opened,
            "build": run(n / 1e6),
            "queries": [timed(n**power), timed(1.0)],
        }
        for n in (10**6, 10**7, 10**8)
    ]
    laid_out, exponents = tables.growth({"cases": cases}).split("\n\n")
    assert cells(laid_out)[-1]["0.2 s and 2% of its size"] == "yes"
    rows = {row["grows with this power of the documents"]: row for row in cells(exponents)}
    assert rows["building, seconds"]["reached"] == "yes"
    assert rows["texts like a document, ms"]["reached"] == reached
    assert float(rows["texts like a document, ms"]["exponent"]) == pytest.approx(power)


@pytest.mark.slow
def test_against__is_left_out_where_there_is_no_such_option(shelf):
    with patch.object(parts, "known_options", return_value=frozenset(["--output"])):
        figures = parts.against(parts.Bench(shelf.python, shelf))
    assert "Not measured" in tables.against(figures)


@pytest.mark.slow
def test_parts__run(shelf):
    bench = parts.Bench(shelf.python, shelf, shrink=2000)
    results = {}
    with patch.object(parts, "REPEATS", 1):
        for name in ("build", "insertions", "against", "readers", "growth"):
            machine = {"cpu": "a", "cores": 2, "memory_bytes": 1, "python": "3", "packages": {}}
            entry = {"date": "today", "quick": False, "machine": machine, "load": 0.5}
            results[name] = {**entry, "figures": parts.PARTS[name](bench)}
    figures = {name: entry["figures"] for name, entry in results.items()}
    assert figures["build"]["index_bytes"] > 100_000
    (inserted,) = figures["insertions"]["runs"]["insert_if_new, fresh"]
    assert 0 < inserted["inserted"] <= inserted["offered"] == 20
    (beside,) = figures["readers"]["runs"]["beside a writer"]
    assert sum(reader["missed"] for reader in beside["readers"]) == 0
    assert [case["documents"] for case in figures["growth"]["cases"]] == [500, 1500, 5000]
    assert figures["growth"]["cases"][0]["queries"][0]["found_own"] > 150
    assert "**Documents inserted one at a time" in lay_out(json.loads(json.dumps(results)))
