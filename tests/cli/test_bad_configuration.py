"""Wrong keys and values in ``neardup.toml``: an error that names the place, before any work."""

from __future__ import annotations

import pytest

from neardup.cli.configuration import is_configurable, key_of
from tests.commands import COMMANDS

IN_FILES = {
    "treshold = 1": "treshold is not an option of `neardup`; did you mean threshold?",
    "[dedup]\ntop = 1": "dedup.top is not an option of `neardup dedup`; `neardup dedup --help` "
    "lists them",
    "[pairs]\ntpo = 1": "pairs.tpo is not an option of `neardup pairs`; did you mean top?",
    "[index]\nxyz = 1": "index.xyz is not an option of `neardup index`; `neardup index --help` "
    "lists them",
    "[dedupe]\nseed = 1": "dedupe is not a command of `neardup`; did you mean dedup?",
    "[index.bild]\nseed = 1": "index.bild is not a command of `neardup index`; did you mean build?",
    "[xyz]": "xyz is not a command of `neardup`; `neardup --help` lists them",
    "dedup = 1": "dedup is not an option of `neardup`; `neardup --help` lists them",
    "threshold = 80": "threshold must lie in (0, 1], got 80; write 0.8 for 80 %",
    "[dedup]\nthreshold = 'a'": "dedup.threshold must be a number in (0, 1], got 'a'",
    "threshold = true": "threshold must be a number in (0, 1], got True",
    "ngram = 2.5": "ngram must be a whole number, got 2.5",
    "ngram = '5'": "ngram must be a whole number, got '5'",
    "ngram = 0": "ngram must lie between 1 and 65536, got 0",
    "clusters = 'all'": "clusters must be survivors or components, got 'all'",
    "main-text = 1": "main-text must be true or false, got 1",
    "id-column = ['a']": "id-column must be a string, got ['a']",
    "overwrite = true": "overwrite is for the command line only; write --overwrite there",
    "[dedup]\noutput = 'out'": "dedup.output is for the command line only; write --output there",
    "[dedup]\nagainst = 'x'": "dedup.against is for the command line only; write --against there",
    "seed": "not valid TOML: Expected '=' after a key in a key/value pair (at end of document)",
}


@pytest.fixture(autouse=True)
def inputs(write_file):
    write_file("in.jsonl", '{"text": "one two three"}\n')


@pytest.mark.parametrize(("text", "error"), IN_FILES.items())
def test_neardup_toml(fails, write_file, text, error):
    write_file("neardup.toml", text)
    fails("dedup", "in.jsonl", "-o", "out", error=f"neardup.toml: {error}")


def test_not_utf8(fails, write_file):
    write_file("neardup.toml", b"keep = '\xff'")
    error = "neardup.toml: not UTF-8 text, as TOML is"
    fails("dedup", "in.jsonl", "-o", "out", error=error)


def test_keys__mean_one_thing():
    """A key is one option, which is configurable in every command that has it or in none."""
    seen = {}
    for options in COMMANDS.values():
        for option in options:
            same = seen.setdefault(key_of(option), (option.name, is_configurable(option)))
            assert same == (option.name, is_configurable(option))
    refused = {key for key, (_, allowed) in seen.items() if not allowed}
    assert refused >= {"output", "overwrite", "against", "named-in", "ids"}
    assert not refused & {"threshold", "text-column", "tokenizer", "workers", "keep"}
