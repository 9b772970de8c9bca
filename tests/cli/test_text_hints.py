"""Hints in the output of commands and in warnings of functions."""

from __future__ import annotations

import json
import random
import warnings
from functools import partial
from pathlib import Path

import pytest

import neardup
from neardup import DocumentIndex, PassageIndex
from tests.each import each_of

THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"
DRAWN = random.Random(7)
WORDS = ["".join(DRAWN.choices("abdegiklmnoprstu", k=8)) for _ in range(400)]


def prose(n_words: int) -> str:
    return " ".join(DRAWN.choices(WORDS, k=n_words))


TEXTS = {
    "prose": [prose(120) for _ in range(60)],
    "titles": [prose(3) for _ in range(60)],
    "half titles": [prose(3 if i % 2 else 120) for i in range(60)],
    "thai": [" ".join(DRAWN.choices(THAI.split("า"), k=9)) for _ in range(12)],
}


@pytest.fixture
def files(write_file):
    for name, texts in TEXTS.items():
        rows = (json.dumps({"id": f"{i}", "text": text}) + "\n" for i, text in enumerate(texts))
        write_file(f"{name}.jsonl", "".join(rows))


def hints_of(run, command: str, name: str) -> tuple[list[str], list[str]]:
    """Return the lines of hints of a command, and the names of its hints in JSON."""
    words = [word.format(f"{name}.jsonl") for word in command.split()]
    printed = run(*words, "--overwrite")
    assert printed.code == 0
    lines = [line for line in printed.out.splitlines() if line.startswith("hint: ")]
    found = json.loads(run(*words, "--overwrite", "--json").out)["hints"]
    return lines, [hint["name"] for hint in found]


DEDUP = "dedup {} -o out"
SKETCH = "sketch {} -o sketches.parquet"
ALIGN = "align {} -o passages.csv --min-tokens 20"
CUT = "cut {} -o out --min-tokens 20"
BUILD = "index build idx {} --kind documents"
BUILD_PASSAGES = "index build idx {} --min-tokens 20"
HINTS = {
    (DEDUP, "titles"): "short",
    ("pairs {} -o pairs.csv", "titles"): "short",
    (SKETCH, "titles"): "short",
    (BUILD, "titles"): "short",
    (ALIGN, "thai"): "letters",
    (CUT, "thai"): "letters",
    (BUILD_PASSAGES, "thai"): "letters",
}


@pytest.mark.slow
@each_of("case", HINTS)
def test_hint__of_each_command(run, files, case):
    [line], names = hints_of(run, *case)
    assert "; try " in line
    assert names == [HINTS[case]]


@pytest.mark.slow
@each_of(
    "case",
    [
        (DEDUP, "prose"),
        (DEDUP, "half titles"),
        (DEDUP, "thai"),
        (f"{DEDUP} --ngram 3", "titles"),
        (f"{DEDUP} --preset titles", "titles"),
        (f"{SKETCH} --ngram 1", "titles"),
        (ALIGN, "prose"),
        (f"{ALIGN} --ngram 3", "thai"),
        (f"{CUT} --exact", "thai"),
        (f"{CUT} --tokenizer words", "thai"),
        (BUILD, "prose"),
        (BUILD_PASSAGES, "prose"),
    ],
)
def test_hint__not_otherwise(run, files, case):
    assert hints_of(run, *case) == ([], [])


@each_of(
    ("build", "name", "hint"), [(BUILD, "titles", "short"), (BUILD_PASSAGES, "thai", "letters")]
)
def test_search__hints(run, files, build, name, hint):
    assert run(*build.format("prose.jsonl").split(), "--overwrite").code == 0
    [line], names = hints_of(run, "search idx {} -o hits.csv", name)
    assert "; try " in line
    assert names == [hint]


@pytest.mark.slow
@each_of(
    ("name", "call", "hint"),
    [
        ("titles", neardup.deduplicate, "short"),
        ("titles", neardup.find_pairs, "short"),
        ("titles", neardup.sketch, "short"),
        ("thai", partial(neardup.align, min_tokens=20), "letters"),
        ("thai", neardup.cut, "letters"),
        ("titles", (DocumentIndex, "add"), "short"),
        ("thai", (PassageIndex, "add"), "letters"),
        ("titles", (DocumentIndex, "search"), "short"),
        ("thai", (PassageIndex, "search"), "letters"),
    ],
)
def test_warning__once_a_call_at_its_line(name, call, hint, tmp_path):
    if isinstance(call, tuple):
        kind, method = call
        index = kind.create(tmp_path / "index")
        if method == "search":
            index.add(TEXTS["prose"])
        call = getattr(index, method)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(TEXTS[name])
    [warning] = caught
    assert issubclass(warning.category, neardup.errors.NeardupHint)
    assert Path(warning.filename) == Path(__file__)
    [found] = result.summary["hints"]
    assert found == {"name": hint, "message": str(warning.message)}


def test_warning__none_where_nothing_is_wrong(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        neardup.deduplicate(TEXTS["prose"])
        # No data has nothing to look at.
        neardup.deduplicate([])
        neardup.align([], [])
        neardup.cut([])
        for kind in (DocumentIndex, PassageIndex):
            index = kind.create(tmp_path / kind.__name__)
            index.add([])
            index.search(TEXTS["titles"])
            index.add(TEXTS["prose"])
            index.search(TEXTS["prose"])
