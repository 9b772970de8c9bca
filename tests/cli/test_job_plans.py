"""``--plan`` of jobs: what it tells is what a run then counts, and holds."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.jobs.cut import forecast_units
from neardup.jobs.pairs import forecast
from neardup.passages.index import PassageHandle
from neardup.runs.runner import Runner
from neardup.stages import hints
from neardup.stages.forecasts import PROCESS

CUT = ("cut", "--exact", "--unit", "lines")
PAIRS = ("pairs", "--ngram", "1", "--threshold", "0.8")


def write_documents(path: Path, n: int, seed: int = 1) -> Path:
    """Write documents of some lines, one in six of which an earlier one has, too."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(3, 8))) for _ in range(5_000)]
    lines: list[str] = []
    rows = []
    for number in range(n):
        own = []
        for _ in range(rng.randint(2, 30)):
            if lines and rng.random() < 1 / 6:
                own.append(rng.choice(lines))
            else:
                own.append(" ".join(rng.choices(words, k=rng.randint(5, 12))))
                lines.append(own[-1])
        rows.append(json.dumps({"id": f"d{number}", "text": "\n".join(own)}))
    path.write_text("\n".join(rows) + "\n")
    return path


def planned(run, *arguments):
    outcome = run(*arguments, "--plan", "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


@pytest.fixture
def documents(tmp_path):
    return write_documents(tmp_path / "in.jsonl", 400)


@pytest.mark.slow
def test_plan_of_cut__counts_what_a_run_does(run, tmp_path, documents):
    for unit in ("lines", "paragraphs"):
        plan = planned(run, "cut", documents, "--exact", "--unit", unit)
        facts = json.loads(
            run("cut", documents, "--exact", "--unit", unit, "-o", tmp_path / unit, "--json").out
        )
        assert plan["documents"] == plan["sample_documents"] == facts["documents_in"]
        assert plan["documents_counted"]
        assert plan["counts"]["units_that_go"] == facts["spans"]
        assert plan["text_bytes"] == pytest.approx(facts["text_bytes"], rel=0.01)
        assert plan["temporary_bytes"] == 0
        assert [each["stage"] for each in plan["stages"]] == ["read", "cut", "write"]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["lines", "paragraphs"])
def test_plan_of_cut__similar_units(run, tmp_path, documents, unit):
    """Of few documents all are cut for trial."""
    job = ("cut", documents, "--unit", unit, "--threshold", "0.5", "--ngram", "1")
    plan = planned(run, *job)
    facts = json.loads(run(*job, "-o", tmp_path / "out", "--json").out)
    assert plan["documents"] == facts["documents_in"]
    lines = [row for text in texts_of(documents) for row in text.split("\n")]
    if unit == "lines":
        assert plan["counts"]["units"] == len(lines)
        assert facts["spans"] > len(lines) / 10
    assert plan["counts"]["units_that_go"] == pytest.approx(facts["spans"], abs=1)
    assert [each["stage"] for each in plan["stages"]] == ["read", "cut", "write"]
    assert plan["temporary_bytes"] == 0


def texts_of(path: Path) -> list[str]:
    return [json.loads(row)["text"] for row in path.read_text().splitlines()]


@pytest.mark.slow
def test_plan_of_cut__similar_units_within_memory(run, documents, monkeypatch):
    """Trials have the budget of the run, and a folder for what is more."""
    rooms, cut_units = [], forecast_units.cut_units

    def cut(sources, against, plan, workspace, runner):
        rooms.append((workspace.memory, workspace.work is not None))
        return cut_units(sources, against, plan, workspace, runner)

    monkeypatch.setattr(forecast_units, "cut_units", cut)
    planned(run, "cut", documents, "--unit", "lines", "--memory", "20MB")
    assert rooms == [(20_000_000, True)] * 2


