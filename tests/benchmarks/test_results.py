"""Results files are read as they were written, compressed or not."""

from __future__ import annotations

from benchmarks.measuring.results import read_results, write_results
from tests.each import each_of

RESULTS = {"part": {"figures": [1, 2.5, "é"], "quick": False}}


@each_of("name", ["results.json", "results.json.xz"])
def test_results__are_read_back(tmp_path, name):
    path = tmp_path / name
    assert read_results(path) == {}
    write_results(path, RESULTS)
    assert read_results(path) == RESULTS
    assert path.read_bytes().startswith(b"\xfd7zXZ" if name.endswith("xz") else b"{")
