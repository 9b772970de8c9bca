"""``--plan`` with ``--engine spark``: what it tells is what then travels, in a session of tests."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

import neardup
import neardup.cli
from neardup.spark import session as sessions

LINES = ("cut", "--unit", "lines")
PASSAGES = ("cut", "--min-tokens", "30")
PAIRS = ("pairs", "--ngram", "1", "--threshold", "0.8")
ALIGN = ("align", "--min-tokens", "30")
JOBS = {
    "equal lines": (*LINES, "--exact"),
    "similar lines": (*LINES, "--ngram", "1"),
    "equal passages": (*PASSAGES, "--exact"),
    "similar passages": PASSAGES,
    "pairs": PAIRS,
    "edits": ("pairs", "--max-distance", "3"),
    "align": ALIGN,
}
# Of these a trial tells how many documents are looked at, or what they have; of few it is not much.
WITHIN = {"equal passages": 0.35, "similar passages": 0.35, "edits": 0.35}


def write_documents(path: Path, n: int, seed: int) -> Path:
    """Write documents of lines, of which a part, and parts of these, are in others, too."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(3, 8))) for _ in range(5_000)]
    lines: list[str] = []
    rows = []
    for number in range(n):
        own = []
        for _ in range(rng.randint(5, 20)):
            if lines and rng.random() < 1 / 6:
                start = rng.randrange(len(lines))
                own += lines[start : start + rng.randint(1, 6)]
            else:
                own.append(" ".join(rng.choices(words, k=rng.randint(8, 14))))
                lines.append(own[-1])
        rows.append(json.dumps({"id": f"d{seed}-{number}", "text": "\n".join(own)}))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def run(monkeypatch, capsys, in_process):
    """Run a command on a session in this process; return it, and what the command prints."""

    def run_command(*arguments: object) -> tuple[Any, dict[str, Any]]:
        in_process.sent = in_process.stored = 0
        words = [str(each) for each in arguments]
        assert neardup.cli.run([*words, "--engine", "spark", "--json"]) == 0
        return in_process, json.loads(capsys.readouterr().out)

    monkeypatch.setattr(
        sessions, "current_cluster", lambda work=None: sessions.cluster_of(in_process)
    )
    return run_command


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_plan__tells_what_travels(run, tmp_path, name):
    job = JOBS[name]
    documents = write_documents(tmp_path / "in.jsonl", 2_000, seed=1)
    session, plan = run(*job, documents, "--plan")
    assert session.sent + session.stored == 0
    end = ("-o", tmp_path / "out.csv") if job[0] != "cut" else ("-o", tmp_path / "out")
    session, facts = run(*job, documents, *end)
    exchanged = session.sent + session.stored
    assert plan["exchanged_bytes"] == pytest.approx(exchanged, rel=WITHIN.get(name, 0.25))
    assert plan["executors"]["slots"] == facts["workers"] == 2
    assert plan["executors"]["task_memory_limit_bytes"] == 512 << 20
    start, *stages = plan["stages"]
    assert (start["stage"], start["exchanged_bytes"]) == ("start", 0)
    disk = [each["exchanged_bytes"] for each in stages]
    assert disk == sorted(disk)
    assert plan["exchanged_bytes"] == disk[-1]
    assert plan["memory_bytes"] == max(each["memory_bytes"] for each in plan["stages"])
    assert plan["task_bytes"] == max(each["task_bytes"] for each in plan["stages"])
    assert plan["seconds"] == pytest.approx(sum(each["seconds"] for each in plan["stages"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["equal lines", "equal passages", "similar passages", "align"])
def test_plan__against_others(run, tmp_path, name):
    job = JOBS[name]
    documents = write_documents(tmp_path / "in.jsonl", 1_000, seed=1)
    other = write_documents(tmp_path / "other.jsonl", 500, seed=2)
    with other.open("a") as file:
        file.writelines(documents.read_text().splitlines(keepends=True)[:100])
    _, plan = run(*job, documents, "--against", other, "--plan")
    end = ("-o", tmp_path / "out.csv") if job[0] != "cut" else ("-o", tmp_path / "out")
    session, _ = run(*job, documents, "--against", other, *end)
    assert plan["exchanged_bytes"] == pytest.approx(session.sent + session.stored, rel=0.35)


def test_plan__says_what_executors_take(run, tmp_path, capsys, monkeypatch):
    documents = write_documents(tmp_path / "in.jsonl", 20, seed=1)
    words = [*JOBS["equal lines"], str(documents), "--plan", "--engine", "spark"]
    assert neardup.cli.run(words) == 0
    out = capsys.readouterr().out
    assert " for the driver\n" in out
    assert "\n  tasks          2 tasks at a time, each of up to " in out
    assert " on the disks of executors\n" in out
    assert "\n  stage " in out
    (head,) = (line for line in out.splitlines() if line.startswith("  stage "))
    assert head.split() == ["stage", "driver", "task", "exchanged", "time", "what", "takes", "it"]
    assert "\n  start  " in out
    # What only threads read is refused as it is by a run.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "a"}\n')))
    assert neardup.cli.run([*JOBS["equal lines"], "-", "--plan", "--engine", "spark"]) == 1
    assert "Spark reads files that all its executors reach" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["search passages", "align", "search documents", "pairs"])
def test_plan__with_an_index(run, tmp_path, monkeypatch, name):
    """What is looked up in an index that is there, of several segments and parts."""
    monkeypatch.setattr("neardup.passages.index_size._LEAST_OF_SEGMENTS", 20_000)
    queries = write_documents(tmp_path / "in.jsonl", 1_500, seed=1)
    index: Any
    is_of_passages = name in ("search passages", "align")
    if is_of_passages:
        index = neardup.PassageIndex.create(tmp_path / "idx", min_tokens=30, num_perm=0)
    else:
        index = neardup.DocumentIndex.create(tmp_path / "idx", ngram=1, threshold="0.3")
    for seed in (2, 3, 4):
        index.add(str(write_documents(tmp_path / f"other{seed}.jsonl", 300, seed=seed)))
    rows = [json.loads(line) for line in queries.read_text().splitlines()[:200]]
    index.add([row | {"id": f"again {row['id']}"} for row in rows])
    job: tuple[object, ...] = ("search", tmp_path / "idx", queries)
    if name in ("pairs", "align"):
        job = (name, queries, "--against", tmp_path / "idx")
    _, plan = run(*job, "--plan")
    session, facts = run(*job, "-o", tmp_path / "out.csv")
    found = "pairs" if name == "pairs" else "passages" if is_of_passages else "matches"
    assert plan["counts"][found] == facts[found] >= 200
    exchanged = session.sent + session.stored
    assert plan["exchanged_bytes"] == pytest.approx(exchanged, rel=0.25)
    stages = [each["stage"] for each in plan["stages"]]
    look_up = "join" if name == "pairs" else name.split()[0]
    assert stages == ["start", "open", *(["read"] if is_of_passages else []), look_up]
    assert plan["task_bytes"] == max(each["task_bytes"] for each in plan["stages"])
