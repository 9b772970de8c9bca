"""``neardup plan``: what a run would find and take."""

from __future__ import annotations

import gzip
import json
import random
import re
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.files.jsonlines import JsonBlock, JsonLinesSource
from neardup.files.parquet import ParquetSource
from neardup.files.rawsource import RawSource
from neardup.files.streams import InputStream
from neardup.stages import costs
from tests.oracles.tokens import Options, tokenize
from tests.spilling import make_rows, write_lines


def test_plan__without_input(run):
    outcome = run("plan")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "16 bands of 6 rows, 96 hash functions"
    assert lines[1] == "a pair at jaccard 0.8 is compared with probability 0.9923"
    assert lines[2] == "the curve is steepest at 0.612; half of the pairs are compared at 0.591"
    assert lines[3:5] == ["", "Jaccard  probability that a pair is compared"]
    end = lines.index("", 5)
    curve = [line.split() for line in lines[5:end]]
    assert [float(words[0]) for words in curve] == [i / 20 for i in range(2, 21)]
    [marked] = [line for line in lines if line.endswith("<- threshold")]
    assert marked.startswith("  0.800  ")
    assert "0.9923" in marked
    assert max(len(line) for line in lines) <= 80
    choices = [line.split() for line in lines[end + 2 :]]
    assert [int(words[0]) for words in choices] == [16, 32, 64, 128, 256, 512, 1024]
    [planned] = [words for words in choices if words[-1] == "<-"]
    assert planned == ["128", "16", "x", "6", "0.9923", "0.612", "0.5344", "0.0354", "<-"]


def test_plan__numbers_of_functions(run):
    """Each is what it would be if asked for; those too few for the recall are not there."""
    options = ("plan", "--json", "--threshold", "0.4")
    facts = json.loads(run(*options, "--num-perm", 200).out)
    numbers = [choice["num_perm"] for choice in facts["num_perms"]]
    assert numbers == [16, 32, 64, 128, 200, 256, 512, 1024]
    for choice in facts["num_perms"]:
        own = json.loads(run(*options, "--num-perm", choice["num_perm"]).out)
        for name in ("bands", "rows", "predicted_recall", "steepest"):
            assert choice[name] == own[name]
        assert choice["standard_error"] == pytest.approx((0.24 / choice["num_perm"]) ** 0.5)
    low = json.loads(run("plan", "--json", "--threshold", "0.1").out)["num_perms"]
    assert [choice["num_perm"] for choice in low] == [64, 128, 256, 512, 1024]


