"""The first table of the benchmarks' page: which rows are chosen, and what is marked as lost."""

from __future__ import annotations

from typing import Any

from benchmarks.overview import format_overview


def _peer(name: str, way: str, wall: float, own_wall: float) -> dict[str, Any]:
    own = {"wall": own_wall, "peak_tree": 40_000_000}
    return {"peer": name, "way": way, "wall": wall, "peak_tree": 20_000_000, "neardup": own}


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:]]


def test_overview__tells_of_the_peer_that_comes_nearest() -> None:
    peers = [
        _peer("slow", "verified", 90.0, 2.0),
        _peer("near", "verified", 30.0, 2.0),
        _peer("near", "plain", 1.0, 2.0),
        # Faster by the clock than the one above, but so was neardup beside it.
        _peer("later", "plain", 0.9, 1.0),
    ]
    figures = {"input_bytes": 264_000_000, "peers": peers}
    proved, unproved = _cells(format_overview({"peers": {"figures": figures}}))
    assert proved[1:] == ["264 MB of texts", "2.00", "near", "30.0", "15.0", "40 and 20"]
    assert unproved[1:] == ["264 MB of texts", "2.00", "near", "1.00", "**0.50**", "40 and 20"]


def test_overview__leaves_out_joins_that_took_a_peer_too_long() -> None:
    memory = {"peak": 1_000_000}
    own = {"records": 5, "seconds": [1.0, 3.0, 2.0], "memory": memory}
    done = {"tool": "done", "seconds": [8.0], "memory": {"peak": 2_000_000}}
    over = {"tool": "over", "seconds": None}
    case = {"corpus": "titles", "elements": "words", "threshold": "0.5", "neardup": own}
    cases = [{**case, "peers": [over]}, {**case, "peers": [done, over]}]
    (row,) = _cells(format_overview({"joins": {"figures": {"cases": cases}}}))
    assert row[2:] == ["2.00", "done", "8.00", "4.00", "1 and 2"]
