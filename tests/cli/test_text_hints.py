"""Hints: said where texts are not what the usual options are for, and nowhere else."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import pytest

import neardup
from neardup import DocumentIndex, PassageIndex
from neardup.options.documents import DedupOptions, PairOptions
from neardup.options.kinds import Choice
from neardup.options.option import Options
from neardup.options.sketches import SketchOptions
from tests.each import each_of

ROOT = Path(__file__).parents[2]
THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"
DRAWN = random.Random(7)
WORDS = ["".join(DRAWN.choices("abdegiklmnoprstu", k=8)) for _ in range(400)]


def prose(n_words: int) -> str:
    return " ".join(DRAWN.choices(WORDS, k=n_words))


def misread(text: str) -> str:
    """Read about 2 % of the letters wrong."""
    return "".join("c" if DRAWN.random() < 0.02 and c != " " else c for c in text)


def page(text: str, n_entries: int) -> str:
    """Put a text into a page with a menu that all pages of the site have."""
    menu = "".join(f"<li>entry {n} of the menu</li>" for n in range(n_entries))
    return f"<html><body><ul>{menu}</ul><article><p>{text}</p></article></body></html>"


HEAD = prose(80)
TEXTS = {
    "prose": [prose(120) for _ in range(60)],
    "titles": [prose(3) for _ in range(60)],
    "half titles": [prose(3 if i % 2 else 120) for i in range(60)],
    "ocr": [misread(prose(120)) for _ in range(60)],
    # Programs share passages, each of which takes its time: their beginnings will do.
    "code": [
        path.read_text(encoding="utf-8")[:2000]
        for path in sorted(ROOT.glob("src/neardup/cli/*.py"))[:9]
    ],
    "thai": [" ".join(DRAWN.choices(THAI.split("า"), k=9)) for _ in range(12)],
    "heads": [f"{HEAD} {prose(20)}" for _ in range(30)],
    "site": [page(prose(60), 60) for _ in range(60)],
    "plain pages": [page(prose(60), 6) for _ in range(60)],
}


@pytest.fixture
def files(write_file):
    for name, texts in TEXTS.items():
        rows = (json.dumps({"id": f"{i}", "text": text}) + "\n" for i, text in enumerate(texts))
        write_file(f"{name}.jsonl", "".join(rows))


def lines_of(run, *arguments: str) -> list[str]:
    told = run(*arguments, "--overwrite")
    assert told.code == 0
    return [line for line in told.out.splitlines() if line.startswith("hint: ")]


def hints_of(run, *arguments: str) -> list[str]:
    """Return the names of the hints of a command in its JSON, of which lines are made."""
    told = run(*arguments, "--overwrite", "--json")
    assert told.code == 0
    return [hint["name"] for hint in json.loads(told.out)["hints"]]


def arguments(command: str, name: str) -> list[str]:
    return [word.format(f"{name}.jsonl") for word in command.split()]


DEDUP = "dedup {} -o out"
PAIRS = "pairs {} -o pairs.csv"
SKETCH = "sketch {} -o sketches.parquet"
PAGES = "--input-format html"
ALIGN = "align {} -o passages.csv --min-tokens 20"
CUT = "cut {} -o out"
CUT_THAI = f"{CUT} --min-tokens 20"
LINES = f"{CUT} --unit lines"
EXACT = f"{CUT} --exact"
BUILD = "index build idx {} --kind documents"
BUILD_PASSAGES = "index build idx {} --min-tokens 20"


def remedy(name: str, otherwise: str, kind: type[Options] = DedupOptions) -> str:
    """Return the preset of a name, if a command has it, else other options."""
    preset = kind.known.get("preset")
    values = () if preset is None or not isinstance(preset.kind, Choice) else preset.kind.values
    return f"try --for {name}" if name in values else f"try {otherwise}"


FINER = "--ngram 1 or --tokenizer characters"
OCR = remedy("ocr", "--tokenizer characters --ngram 5 --threshold 0.5")
CODE = remedy("code", "--ngram 3 --threshold 0.5")
SAID = {
    (DEDUP, "titles"): ("short", remedy("titles", FINER)),
    (PAIRS, "titles"): ("short", remedy("titles", f"{FINER} or --max-distance 2", PairOptions)),
    (SKETCH, "titles"): ("short", remedy("titles", FINER, SketchOptions)),
    (DEDUP, "ocr"): ("ocr", OCR),
    (PAIRS, "ocr"): ("ocr", OCR),
    (DEDUP, "code"): ("code", CODE),
    (PAIRS, "code"): ("code", CODE),
    **{(f"{each} {PAGES}", "site"): ("frames", "try --main-text") for each in (DEDUP, PAIRS)},
    (ALIGN, "thai"): ("letters", "try --ngram 3"),
    (ALIGN, "code"): ("code", "try --for code"),
    (f"{ALIGN} --threshold 0.8", "ocr"): ("ocr", "try --for ocr"),
    (CUT, "titles"): (
        "short",
        "fewer than 50 tokens, and nothing shorter is found; try --min-tokens 2",
    ),
    (EXACT, "titles"): ("short", "try --min-tokens 2"),
    (CUT, "ocr"): ("ocr", "try --for ocr"),
    (CUT, "code"): ("code", "try --for code"),
    (CUT_THAI, "thai"): ("letters", "try --ngram 3"),
    (LINES, "ocr"): ("ocr", "try --for ocr"),
    (f"{LINES} --min-tokens 10", "titles"): ("short", "try --min-tokens 2"),
    (BUILD, "titles"): ("short", "try --for titles"),
    (BUILD, "ocr"): ("ocr", "try --for ocr"),
    (BUILD, "code"): ("code", "try --for code"),
    (BUILD_PASSAGES, "titles"): ("short", "try --min-tokens 2"),
    (BUILD_PASSAGES, "ocr"): ("ocr", "try --for ocr"),
    (BUILD_PASSAGES, "code"): ("code", "try --for code"),
    (BUILD_PASSAGES, "thai"): ("letters", "try --ngram 3"),
    (ALIGN, "heads"): ("flood", "try --max-documents 10% or --ignore FILE"),
}


@pytest.mark.slow
@each_of("case", SAID)
def test_hint__is_said_with_the_options_of_the_command(run, files, case):
    (command, name), (hint, end) = case, SAID[case]
    [line] = lines_of(run, *arguments(command, name))
    assert hints_of(run, *arguments(command, name)) == [hint]
    assert line.endswith(end)


@pytest.mark.slow
@each_of("case", dict(SAID.keys()).items(), ids=str)
def test_hint__is_not_printed_with_quiet(run, files, case):
    quiet = run(*arguments(*case), "--overwrite", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("case", SAID, ids=str)
def test_hint__what_it_names_silences_it(run, files, case):
    """An option that the command takes, and one that suits the texts."""
    given = arguments(*case)
    [line] = lines_of(run, *given)
    ways = [way for way in line.split("; try ")[1].split(" or ") if "FILE" not in way]
    for way in ways:
        assert lines_of(run, *given, *way.split()) == []


UNSAID = [
    *((command, "prose") for command in (DEDUP, PAIRS, SKETCH, ALIGN, CUT, LINES, EXACT)),
    *((command, "prose") for command in (BUILD, BUILD_PASSAGES)),
    *((command, "half titles") for command in (DEDUP, PAIRS, SKETCH)),
    *(
        (f"{DEDUP} {PAGES}", "plain pages"),
        (DEDUP, "site"),
        (f"{DEDUP} {PAGES} --main-text", "site"),
    ),
    # Who has chosen himself needs none.
    (f"{DEDUP} --tokenizer characters", "ocr"),
    (f"{DEDUP} --tokenizer words", "ocr"),
    (f"{DEDUP} --ngram 3", "code"),
    (f"{PAIRS} --tokenizer whitespace", "code"),
    (f"{DEDUP} --ngram 1", "titles"),
    (f"{PAIRS} --max-distance 2", "titles"),
    (f"{PAIRS} --measure hamming --max-distance 2", "titles"),
    (f"{ALIGN} --ngram 3", "thai"),
    (f"{ALIGN} --ngram 1 --max-documents 50", "thai"),
    (f"{ALIGN} --max-documents 10%", "heads"),
    (f"{ALIGN} --ignore prompt.txt", "heads"),
    *((f"{each} --tokenizer words", "ocr") for each in (CUT, LINES, BUILD, BUILD_PASSAGES)),
    *((f"{each} --ngram 1", "code") for each in (ALIGN, CUT, BUILD, BUILD_PASSAGES)),
    (f"{ALIGN} --for editions", "thai"),
    (f"{BUILD_PASSAGES} --for rewording", "code"),
    (f"{CUT} --for ocr", "ocr"),
    # What is half the same, or contained, few wrong letters hide; equal is equal.
    (f"{CUT} --threshold 0.5", "ocr"),
    (f"{ALIGN} --threshold 0.8 --measure containment", "ocr"),
    *((EXACT, name) for name in ("ocr", "code")),
    (f"{EXACT} --min-tokens 20", "thai"),
    # Lines of programs are no programs; there is no preset for them.
    (LINES, "code"),
    (f"{CUT} --min-tokens 2", "titles"),
    *((command, "half titles") for command in (CUT, EXACT, BUILD, BUILD_PASSAGES)),
    # Passages by words find what is misread, and one of which few have.
    (ALIGN, "ocr"),
    (ALIGN, "titles"),
]


@pytest.mark.slow
@each_of("case", UNSAID)
def test_hint__is_not_said_otherwise(run, files, write_file, case):
    write_file("prompt.txt", HEAD)
    command, name = case
    assert hints_of(run, *arguments(command, name)) == []


def test_hint__of_an_index_is_not_said(run, files):
    """It has decided what hints would name."""
    assert run("index", "build", "idx", "prose.jsonl", "--kind", "documents").code == 0
    for command in (DEDUP, PAIRS):
        arguments = command.format("titles.jsonl").split()
        assert hints_of(run, *arguments, "--against", "idx") == []


def build(run, name: str, kind: str, *more: str) -> None:
    made = run("index", "build", "idx", f"{name}.jsonl", "--overwrite", "--kind", kind, *more)
    assert made.code == 0


OF_INDEX = {
    ("documents", "titles"): ("short", "try an index with --for titles"),
    ("documents", "ocr"): ("ocr", "try an index with --for ocr"),
    ("documents", "code"): ("code", "try an index with --for code"),
    ("passages", "titles"): ("short", "nothing shorter is found; try an index with --min-tokens 2"),
    ("passages", "ocr"): ("ocr", "try an index with --for ocr"),
    ("passages", "code"): ("code", "try an index with --for code"),
    ("passages", "thai"): ("letters", "try an index with --ngram 3"),
}


@pytest.mark.slow
@each_of("case", OF_INDEX)
def test_search__names_options_of_another_index(run, files, case):
    (kind, name), (hint, end) = case, OF_INDEX[case]
    build(run, "prose", kind, *(["--min-tokens", "20"] if kind == "passages" else []))
    search = ["search", "idx", f"{name}.jsonl", "-o", "hits.csv"]
    [line] = lines_of(run, *search)
    assert hints_of(run, *search) == [hint]
    assert line.endswith(end)
    if hint == "short":
        assert "most queries have fewer than" in line
    # What it names silences it.
    build(run, "prose", kind, *line.split(" with ")[-1].split())
    assert hints_of(run, *search) == []


NOT_OF_INDEX = [
    *(("documents", "", name) for name in ("prose", "half titles")),
    *(("passages", "", name) for name in ("prose", "half titles")),
    ("documents", "--ngram 1", "titles"),
    ("documents", "--ngram 4", "ocr"),
    ("documents", "--tokenizer characters", "code"),
    ("passages", "--ngram 2", "ocr"),
    ("passages", "--ngram 2 --min-tokens 20", "thai"),
]


@pytest.mark.slow
@each_of("case", NOT_OF_INDEX)
def test_search__says_nothing_otherwise(run, files, case):
    kind, more, name = case
    build(run, "prose", kind, *more.split())
    assert hints_of(run, "search", "idx", f"{name}.jsonl", "-o", "hits.csv") == []


@each_of("more", ["--threshold 0.5", "--measure containment", "--for quotations"])
def test_search__says_nothing_where_it_finds_what_is_misread(run, files, more):
    build(run, "prose", "passages")
    search = ["search", "idx", "ocr.jsonl", "-o", "hits.csv"]
    assert hints_of(run, *search) == ["ocr"]
    assert hints_of(run, *search, *more.split()) == []


@each_of("kind", ["documents", "passages"])
def test_add__of_the_first_documents_alone(run, files, kind):
    assert run("index", "build", "idx", "--kind", kind, "--overwrite").code == 0
    add = ["index", "add", "idx", "ocr.jsonl", "--id-column", "id"]
    told = run(*add)
    assert told.code == 0
    [line] = [line for line in told.out.splitlines() if line.startswith("hint: ")]
    assert line.endswith("so is the whole word; try an index with --for ocr")
    more = Path("ocr.jsonl").read_text().replace('{"id": "', f'{{"id": "{kind}-')
    Path("more.jsonl").write_text(more)
    add[3] = "more.jsonl"
    assert json.loads(run(*add, "--json").out)["hints"] == []


@each_of("kind", ["documents", "passages"])
def test_search__of_an_empty_index_says_nothing(run, files, kind):
    assert run("index", "build", "idx", "--kind", kind, "--overwrite").code == 0
    assert hints_of(run, "search", "idx", "ocr.jsonl", "-o", "hits.csv") == []


def test_cut__that_finds_something_does_not_say_that_most_are_short(run, write_file):
    texts = [*(prose(3) for _ in range(9)), HEAD, HEAD]
    write_file("few.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    assert hints_of(run, *CUT.format("few.jsonl").split()) == []
    assert hints_of(run, *CUT.format("few.jsonl").split(), "--min-tokens", "81") == ["short"]


def test_search__that_finds_most_does_not_say_that_they_are_short(run, files, write_file):
    build(run, "prose", "passages")
    parts = [" ".join(text.split()[:45]) for text in TEXTS["prose"]]
    write_file("parts.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in parts))
    search = ["search", "idx", "parts.jsonl", "-o", "hits.csv"]
    assert hints_of(run, *search) == []
    assert hints_of(run, *search, "--threshold", "1") == ["short"]


def test_cut__of_what_a_table_names_says_nothing(run, files, write_file):
    write_file("spans.csv", "id,start,end\n")
    for name in ("titles", "ocr"):
        named = ["--named-in", "spans.csv", "--id-column", "id"]
        assert hints_of(run, "cut", f"{name}.jsonl", "-o", "out", *named) == []


def test_hint__is_in_the_folder_and_changes_nothing_else(run, files, tmp_path):
    assert run("dedup", "ocr.jsonl", "-o", "out").code == 0
    written = json.loads(Path("out/summary.json").read_text())
    assert [hint["name"] for hint in written["hints"]] == ["ocr"]
    [way] = written["hints"][0]["try"]
    assert way in ({"tokenizer": "characters", "ngram": 5, "threshold": 0.5}, {"preset": "ocr"})
    assert Path("out/kept/ocr.jsonl").read_bytes() == Path("ocr.jsonl").read_bytes()


def test_hint__is_the_same_however_a_job_is_run(run, files):
    told = set()
    for more in ("--workers 1", "--workers 3", "--memory 60MB", "--method exact"):
        found = json.loads(
            run("dedup", "ocr.jsonl", "-o", "o", "--overwrite", "--json", *more.split()).out
        )
        told.add(json.dumps(found["hints"]))
    rows = Path("ocr.jsonl").read_bytes()
    with gzip.open("ocr.jsonl.gz", "wb") as file:
        file.write(rows)
    found = json.loads(run("dedup", "ocr.jsonl.gz", "-o", "o", "--overwrite", "--json").out)
    told.add(json.dumps(found["hints"]))
    assert len(told) == 1
    assert "misread" in told.pop()


def test_hint__of_many_small_files(run, write_file):
    for number, text in enumerate(TEXTS["ocr"]):
        write_file(f"texts/{number}.txt", text)
    assert hints_of(run, *DEDUP.format("texts").split()) == ["ocr"]


_OF_PASSAGES = (PassageIndex.add, PassageIndex.search)


@pytest.mark.slow
@each_of(
    ("name", "call", "hint"),
    [
        ("titles", neardup.deduplicate, "short"),
        ("titles", neardup.find_pairs, "short"),
        ("titles", neardup.sketch, "short"),
        ("ocr", neardup.deduplicate, "ocr"),
        ("code", neardup.find_pairs, "code"),
        ("heads", partial(neardup.align, min_tokens=20), "flood"),
        ("ocr", neardup.cut, "ocr"),
        ("titles", partial(neardup.cut, exact=True), "short"),
        ("ocr", DocumentIndex.add, "ocr"),
        ("code", PassageIndex.add, "code"),
        ("titles", DocumentIndex.search, "short"),
        ("ocr", PassageIndex.search, "ocr"),
    ],
)
def test_warning__once_a_call_at_its_line(name, call, hint, tmp_path):
    of_index = call in (DocumentIndex.add, DocumentIndex.search, *_OF_PASSAGES)
    if of_index:
        kind = PassageIndex if call in _OF_PASSAGES else DocumentIndex
        index = kind.create(tmp_path / "index")
        if call is kind.search:
            index.add(TEXTS["prose"])
        call = partial(call, index)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(TEXTS[name])
    [warning] = caught
    assert issubclass(warning.category, neardup.NeardupHint)
    assert Path(warning.filename) == Path(__file__)
    [told] = result.summary["hints"]
    assert told["name"] == hint
    ways = (", ".join(f"{key}={value!r}" for key, value in way.items()) for way in told["try"])
    where = "an index with " if of_index else ""
    assert told["index"] == of_index
    assert str(warning.message) == f"{told['message']}; try {where}{' or '.join(ways)}"


def test_warning__none_where_nothing_is_wrong(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        neardup.deduplicate(TEXTS["prose"])
        neardup.deduplicate(TEXTS["ocr"], tokenizer="characters")
        # Data in which nothing can be looked at.
        neardup.deduplicate([])
        neardup.align([], [])
        neardup.cut([])
        neardup.cut(TEXTS["prose"])
        for kind in (DocumentIndex, PassageIndex):
            index = kind.create(tmp_path / kind.__name__)
            index.add([])
            index.search(TEXTS["titles"])
            index.add(TEXTS["prose"])
            index.search(TEXTS["prose"])
            # An index that is in use has been decided on.
            index.add([{"id": f"more-{i}", "text": text} for i, text in enumerate(TEXTS["ocr"])])


@pytest.mark.slow
def test_align__says_of_letters_before_it_begins(files):
    """On standard error, where the results are not; nothing with --quiet."""
    command = [sys.executable, "-m", "neardup", *ALIGN.format("thai.jsonl").split()]
    loud = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    [hint] = json.loads(loud.stdout)["hints"]
    [line] = loud.stderr.splitlines()
    assert line == f"{hint['message']}; ngram (--ngram) of 3 compares them by more"
    command += ["--overwrite", "--quiet"]
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")


@pytest.mark.slow
def test_align__says_of_a_flood_before_it_begins(write_file):
    rows = (json.dumps({"text": f"{HEAD} {prose(20)}"}) + "\n" for _ in range(120))
    write_file("many.jsonl", "".join(rows))
    command = [sys.executable, "-m", "neardup", *ALIGN.format("many.jsonl").split(), "--overwrite"]
    for more, is_told in ((), True), (("--max-documents", "10%"), False):
        run = subprocess.run([*command, *more], capture_output=True, text=True, check=True)
        assert ("max_documents (--max-documents) or ignore" in run.stderr) == is_told