def test_plan__json(run):
    outcome = run("plan", "--json", "--bands", 20, "--rows", 5, "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    expected = 1 - (1 - 0.7**5) ** 20
    assert facts["predicted_recall"] == pytest.approx(expected)
    assert (facts["bands"], facts["rows"], float(facts["threshold"])) == (20, 5, 0.7)
    for point in facts["curve"]:
        assert point["probability"] == pytest.approx(1 - (1 - point["jaccard"] ** 5) ** 20)
    assert "estimate" not in facts
    assert facts["steepest"] == pytest.approx((4 / 99) ** 0.2)
    assert facts["midpoint"] == pytest.approx((1 - 0.5**0.05) ** 0.2)
    # Where bands are given there is nothing to choose.
    assert facts["num_perms"] == []


@pytest.mark.parametrize(
    ("measure", "threshold", "least"),
    [
        ("dice", "0.8", 0.8 / 1.2),
        ("cosine", "0.9", 0.81),
        ("containment", "0.9", 0.9 / 2.1),
        ("max-containment", "0.9", 0.9 / 2.1),
    ],
)
def test_plan__other_measures(run, measure, threshold, least):
    outcome = run("plan", "--measure", measure, "--threshold", threshold)
    assert f"such a pair has a Jaccard similarity of at least {least:.3f}\n" in outcome.out
    condition = "if one document is at most twice as large as the other\n"
    assert (condition in outcome.out) == ("containment" in measure)
    facts = json.loads(run("plan", "--measure", measure, "--threshold", threshold, "--json").out)
    assert facts["least_jaccard"] == pytest.approx(least)
    assert facts["predicted_recall"] >= 0.99


def test_plan__with_input(run, here, texts, write_texts):
    write_texts("a.jsonl", texts)
    write_texts("b.csv", texts[:10])
    outcome = run("plan", "a.jsonl", "b.csv", "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert "\n  documents were counted\n" in outcome.out
    assert f"\n{len(texts) + 10} documents, " in outcome.out
    for what in ("similar pairs", "false candidates", "memory", "disk", "time"):
        assert f"\n  {what} " in outcome.out
    assert sorted(path.name for path in here.iterdir()) == ["a.jsonl", "b.csv"]


def test_plan__estimate(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    estimate = json.loads(run("plan", "a.jsonl", "--json").out)["estimate"]
    assert estimate["documents"] == len(texts)
    assert estimate["text_bytes"] == sum(len(text.encode()) for text in texts)
    # A group of an original, its two copies, and two that are nearly that: ten pairs each.
    assert 60 <= estimate["pairs_similar"] <= 140
    assert 0 < estimate["memory_bytes"] <= estimate["memory_at_most_bytes"]
    assert estimate["fits_in_memory"]
    assert estimate["temporary_bytes"] == 0
    size = Path("a.jsonl").stat().st_size
    assert size < estimate["disk_bytes"] < 2 * size
    assert [each["stage"] for each in estimate["stages"]] == [
        *("read", "bucket", "sieve", "compare", "choose", "write")
    ]
    assert estimate["seconds"] == pytest.approx(sum(s["seconds"] for s in estimate["stages"]))
    assert estimate["memory_bytes"] == max(each["memory_bytes"] for each in estimate["stages"])
    assert (estimate["on_executors"], estimate["cheaper_bands"]) == (None, None)
    assert estimate["other_jobs"].keys() == {"dedup --method exact", "pairs", "sketch", "align"}


@pytest.mark.slow
def test_plan__exact_jobs_take_more_with_weights(run, texts, write_texts):
    """8 to 18 bytes more for each shingle, while sets are made, or joined."""
    write_texts("a.jsonl", texts * 50)
    jobs = [
        json.loads(run("plan", "a.jsonl", "--json", "--ngram", "1", *options).out)["estimate"]
        for options in ((), ("--measure", "weighted-jaccard"))
    ]
    n_tokens = 50 * sum(len(tokenize(text, "words", Options())) for text in texts)
    for name in ("dedup --method exact", "pairs"):
        more = jobs[1]["other_jobs"][name] - jobs[0]["other_jobs"][name]
        assert 8 * n_tokens < more <= 18 * n_tokens


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl"])
def test_plan__seconds(run, here, monkeypatch, name, workers):
    """All is read by one thread; what a sample of the blocks takes is scaled up, over threads.

    The clock moves on by 3 seconds a block that is read, and by 8 for each that is parsed. Of a
    file that is not compressed only the sample is read, and its seconds are scaled up, too.
    """
    now, lengths = 0.0, []
    parse = JsonBlock.parse

    def slowly(read):
        def slowly_read(*arguments):
            nonlocal now
            for found in read(*arguments):
                now += 3
                lengths.append(len(found[1] if isinstance(found, tuple) else found))
                yield found

        return slowly_read

    def slowly_parse(*arguments, **options):
        nonlocal now
        now += 8
        return parse(*arguments, **options)

    content = b'{"text": "one two three"}\n' * 1000
    Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    monkeypatch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", 300)
    monkeypatch.setattr(JsonLinesSource, "blocks", slowly(JsonLinesSource.blocks))
    monkeypatch.setattr(JsonLinesSource, "sample_blocks", slowly(JsonLinesSource.sample_blocks))
    monkeypatch.setattr(JsonBlock, "parse", slowly_parse)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    estimate = json.loads(run("plan", name, "--workers", workers, "--json").out)["estimate"]
    # A look at the columns comes first.
    lengths = lengths[1:]
    if name == "a.jsonl":
        # Places of 300 bytes; a line of 26 belongs to the one that it begins in.
        assert (len(lengths), sum(lengths) / 32) == (32, pytest.approx(300 / 26, rel=0.02))
        assert estimate["documents"] == pytest.approx(1000, rel=0.05)
        sampled, n = lengths, estimate["documents"]
        reading = 3 * n * 32 / sum(lengths)
    else:
        # Every fourth block: 32 at most are parsed.
        assert (64 < len(lengths) <= 128, sum(lengths)) == (True, 1000)
        sampled, n, reading = lengths[::4], 1000, 3 * len(lengths)
    signing = 8 * len(sampled) * n / sum(sampled)
    expected = max(reading, (reading + signing) / workers)
    assert estimate["stages"][0]["seconds"] == pytest.approx(expected, rel=0.001)


def test_plan__spills(run, texts, write_texts, monkeypatch):
    """What does not fit into the memory goes to files: all columns of all documents, and more."""
    write_texts("a.jsonl", texts * 5)
    monkeypatch.setattr(costs, "SIGNED_SHARE", 1e-4)
    outcome = run("plan", "a.jsonl", "--memory", "16MB", "--json")
    estimate = json.loads(outcome.out)["estimate"]
    signed = round(estimate["documents"] * estimate["signed_bytes_per_document"])
    read, *_, write = estimate["stages"]
    assert read["temporary_bytes"] == pytest.approx(signed, abs=1)
    assert estimate["temporary_bytes"] == write["temporary_bytes"] > signed
    assert (estimate["fits_in_memory"], estimate["memory_limit_bytes"]) == (False, 16_000_000)
    shown = run("plan", "a.jsonl", "--memory", "16MB").out
    assert "; --memory 16.0 MB is too little to keep everything there, which takes " in shown
    assert " for temporary files\n" in shown


def test_plan__for_a_larger_collection(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    size = Path("a.jsonl").stat().st_size
    small = json.loads(run("plan", "a.jsonl", "--json").out)["estimate"]
    n = 10**5 * len(texts)
    options = ("plan", "a.jsonl", "--memory", "1GB", "--json")
    by_count = json.loads(run(*options, "--documents", n).out)["estimate"]
    by_size = json.loads(run(*options, "--input-size", 10**5 * size).out)["estimate"]
    for name in ("documents", "text_bytes", "pairs_similar", "candidates", "temporary_bytes"):
        assert by_count[name] == by_size[name]
    assert by_count["documents"] == n
    assert by_count["text_bytes"] == 10**5 * small["text_bytes"]
    # Pairs grow with the square.
    assert by_count["pairs_similar"] == pytest.approx(1e10 * small["pairs_similar"])
    assert not by_count["fits_in_memory"]
    few, many = (
        json.loads(
            run(*options, "--documents", n, "--executors", count, "--executor-cores", 2).out
        )["estimate"]
        for count in (2, 200)
    )
    assert few["on_executors"]["seconds"] > many["on_executors"]["seconds"]
    assert (many["on_executors"]["executors"], many["on_executors"]["executor_cores"]) == (200, 2)
    shown = run("plan", "a.jsonl", "--documents", n, "--executors", 20).out
    assert "\n  time on Spark     about " in shown
    assert " on 20 executors of 4 cores, which exchange " in shown


def test_plan__memory_of_threads_is_that_of_their_blocks(run, texts, write_texts):
    """Of one small block many threads take what one does; a larger collection has larger ones."""
    write_texts("a.jsonl", texts)
    options = ("plan", "a.jsonl", "--memory", "1GB", "--json")

    def read(*more: object) -> tuple[int, int]:
        estimate = json.loads(run(*options, *more).out)["estimate"]
        return estimate["memory_bytes"], estimate["stages"][0]["memory_bytes"]

    one, many = (read("--workers", n) for n in (1, 16))
    assert one[0] <= many[0] < 130e6
    larger = ("--documents", 10**5 * len(texts))
    one, many = (read("--workers", n, *larger) for n in (1, 16))
    # Two blocks of 8 MB for each thread, and what is made of one, its text twice at least.
    assert many[1] - one[1] > 15 * (2 + 2) * 8e6


@pytest.mark.slow
def test_plan__cheaper_bands(run, write_texts):
    """Where there are enough documents, false candidates cost more than more hash functions."""
    common = [f"w{i}" for i in range(60)]
    write_texts(
        "a.jsonl", [" ".join([*common, *(f"{n}-{i}" for i in range(60))]) for n in range(99)]
    )
    small = json.loads(run("plan", "a.jsonl", "--json").out)["estimate"]
    assert small["cheaper_bands"] is None
    options = ("plan", "a.jsonl", "--documents", 10**9)
    found = json.loads(run(*options, "--json").out)["estimate"]["cheaper_bands"]
    assert found["num_perm"] > 128
    assert found["work_seconds"] < found["instead_of_work_seconds"]
    assert f"\n  cheaper           --num-perm {found['num_perm']}: " in run(*options).out
    again = json.loads(run(*options, "--num-perm", found["num_perm"], "--json").out)
    assert (again["bands"], again["rows"]) == (found["bands"], found["rows"])
    assert again["estimate"]["pairs_false"] == pytest.approx(found["pairs_false"])
    chosen = json.loads(run(*options, "--bands", 16, "--rows", 6, "--json").out)["estimate"]
    assert chosen["cheaper_bands"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("a.jsonl", "--documents", 9, "--input-size", "1GB"), "--input-size has no effect with"),
        (("a.jsonl", "--executor-cores", 9), "--executor-cores has no effect without --executors"),
        (("--memory", "1GB"), "--memory has no effect without INPUT"),
        (("--executors", "3"), "--executors has no effect without INPUT"),
        (
            ("empty.jsonl", "--documents", 9),
            "of known size, got one of none; name files that have rows",
        ),
    ],
)
def test_plan__refusals(run, write_file, options, message):
    write_file("a.jsonl", '{"text": "one"}\n')
    write_file("empty.jsonl", "")
    outcome = run("plan", *options)
    assert outcome.code != 0
    assert message in outcome.err


@pytest.mark.parametrize("content", ["", '{"text": ""}\n', '{"text": "one"}\n'])
def test_plan__hardly_any_input(run, write_file, content):
    write_file("a.jsonl", content)
    outcome = run("plan", "a.jsonl", "--json")
    assert outcome.code == 0
    estimate = json.loads(outcome.out)["estimate"]
    assert (estimate["documents"], estimate["pairs_similar"]) == (content.count("\n"), 0)


def test_plan__shingle_lengths(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    estimate = json.loads(run("plan", "a.jsonl", "--json", "--ngram", 7).out)["estimate"]
    lengths = estimate["shingle_lengths"]
    assert [each["ngram"] for each in lengths] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16]
    chances = [each["chance"] for each in lengths]
    assert chances[0] > 4 * chances[-1] > 0
    [marked] = [
        line
        for line in run("plan", "a.jsonl", "--ngram", 7).out.splitlines()
        if line.endswith("<- planned")
    ]
    assert marked.split()[:2] == ["7", f"{chances[6]:.4f}"]


def test_plan__quiet(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    outcome = run("plan", "a.jsonl", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_plan__predicts_what_dedup_does(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    options = ("--threshold", "0.65", "--recall", "0.97", "--num-perm", 200, "--json")
    plan = json.loads(run("plan", *options).out)
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", *options).out)
    for name in ("bands", "rows", "predicted_recall", "threshold", "measure", "recall"):
        assert plan[name] == summary[name]


def test_plan__weights(run, write_file):
    rows = [f'{{"text": "all of us say {word} {word} and again {word}"}}' for word in "abcd" * 5]
    write_file("a.jsonl", "\n".join(rows) + "\n")
    outcome = run("plan", "a.jsonl", "--json", "--measure", "weighted-jaccard", "--idf", "standard")
    assert (outcome.code, outcome.err) == (0, "")
    facts = json.loads(outcome.out)
    assert (facts["measure"], facts["least_jaccard"]) == ("weighted-jaccard", 0.8)
    # Words that all documents have weigh nothing: only equal texts are similar.
    assert facts["estimate"]["pairs_similar"] == 4 * (5 * 4 / 2)
    unary = run("plan", "a.jsonl", "--json", "--measure", "weighted-jaccard", "--idf", "unary")
    assert json.loads(unary.out)["estimate"]["documents"] == 20


def test_plan__of_a_sample_that_is_none(run, texts, write_texts):
    """The first rows of a file that is sorted: copies of one text, as often as there are rows."""
    write_texts("first.jsonl", [texts[0]] * 200)
    options = ("plan", "first.jsonl", "--documents", 10**7)
    shown = run(*options).out
    assert "INPUT stands for 50,000 times as much, and must be a random sample of it" in shown
    [line] = [line for line in shown.splitlines() if "absurd" in line]
    estimate = json.loads(run(*options, "--json").out)["estimate"]
    assert estimate["growth"] == 50_000
    each = 2 * estimate["pairs_similar"] / 10**7
    assert f"{each:,.0f} similar documents for each one" in line


def test_plan__of_a_collection_that_is_one(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    shown = run("plan", "a.jsonl").out
    assert "INPUT stands for" not in shown
    assert "absurd" not in shown


def _sorted_rows():
    """Make documents of which all near-duplicates stand at the beginning."""
    rng = random.Random(2)
    single = [
        {"id": f"s{i}", "text": " ".join(f"s{rng.randrange(5000)}" for _ in range(10 + i % 70))}
        for i in range(3000)
    ]
    return [*make_rows(1, 1000), *single]


@pytest.fixture
def estimate_by_places(run, monkeypatch):
    """Let 32 places be of 8,000 bytes, and plan."""
    begin = RawSource.__init__

    def begun(self, *arguments, **options):
        begin(self, *arguments, **options)
        self.block_bytes = 8000

    def estimate(*arguments, options=("--json",)):
        with monkeypatch.context() as patch:
            patch.setattr(RawSource, "__init__", begun)
            patch.setitem(ParquetSource.__init__.__kwdefaults__, "block_bytes", 8000)
            outcome = run("plan", *arguments, *options)
        assert (outcome.code, outcome.err) == (0, "")
        return json.loads(outcome.out)["estimate"] if options else outcome.out

    return estimate


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jsonl", "lines", "files", "parquet", "one group", "mixed"])
def test_plan__of_places(run, here, estimate_by_places, kind):
    """Near-duplicates stand together, as where a file is sorted; all is about as if all is read."""
    rows = _sorted_rows()
    options = ["."]
    if kind == "lines":
        options.append("--lines")
        rows = [row for row in rows if row["text"]]
        Path("a.txt").write_text("".join(row["text"] + "\n" for row in rows))
    elif kind in ("jsonl", "files"):
        size = len(rows) if kind == "jsonl" else 50
        for at in range(0, len(rows), size):
            write_lines(Path(f"{at:05}.jsonl"), rows[at : at + size])
    elif kind == "mixed":
        write_lines(Path("a.jsonl"), rows[:3600])
        lines = "".join(json.dumps(row) + "\n" for row in rows[3600:])
        Path("b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    else:
        table = pa.Table.from_pylist(rows)
        pq.write_table(table, "a.parquet", row_group_size=50 if kind == "parquet" else 5000)
    whole = json.loads(run("plan", *options, "--json").out)["estimate"]
    assert (whole["documents"], whole["documents_counted"]) == (len(rows), True)
    found = estimate_by_places(*options)
    assert found["documents_counted"] == (kind in ("parquet", "one group"))
    within = 0 if found["documents_counted"] else 0.05
    assert found["documents"] == pytest.approx(len(rows), rel=within)
    assert found["text_bytes"] == pytest.approx(whole["text_bytes"], rel=0.06)
    # All pairs of a sample of documents, and partners as if they stood anywhere.
    assert whole["pairs_similar"] / 2 < found["pairs_similar"] < 2 * whole["pairs_similar"]
    assert whole["candidates"] / 4 < found["candidates"] < 4 * whole["candidates"]


@pytest.mark.slow
def test_plan__reads_places_only(here, estimate_by_places, monkeypatch):
    write_lines(Path("a.jsonl"), [row for row in _sorted_rows() for _ in range(2)])
    n_read, read = 0, InputStream.read

    def counting(self, size):
        nonlocal n_read
        data = read(self, size)
        n_read += len(data)
        return data

    monkeypatch.setattr(InputStream, "read", counting)
    monkeypatch.setattr("neardup.files.rawsource._REST_BYTES", 100)
    estimate_by_places("a.jsonl")
    # And the ends of the last lines.
    assert 32 * 8000 <= n_read < 1.2 * 32 * 8000 < Path("a.jsonl").stat().st_size / 4
    shown = estimate_by_places("a.jsonl", options=())
    assert "\n  documents were estimated from the places that were read\n" in shown


@pytest.mark.slow
def test_plan__files_of_one_document(here, estimate_by_places):
    """How many there are is known; they are drawn in proportion to their size."""
    texts = [row["text"] * 4 for row in _sorted_rows()[1000::10]]
    for number, text in enumerate(texts):
        Path(f"{number:05}.txt").write_text(text)
    found = estimate_by_places(".")
    assert (found["documents"], found["documents_counted"]) == (len(texts), True)
    assert found["text_bytes"] == pytest.approx(sum(map(len, texts)), rel=0.2)


@pytest.mark.parametrize(
    ("content", "n"),
    [
        (f'{{"text": "{"word " * 99_999}"}}\n', 1),
        (f'{{"text": "{"word " * 99_999}"}}', 1),
        (f'{{"text": "{"word " * 50_000}"}}\n' * 3, 3),
        (" " * 400_000 + '\n{"text": "one"}\n', 1),
        ("\n" * 300_000, 0),
    ],
    ids=["one", "no line end", "three", "far", "none"],
)
def test_plan__huge_lines(write_file, estimate_by_places, content, n):
    write_file("a.jsonl", content)
    assert estimate_by_places("a.jsonl")["documents"] == n


def test_plan__bad_row_at_a_place(run, here, monkeypatch):
    """Its number is not known, but where it is."""
    content = b'{"text": "one two three"}\n' * 300 + b"{}\n" * 3000
    Path("a.jsonl").write_bytes(content)
    monkeypatch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", 100)
    outcome = run("plan", "a.jsonl")
    assert outcome.code == 1
    [place] = re.findall(r"a\.jsonl: the row that begins at byte ([0-9,]+): ", outcome.err)
    at = int(place.replace(",", "")) - 1
    assert content[at - 1 : at + 3] == b"\n{}\n"


@pytest.mark.slow
def test_plan__places_beside_a_file_read_as_a_whole(run, here, estimate_by_places):
    """Each has its share of the sample: short texts are read at places, all long ones read."""
    Path("a.jsonl").write_text("".join(f'{{"text": "w{i % 999}"}}\n' for i in range(50_000)))
    lines = f'{{"text": "{"long " * 40}"}}\n' * 1200
    Path("b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    whole = json.loads(run("plan", ".", "--json").out)["estimate"]
    found = estimate_by_places(".")
    assert found["documents"] == pytest.approx(51_200, rel=0.02)
    assert found["text_bytes"] == pytest.approx(whole["text_bytes"], rel=0.1)
