"""How two runs differ, in words."""

from __future__ import annotations

from neardup.engine.opening import difference, only_options_differ
from neardup.runs.work import digest_of
from tests.each import each_of


def files(*names: str, size: int = 1) -> list[dict[str, object]]:
    return [{"path": name, "size": size, "mtime_ns": 5} for name in names]


OLD = {"options": {"threshold": "0.8", "ngram": 5}, "version": "1", "inputs": files("a", "b")}


@each_of(
    ("changes", "words"),
    [
        ({}, ""),
        ({"version": "2"}, "version was 1, is 2"),
        (
            {"options": {"threshold": "0.7", "ngram": 5}},
            "options changed since: threshold was 0.8, is 0.7",
        ),
        (
            {"options": {"ngram": 6, "tf": "log"}},
            "options changed since: ngram was 5, is 6, tf was not given, is log, threshold was "
            "0.8, is not given",
        ),
        ({"inputs": files("a", "b", size=2)}, "inputs changed since: a, b"),
        ({"inputs": files("a", "c")}, "inputs added since: c; inputs no longer there: b"),
        ({"inputs": files("b", "a")}, "inputs are in another order, or given another number of"),
        ({"inputs": files("a", "b", "b")}, "inputs are in another order, or given another number"),
        (
            {"inputs": files(*"abcdefgh")},
            "inputs added since: c, d, e and 3 more",
        ),
        ({"inputs": files()}, "inputs no longer there: a, b"),
        ({"against": files("c")}, "against added since: c"),
        ({"inputs": "a table"}, "inputs was [{'"),
    ],
)
def test_difference(changes, words):
    new = OLD | changes
    found = difference(OLD, new)
    assert found.startswith(words)
    assert bool(found) == bool(words)
    assert (digest_of(OLD) == digest_of(new)) == (not words)


@each_of(
    ("changes", "alike"),
    [
        ({}, True),
        ({"options": {"threshold": "0.7"}}, True),
        ({"versions": {"numpy": "3"}}, False),
        ({"inputs": files("a", "b", size=2)}, False),
        ({"inputs": files("b", "a")}, False),
        ({"against": files("c")}, False),
        ({"against": []}, False),
    ],
)
def test_only_options_differ(changes, alike):
    assert only_options_differ(OLD, OLD | changes) == alike
    assert only_options_differ(OLD | changes, OLD) == alike


def test_digest__of_the_meaning():
    """Neither the order of names counts nor whether a list is a tuple."""
    turned = dict(reversed(OLD.items())) | {"inputs": tuple(files("a", "b"))}
    assert digest_of(turned) == digest_of(OLD)
    assert difference(turned, OLD) == ""
