"""What every command with ``--engine spark`` says where Spark is not as it has to be."""

from __future__ import annotations

import sys

import pytest

import neardup.cli
from neardup.version import pip_install
from tests.commands import COMMANDS

# Beside input and output, what a command needs for Spark to do it.
_MORE = {"cut": ["--exact"], "search": ["queries.jsonl"]}
ON_SPARK = [
    name for name, options in COMMANDS.items() if "engine" in {each.name for each in options}
]


@pytest.mark.parametrize("name", ON_SPARK)
def test_without_pyspark(tmp_path, monkeypatch, capsys, name):
    """One line, before anything is read."""
    for module in ("pyspark", "py4j", "py4j.protocol"):
        monkeypatch.setitem(sys.modules, module, None)
    output = "out" if name in ("dedup", "cut") else "out.csv"
    words = [*name.split(), str(tmp_path / "none.jsonl"), "-o", str(tmp_path / output)]
    assert neardup.cli.run([*words, *_MORE.get(name, []), "--engine", "spark"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: engine spark needs an extra")
    assert pip_install("spark") in said
    assert len(said.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
