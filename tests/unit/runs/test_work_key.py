"""How two runs differ, in words."""

from __future__ import annotations

from neardup.engine.opening import difference, only_options_differ
from neardup.runs.work import digest_of
from tests.each import each_of


def files(*names: str, size: int = 1) -> list[dict[str, object]]:
    return [{"path": name, "size": size, "mtime_ns": 5} for name in names]


OLD = {"options": {"threshold": "0.8", "ngram": 5}, "version": "1", "inputs": files("a", "b")}


@each_of(
    ("changes", "names"),
    [
        ({}, ""),
        ({"version": "2"}, "version"),
        ({"options": {"threshold": "0.7", "ngram": 5}}, "threshold"),
        ({"options": {"ngram": 6, "tf": "log"}}, "ngram, tf, threshold"),
        ({"inputs": files("a", "b", size=2)}, "inputs"),
        ({"inputs": files("b", "a")}, "inputs"),
        ({"inputs": files("a", "b", "b"), "against": files("c")}, "against, inputs"),
        ({"inputs": "a table"}, "inputs"),
    ],
)
def test_difference(changes, names):
    new = OLD | changes
    assert difference(OLD, new) == names
    assert (digest_of(OLD) == digest_of(new)) == (not names)


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
