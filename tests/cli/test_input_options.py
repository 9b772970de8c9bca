"""Options that say what input files hold, in every command that has them."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidParameterError

GOOD = b'{"text": "one two three", "id": "a"}\n'
COMMANDS = [
    "dedup {} -o out",
    "dedup {} --against {} -o out",
    "pairs {} -o out.csv",
    "pairs {} --against {} -o out.csv",
    "index build new {}",
    "index add idx {}",
    "search idx {} -o out.csv",
    "align {} --against idx -o out.csv",
    "align {} --against {} -o out.csv",
    "drop {} --named-in ids.txt --missing ignore -o out",
    "sketch {} -o out.parquet",
    "plan {}",
]
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def index(here, write_file):
    neardup.PassageIndex.create(here / "idx", min_tokens=2).add(["one two three"])
    write_file("ids.txt", "nothing\n")


@every_command
def test_lines__without_text(run, index, write_file, command):
    write_file("a.jsonl", GOOD)
    outcome = run(*command.format("a.jsonl", "a.jsonl").split(), "--lines")
    assert (outcome.code, outcome.out) == (1, "")
    error = "error: --lines has no effect where no input is text; leave it out, or "
    assert outcome.err.startswith(error)


@every_command
def test_lines__where_one_collection_is_text(run, index, write_file, command):
    write_file("a.jsonl", GOOD)
    write_file("b.txt", "one two three\nfour five six\n")
    names = ("a.jsonl", "b.txt") if command.count("{}") == 2 else ("b.txt",)
    assert run(*command.format(*names).split(), "--lines").code == 0


def test_lines__without_text_in_python(here, index, write_file):
    write_file("a.jsonl", GOOD)
    index = neardup.PassageIndex.open("idx")
    calls = (
        neardup.deduplicate,
        neardup.find_pairs,
        neardup.sketch,
        index.add,
        index.search,
        lambda data, **options: neardup.align(data, index, **options),
        lambda data, **options: neardup.align(["a text"], data, **options),
    )
    for call in calls:
        for data in ([{"text": "one", "id": "b"}], here / "a.jsonl"):
            with pytest.raises(InvalidParameterError, match=r"^lines has no effect where"):
                call(data, lines=True)