@pytest.mark.slow
def test_plan_of_cut__similar_units_of_a_part(run, tmp_path, monkeypatch):
    """Units like those of the trial are among the others, or stand beside them."""
    rng = random.Random(4)
    words = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(3_000)]
    lines = [rng.choices(words, k=12) for _ in range(6_000)]
    changed = [[*line[:11], "changed"] for line in lines]
    monkeypatch.setattr("neardup.jobs.cut.forecast_units._TRIAL_BYTES", 100_000)
    for name, pairs in (
        ("neighbours", [each for two in zip(lines, changed, strict=True) for each in two]),
        ("anywhere", rng.sample(lines + changed, 12_000)),
    ):
        path = tmp_path / f"{name}.jsonl"
        texts = ["\n".join(" ".join(x) for x in pairs[n : n + 12]) for n in range(0, 12_000, 12)]
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        job = ("cut", path, "--unit", "lines", "--ngram", "1")
        facts = json.loads(run(*job, "-o", tmp_path / name, "--json").out)
        plan = planned(run, *job)
        assert facts["spans"] > 5_000
        # A unit of which there are two is taken for one that any number of others may be like.
        assert plan["counts"]["units_that_go"] == pytest.approx(facts["spans"], rel=0.35)


@pytest.mark.slow
@pytest.mark.parametrize(
    "job",
    [
        CUT,
        ("cut", "--exact", "--min-tokens", "5"),
        ("cut", "--min-tokens", "8"),
        ("cut", "--unit", "lines"),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_plan_of_cut__output_has_no_more_what_goes(run, tmp_path, documents, job, suffix):
    given = tmp_path / f"given.jsonl{suffix}"
    given.write_bytes((gzip.compress if suffix else bytes)(documents.read_bytes()))
    told = planned(run, *job, given)["disk_bytes"]
    assert run(*job, given, "-o", tmp_path / "out").code == 0
    written = sum(path.stat().st_size for path in (tmp_path / "out" / "kept").iterdir())
    assert written < 0.95 * given.stat().st_size
    table = (tmp_path / "out" / "removed.parquet").stat().st_size
    # What is repeated is packed better than other text.
    assert told == pytest.approx(written + table, rel=0.15 if suffix else 0.1)


@pytest.mark.parametrize("job", [CUT, ("cut", "--exact"), ("cut", "--unit", "lines"), PAIRS])
def test_plan__memory_of_threads_is_that_of_their_blocks(run, documents, job):
    """Of one small block many threads take about as much as one."""
    one, many = (planned(run, *job, documents, "--workers", n) for n in ("1", "16"))
    assert one["memory_bytes"] <= many["memory_bytes"] < 150e6


def test_plan_of_cut__against_others(run, tmp_path, documents):
    other = write_documents(tmp_path / "other.jsonl", 100)
    plan = planned(run, *CUT, documents, "--against", other)
    outcome = run(*CUT, documents, "--against", other, "-o", tmp_path / "out", "--json")
    spans = json.loads(outcome.out)["spans"]
    assert spans > 1_000
    assert plan["counts"]["units_that_go"] == pytest.approx(spans, rel=0.02)


def write_passages(path: Path, n: int, seed: int = 2) -> Path:
    """Write documents of some hundred words; two in five have a passage of an earlier one."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(3, 8))) for _ in range(5_000)]
    found: list[list[str]] = []
    for _ in range(n):
        own = rng.choices(words, k=rng.randint(100, 300))
        if found and rng.random() < 0.4:
            other, length = rng.choice(found), rng.randint(50, 90)
            start, at = rng.randint(0, len(other) - length), rng.randint(0, len(own) - length)
            own[at : at + length] = other[start : start + length]
        found.append(own)
    rows = [json.dumps({"text": " ".join(each)}) for each in found]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.slow
def test_plan_of_cut__passages(run, tmp_path):
    documents = write_passages(tmp_path / "in.jsonl", 2_000)
    other = write_passages(tmp_path / "other.jsonl", 500, seed=3)
    with (tmp_path / "other.jsonl").open("a") as file:
        file.writelines(documents.read_text().splitlines(keepends=True)[:100])
    job = ("cut", documents, "--exact", "--min-tokens", "30", "--memory", "1GB")
    for more in ((), ("--against", other)):
        plan = planned(run, *job, *more)
        facts = json.loads(run(*job, *more, "-o", tmp_path / "out", "--overwrite", "--json").out)
        assert plan["documents"] == facts["documents_in"] + facts["against_documents"]
        assert plan["documents_counted"]
        assert facts["spans"] >= 100
        # All are drawn, and all are cut for trial.
        assert plan["counts"]["passages_that_go"] == facts["spans"]
        assert [each["stage"] for each in plan["stages"]] == ["read", "cut", "locate", "write"]
        assert plan["temporary_bytes"] == 0


@pytest.mark.slow
def test_plan_of_cut__passages_of_a_sample(run, tmp_path, monkeypatch):
    """Repeats of documents that were not drawn are reckoned with: a part has fewer for each."""
    documents = write_passages(tmp_path / "in.jsonl", 6_000)
    job = ("cut", documents, "--exact", "--min-tokens", "30")
    facts = json.loads(run(*job, "-o", tmp_path / "out", "--json").out)
    block_bytes = documents.stat().st_size // 80
    for source in ("neardup.files.rawsource.RawSource", "neardup.files.jsonlines.JsonLinesSource"):
        module, name = source.rsplit(".", 1)
        found = getattr(__import__(module, fromlist=[name]), name)
        monkeypatch.setitem(found.__init__.__kwdefaults__, "block_bytes", block_bytes)
    plan = planned(run, *job)
    assert plan["sample_documents"] < 3_000
    assert plan["counts"]["passages_that_go"] == pytest.approx(facts["spans"], rel=0.25)


def test_plan_of_cut__similar_passages(run, tmp_path):
    """Of few documents all are cut for trial."""
    documents = write_passages(tmp_path / "in.jsonl", 120)
    other = write_passages(tmp_path / "other.jsonl", 40, seed=3)
    with other.open("a") as file:
        file.writelines(documents.read_text().splitlines(keepends=True)[:20])
    job = ("cut", documents, "--min-tokens", "30")
    for more in ((), ("--against", other)):
        plan = planned(run, *job, *more)
        facts = json.loads(run(*job, *more, "-o", tmp_path / "out", "--overwrite", "--json").out)
        assert plan["documents"] == facts["documents_in"] + facts["against_documents"]
        assert facts["spans"] >= 20
        # So that not all documents are cut, of which more may stay.
        assert plan["counts"]["passages_that_go"] == pytest.approx(facts["spans"], abs=1)
        assert [each["stage"] for each in plan["stages"]] == ["read", "cut", "locate", "write"]


@pytest.mark.slow
def test_plan_of_cut__similar_passages_of_a_part(run, tmp_path, monkeypatch):
    """Documents like those of the trial are among the others, or stand beside them."""
    monkeypatch.setattr("neardup.jobs.cut.forecast_similar._PART_SECONDS", 0.05)
    for name, pairs in (("anywhere", False), ("neighbours", True)):
        documents = write_passages(tmp_path / f"{name}.jsonl", 1_200)
        rows = documents.read_text().splitlines(keepends=True)
        if pairs:
            rows = [row for row in rows[:600] for _ in range(2)]
        else:
            rows = random.Random(1).sample(rows[:600] * 2, 1_200)
        documents.write_text("".join(rows))
        job = ("cut", documents, "--min-tokens", "30")
        facts = json.loads(run(*job, "-o", tmp_path / name, "--json").out)
        plan = planned(run, *job)
        assert plan["counts"]["passages_that_go"] == pytest.approx(facts["spans"], rel=0.35)


@pytest.mark.parametrize("exact", [True, False])
def test_plan_of_cut__passages_that_nobody_repeats(run, tmp_path, exact):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"text": "a b c"}) + "\n")
    job = ("cut", path, *(("--exact",) if exact else ()))
    for other in ((), ("--against", path)):
        plan = planned(run, *job, *other)
        assert plan["counts"]["passages_that_go"] == 0
    lines = planned(run, *job, "--unit", "lines")
    assert lines["counts"] == {"units": 0, "units_that_go": 0}
    path.write_text("")
    assert planned(run, *job)["documents"] == 0
    assert planned(run, *job, "--unit", "lines")["documents"] == 0


def test_plan_of_pairs__counts_what_a_run_does(run, tmp_path, documents):
    for more in ((), ("--against", write_documents(tmp_path / "b.jsonl", 100))):
        plan = planned(run, *PAIRS, documents, *more)
        outcome = run(*PAIRS, documents, *more, "-o", tmp_path / "out.csv", "--overwrite", "--json")
        facts = json.loads(outcome.out)
        assert plan["documents"] == sum(facts["documents"])
        assert plan["counts"]["pairs"] == facts["pairs"]
        assert plan["disk_bytes"] >= 0
    assert plan["counts"]["pairs"] >= 100


def test_plan_of_pairs__similar_ones_anywhere(run, tmp_path, monkeypatch):
    """Pairs of a part of the documents grow with the square, and those of neighbours do not."""
    rng = random.Random(3)
    texts = [" ".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=12)) for _ in range(40)]
    monkeypatch.setattr(forecast, "_TRIAL_DOCUMENTS", 200)
    shuffled = rng.sample(texts * 20, 800)
    twice = [text for n in range(400) for text in [f"{texts[n % 40]} {n} {n * 7} {n * 13}"] * 2]
    for name, rows in (("anywhere", shuffled), ("neighbours", twice)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))
        facts = json.loads(
            run(*PAIRS, path, "-o", tmp_path / "out.csv", "--overwrite", "--json").out
        )
        plan = planned(run, *PAIRS, path)
        assert plan["counts"]["pairs"] == pytest.approx(facts["pairs"], rel=0.25)


@pytest.mark.parametrize("each", [(), ("--per-document",)])
def test_plan_of_pairs__the_top_ones(run, tmp_path, documents, each):
    other = write_documents(tmp_path / "other.jsonl", 50, seed=2)
    job = ("pairs", "--ngram", "1", "--top", "3", *each, documents, "--against", other)
    plan = planned(run, *job)
    facts = json.loads(run(*job, "-o", tmp_path / "out.csv", "--json").out)
    assert plan["counts"]["pairs"] == facts["pairs"]
    assert facts["pairs"] > 1_000 if each else facts["pairs"] == 3
    assert [each["stage"] for each in plan["stages"]] == ["read", "join"]


@pytest.mark.parametrize("measure", [("--max-distance", "3"), ("--measure", "weighted-jaccard")])
def test_plan_of_pairs__of_other_measures(run, tmp_path, documents, measure):
    plan = planned(run, "pairs", documents, *measure)
    assert [each["stage"] for each in plan["stages"]] == ["read", "join"]
    assert plan["counts"]["elements"] > 10_000


@pytest.mark.slow
def test_plan_of_align__counts_what_a_run_does(run, tmp_path, documents):
    other = write_documents(tmp_path / "other.jsonl", 100)
    for more in ((), ("--against", other)):
        plan = planned(run, "align", documents, *more, "--min-tokens", "20")
        facts = json.loads(
            run(
                *("align", documents, *more, "--min-tokens", "20", "-o", tmp_path / "out.csv"),
                *("--overwrite", "--json"),
            ).out
        )
        assert plan["documents"] == sum(facts["documents"])
        assert plan["counts"]["passages"] == pytest.approx(facts["passages"], rel=0.05)
        assert [each["stage"] for each in plan["stages"]] == ["read", "align"]


@pytest.mark.slow
def test_plan_of_align__says_what_a_part_leaves_open(run, tmp_path, monkeypatch):
    """Passages that are copied from anywhere, some runs of all documents aligned for trial."""
    documents = write_passages(tmp_path / "in.jsonl", 2_000)
    other = tmp_path / "other.jsonl"
    rows = documents.read_text().splitlines(keepends=True)
    other.write_text("".join(random.Random(5).sample(rows, 1_000)))
    job, between = ("align", documents, "--threshold", "0.9"), {}
    # All that are drawn are looked up, however long it takes.
    monkeypatch.setattr("neardup.stages.bench._TRIAL_SECONDS", 60.0)
    for n_bytes in (100_000, 300_000):
        monkeypatch.setattr("neardup.stages.bench._INDEXED_BYTES", 6 * n_bytes)
        for more in ((), ("--against", other)):
            plan = planned(run, *job, *more)
            facts = json.loads(
                run(*job, *more, "-o", tmp_path / "out.csv", "--overwrite", "--json").out
            )
            about, found = plan["counts"]["passages"], facts["passages"]
            low, high = plan["between"].get("passages", (0.75 * about, 1.25 * about))
            assert low <= found <= high
            assert about == pytest.approx(found, rel=0.3)
            between[n_bytes, len(more)] = high - low
    for n in (0, 2):
        assert between[300_000, n] < between[100_000, n]
    monkeypatch.setattr("neardup.stages.bench._INDEXED_BYTES", 50_000)
    assert re.search(r"passages  [\d,]+ to [\d,]+, of too small a sample", run(*job, "--plan").out)


@pytest.fixture
def passages(tmp_path):
    """Give an index of passages of two segments."""
    index = neardup.PassageIndex.create(tmp_path / "passages", min_tokens=30, num_perm=0)
    index.add(str(write_passages(tmp_path / "a.jsonl", 300)))
    index.add(str(write_passages(tmp_path / "b.jsonl", 200, seed=3)))
    return tmp_path / "passages"


@pytest.fixture
def index(tmp_path):
    """Give an index of documents of two segments and a tail."""
    index = neardup.DocumentIndex.create(tmp_path / "index", ngram=1, threshold="0.3")
    for seed, n in ((1, 400), (3, 200)):
        rows = write_documents(tmp_path / "indexed.jsonl", n, seed=seed).read_text().splitlines()
        index.add([json.loads(row) | {"id": f"{seed} {k}"} for k, row in enumerate(rows)])
    index.insert("late", "one more")
    index.commit()
    (tmp_path / "indexed.jsonl").unlink()
    return tmp_path / "index"


def write_queries(path: Path, seed: int = 5) -> Path:
    """Write texts of 40 words, most of which documents of ``passages`` have as passages."""
    rng = random.Random(seed)
    rows = path.with_name("a.jsonl").read_text().splitlines()
    texts = [json.loads(row)["text"].split() for row in rows]
    queries = []
    for _ in range(150):
        text = rng.choice(texts)
        start = rng.randint(0, len(text) - 40)
        queries.append(json.dumps({"text": " ".join(text[start : start + 40])}))
    path.write_text("".join(query + "\n" for query in [*queries, '{"text": ""}']))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--all-windows", "--recall", "0.9"), ("--memory", "16MB", "--places")]
)
def test_plan_of_search__passages(run, tmp_path, passages, options):
    """Of few queries all are looked up for trial."""
    if "--all-windows" in options:
        index = neardup.PassageIndex.create(tmp_path / "hashes", min_tokens=30)
        index.add(str(tmp_path / "a.jsonl"))
        passages = tmp_path / "hashes"
    job = ("search", passages, write_queries(tmp_path / "in.jsonl"), "--threshold", "0.6", *options)
    plan = planned(run, *job)
    facts = json.loads(run(*job, "-o", tmp_path / "out.csv", "--json").out)
    assert plan["documents"] == plan["sample_documents"] == facts["queries"] == 151
    assert plan["counts"]["passages"] == facts["passages"] >= 150
    assert plan["between"] == {}
    assert [each["stage"] for each in plan["stages"]] == ["open", "search"]
    assert plan["temporary_bytes"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--memory", "16MB", "--places"),
        ("--measure", "containment", "--max-documents", "1%"),
        ("--summary", "documents", "--on-error", "skip"),
    ],
)
def test_plan_of_align__with_an_index(run, tmp_path, passages, options):
    """Of few queries all are looked up for trial, in the very index."""
    queries = write_queries(tmp_path / "in.jsonl")
    if "skip" in options:
        with queries.open("a") as file:
            file.write('{"text": 5}\n')
    job = ("align", queries, "--against", passages, "--threshold", "0.6", *options)
    before = {path: path.read_bytes() for path in passages.rglob("*") if path.is_file()}
    plan = planned(run, *job)
    assert {path: path.read_bytes() for path in passages.rglob("*") if path.is_file()} == before
    facts = json.loads(run(*job, "-o", tmp_path / "out.csv", "--json").out)
    assert facts["documents"] == [151, 500]
    assert plan["documents"] == plan["sample_documents"] == 151 + ("skip" in options)
    assert plan["counts"]["passages"] == facts["passages"] >= 150
    assert plan["between"] == {}
    assert [each["stage"] for each in plan["stages"]] == ["open", "align"]
    assert plan["temporary_bytes"] == 0


@pytest.mark.slow
def test_plan_of_align__does_not_look_at_queries_twice(run, tmp_path, passages, monkeypatch):
    """A run looks at the beginnings of some queries first, which a trial has not to pay for."""
    queries = write_queries(tmp_path / "in.jsonl")
    looked = []
    flood = hints.Flood.heads
    monkeypatch.setattr(
        hints.Flood, "heads", lambda self, tokens: looked.append(flood(self, tokens)) or looked[-1]
    )
    planned(run, "align", queries, "--against", passages)
    assert looked
    assert sum(map(len, looked)) == 0
    run("align", queries, "--against", passages, "-o", tmp_path / "out.csv")
    assert len(looked[-1]) == 5


def test_plan_of_align__refuses_what_a_run_refuses(run, tmp_path, passages):
    queries = write_queries(tmp_path / "in.jsonl")
    job = ("align", queries, "--against", passages)
    for more in (("--measure", "max-containment"), ("--ngram", "2")):
        refused = run(*job, *more, "--plan")
        assert refused.code == 1
        assert refused == run(*job, *more, "-o", tmp_path / "out.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--threshold", "0.5"), ("--limit", "1"), ("--top", "2", "--on-error", "skip")]
)
def test_plan_of_search__documents(run, tmp_path, documents, index, options):
    with documents.open("a") as file:
        file.write('{"id": "empty", "text": ""}\n')
        if "skip" in options:
            file.write('{"id": "number", "text": 5}\n{"id": null, "text": "one more"}\n')
    job = ("search", index, documents, *options)
    plan = planned(run, *job)
    facts = json.loads(run(*job, "-o", tmp_path / "out.csv", "--json").out)
    assert plan["counts"]["matches"] == facts["matches"] >= 300
    assert plan["documents"] == 401 + 2 * ("skip" in options)
    assert [each["stage"] for each in plan["stages"]] == ["open", "search"]
    if not options:
        of_pairs = planned(run, "pairs", documents, "--against", index)
        assert of_pairs["counts"] == {"tokens": plan["counts"]["tokens"], "pairs": facts["matches"]}
        assert [each["stage"] for each in of_pairs["stages"]] == ["open", "join"]


@pytest.mark.slow
def test_plan_of_look_ups__tells_the_memory_of_a_segment_beyond_the_budget(
    run, tmp_path, monkeypatch
):
    """It is searched as a whole."""
    monkeypatch.setattr("neardup.stages.look_ups.SEARCH_SHARE", 0.01)
    index, documents = tmp_path / "idx", write_passages(tmp_path / "a.jsonl", 2_000)
    neardup.PassageIndex.create(index, min_tokens=30, num_perm=0).add(str(documents))
    searched = PassageHandle(index).view(Runner(1)).search_bytes(1)
    plan = planned(
        run,
        *("search", index, write_queries(tmp_path / "in.jsonl")),
        *("--memory", "16MB", "--workers", "1"),
    )
    assert searched > 4_000_000
    assert plan["memory_bytes"] > PROCESS + searched


@pytest.mark.slow
def test_plan_of_look_ups__tells_the_memory_of_what_is_touched(run, tmp_path):
    """Files of min-hashes that nobody asks for take none, nor texts in which nothing is found."""
    index, documents = tmp_path / "idx", write_passages(tmp_path / "a.jsonl", 400)
    neardup.PassageIndex.create(index, min_tokens=30).add(str(documents))
    queries, others = write_queries(tmp_path / "in.jsonl"), tmp_path / "others.jsonl"
    others.write_text(
        "".join(json.dumps({"text": text[::-1]}) + "\n" for text in texts_of(queries))
    )
    (segment,) = (index / "segments").iterdir()
    of_windows = ("key-starts", "keys", "list-starts", "starts", "spans", "wide-rows", "wide-spans")
    hashes = sum((segment / f"{name}.npy").stat().st_size for name in of_windows)
    texts = sum(map(len, texts_of(documents)))
    jobs = ((("search", index), ("--recall", "1")), (("align", "--against", index), ()))
    for job, without in jobs:
        by_hits, by_none, of_nothing = (
            planned(run, *job, *more)
            for more in ((queries, "--hits", "20"), (queries, *without), (others, *without))
        )
        assert by_none["counts"]["passages"] >= 150
        assert of_nothing["counts"]["passages"] == 0
        more = by_hits["memory_bytes"] - by_none["memory_bytes"]
        assert more == pytest.approx(hashes, rel=0.02)
        more = by_none["memory_bytes"] - of_nothing["memory_bytes"]
        assert texts < more < 2 * texts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), [("passages", "search"), ("index", "search"), ("passages", "align")]
)
def test_plan_of_look_ups__says_what_a_part_leaves_open(
    run, tmp_path, documents, request, monkeypatch, kind, name
):
    """A few groups of all queries are looked up for trial, and say how far off that may be."""
    folder = request.getfixturevalue(kind)
    queries = documents if kind == "index" else write_queries(tmp_path / "in.jsonl")
    inputs = (folder, queries) if name == "search" else (queries, "--against", folder)
    job = (name, *inputs, "--threshold", "0.6" if kind == "passages" else "0.3")
    facts = json.loads(run(*job, "-o", tmp_path / "out.csv", "--json").out)
    found = facts["passages" if kind == "passages" else "matches"]
    monkeypatch.setattr("neardup.stages.bench._TRIAL_SECONDS", 0.0)
    monkeypatch.setattr("neardup.stages.bench._TRIAL_SHARE", 0.0)
    plan = planned(run, *job)
    counted = "passages" if kind == "passages" else "matches"
    low, high = plan["between"][counted]
    assert low <= found <= high
    assert low < plan["counts"][counted] < high


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["passages", "index"])
def test_plan_of_look_ups__of_next_to_nothing(run, tmp_path, kind):
    make = neardup.PassageIndex if kind == "passages" else neardup.DocumentIndex
    make.create(tmp_path / kind)
    queries = tmp_path / "in.jsonl"
    for text in ("", '{"text": "a b c"}\n'):
        queries.write_text(text)
        jobs = [("search", tmp_path / kind, queries)]
        if kind == "passages":
            jobs.append(("align", queries, "--against", tmp_path / kind))
        for job in jobs:
            plan = planned(run, *job)
            assert plan["counts"]["passages" if kind == "passages" else "matches"] == 0
            assert plan["documents"] == len(text.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("job", [CUT, ("cut",), PAIRS, ("align",)], ids=" ".join)
def test_plan__of_no_documents(run, tmp_path, job):
    """Neither a file without rows nor one of bad rows alone has any; another collection may."""
    (tmp_path / "none.jsonl").touch()
    (tmp_path / "bad.jsonl").write_text("[]\n")
    (tmp_path / "one.jsonl").write_text('{"text": "a b c"}\n')
    for inputs in (
        ("none.jsonl",),
        ("bad.jsonl", "--on-error", "skip"),
        ("none.jsonl", "--against", "one.jsonl"),
        ("one.jsonl", "--against", "none.jsonl"),
    ):
        plan = planned(
            run, *job, *(tmp_path / each if each.endswith("jsonl") else each for each in inputs)
        )
        assert set(plan["counts"].values()) <= {0, 1, 3}
        assert 0 <= plan["seconds"] < float("inf")


@pytest.mark.slow
@pytest.mark.parametrize("job", [CUT, PAIRS, ("align", "--min-tokens", "20"), ("search", "IDX")])
def test_plan__writes_nothing_and_needs_no_output(run, tmp_path, documents, job):
    if job[0] == "search":
        neardup.PassageIndex.create(tmp_path / "IDX")
        job = ("search", tmp_path / "IDX")
    there = {path.name for path in tmp_path.iterdir()}
    outcome = run(*job, documents, "--plan", "--memory", "100MB")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("400 documents (counted)")
    assert " with --memory 100 MB" in outcome.out
    assert (" for the output without texts, " in outcome.out) == (job[0] in ("align", "search"))
    assert max(map(len, lines)) <= 100
    assert {path.name for path in tmp_path.iterdir()} == there
    kept = tmp_path / "out"
    kept.write_text("as it was")
    assert run(*job, documents, "--plan", "-o", kept).code == 0
    assert kept.read_text() == "as it was"
    # Without it the output is asked for.
    assert run(*job, documents).code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "job",
    [CUT, ("cut", "--unit", "lines"), ("cut", "--exact", "--min-tokens", "10"), PAIRS],
)
def test_plan__a_smaller_budget_takes_files_and_less_memory(run, tmp_path, job):
    documents = write_documents(tmp_path / "many.jsonl", 10_000)
    small, large = (planned(run, *job, documents, "--memory", m) for m in ("16MB", "1GB"))
    assert small["temporary_bytes"] > large["temporary_bytes"] == 0
    assert small["memory_bytes"] < large["memory_bytes"]


@pytest.mark.slow
def test_plan__of_a_compressed_file_and_of_a_sample(run, tmp_path, monkeypatch):
    """Of large files some blocks are read, and stand for all."""
    documents = write_documents(tmp_path / "many.jsonl", 3_000)
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(gzip.compress(documents.read_bytes()))
    whole = planned(run, *CUT, documents)
    assert planned(run, *CUT, packed)["counts"] == whole["counts"]
    for source in ("neardup.files.rawsource.RawSource", "neardup.files.jsonlines.JsonLinesSource"):
        module, name = source.rsplit(".", 1)
        found = getattr(__import__(module, fromlist=[name]), name)
        monkeypatch.setitem(found.__init__.__kwdefaults__, "block_bytes", 20_000)
    plan = planned(run, *CUT, documents)
    assert plan["sample_documents"] < 1_500
    assert not plan["documents_counted"]
    for figure in ("documents", "text_bytes"):
        assert plan[figure] == pytest.approx(whole[figure], rel=0.1)
    for name, number in whole["counts"].items():
        assert plan["counts"][name] == pytest.approx(number, rel=0.25)


def test_plan__of_parquet(run, tmp_path, documents):
    rows = [json.loads(line) for line in documents.read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    for job in (CUT, PAIRS):
        of_lines, of_table = (
            planned(run, *job, tmp_path / f"in.{e}") for e in ("jsonl", "parquet")
        )
        assert of_table["counts"] == of_lines["counts"]


@pytest.mark.parametrize(
    ("job", "message"),
    [(("pairs", "--method", "minhash"), "what --method minhash takes, `neardup plan` tells")],
)
def test_plan__of_what_no_forecast_is_made(run, documents, job, message):
    outcome = run(*job, documents, "--plan")
    assert outcome.code == 1
    assert outcome.err.startswith(f"error: {message}")
