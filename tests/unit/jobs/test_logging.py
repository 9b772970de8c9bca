"""What the jobs write into the log: stages and counts, details only when asked for."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import neardup
from neardup.runs.progress import job_logger
from neardup.runs.runner import Runner
from tests.each import each_of

TEXTS = ["a b c d e f g h", "A b c d e f g h!", "i j k l m n o p"]


def messages(caplog) -> list[str]:
    """Return the messages without the times in them."""
    assert {record.name.split(".")[0] for record in caplog.records} <= {"neardup"}
    return [re.sub(r"after \d+\.\d{3} s", "after T", m) for m in caplog.messages]


def test_deduplicate__stages_and_counts(caplog, tmp_path):
    caplog.set_level(logging.INFO, "neardup")
    neardup.deduplicate(TEXTS, threshold="0.5").write(tmp_path / "out")
    assert messages(caplog) == [
        "read: begins",
        "read: ends after T, documents 3, distinct texts 2",
        "bucket: begins",
        "bucket: ends after T, candidates 0",
        "sieve: begins",
        "sieve: ends after T, candidates 0",
        "compare: begins",
        "compare: ends after T",
        "choose: begins",
        "choose: ends after T, compared 0, similar 0",
        "write: begins",
        f"write: ends after T, rows 3, folder {tmp_path / 'out'}",
    ]


CALLS = {
    "pairs": (
        lambda: neardup.find_pairs(TEXTS),
        ["read: ends after T, documents 3, records 2", "join: ends after T, pairs 1"],
    ),
    "align": (
        lambda: neardup.align(TEXTS[:1], TEXTS[1:], min_tokens=6),
        ["read: ends after T, documents 2, tokens 16",
         "align: ends after T, documents 1, windows 3, passages 1"],
    ),
    "sketch": (lambda: neardup.sketch(TEXTS), ["sketch: ends after T, documents 3"]),
    "estimate": (
        lambda: neardup.estimate(neardup.sketch(TEXTS)),
        ["sketch: ends after T, documents 3", "estimate: ends after T, estimated pairs 3, pairs 3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_jobs__ends_of_stages(caplog, name):
    call, expected = CALLS[name]
    caplog.set_level(logging.INFO, "neardup")
    call()
    assert [message for message in messages(caplog) if "ends" in message] == expected


def test_index__ends_of_stages(caplog, tmp_path):
    caplog.set_level(logging.INFO, "neardup")
    index = neardup.PassageIndex.create(tmp_path / "idx", min_tokens=5)
    index.add(TEXTS)
    index.search(TEXTS[:1])
    index.compact()
    assert [message for message in messages(caplog) if "ends" in message] == [
        "read: ends after T, documents 3, tokens 24",
        "search: ends after T, queries 1, passages 2",
        "compact: ends after T, segments 1",
    ]


def test_details__files_and_filters(caplog, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a b c\nd e f\n")
    caplog.set_level(logging.DEBUG, "neardup")
    neardup.find_pairs(path, lines=True)
    assert f"read: {path}, 12 bytes" in caplog.messages
    assert any(message.startswith("join: filters {") for message in caplog.messages)


def jobs_of(caplog):
    """Give the ids of jobs in the log, in the order in which they begin, and clear it."""
    ids = list(dict.fromkeys(record.job for record in caplog.records))
    caplog.clear()
    return ids


def test_records__have_the_id_of_their_job(caplog, tmp_path):
    """One from the first record to the last, by kind and job; what waits is of it, too."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a b c d e f g h"}\n' * 3)
    caplog.set_level(logging.DEBUG, "neardup")
    ids = []
    index = neardup.DocumentIndex.create(tmp_path / "idx", ngram=1)
    for kind, call in (
        ("dedup", lambda: neardup.deduplicate(path, audit=1)),
        ("dedup", lambda: neardup.deduplicate(path, audit=1)),
        ("pairs", lambda: neardup.find_pairs(path, workers=2)),
        ("index-add", lambda: index.add(path)),
        ("search", lambda: index.search(path)),
        ("cut", lambda: neardup.cut(path, min_tokens=3)),
        ("align", lambda: neardup.align(path, min_tokens=3)),
        ("sketch", lambda: neardup.sketch(path)),
        ("compare", lambda: neardup.compare("a b c d", "a b c e")),
    ):
        call()
        assert len(caplog.records) > 1
        [of_call] = jobs_of(caplog)
        assert re.fullmatch(f"{kind}-[0-9a-f]{{8}}", of_call)
        ids.append(of_call)
    assert len(set(ids)) == len(ids)


def test_records__of_jobs_in_threads_are_told_apart(caplog):
    caplog.set_level(logging.INFO, "neardup")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: neardup.find_pairs(TEXTS), range(8)))
    of_jobs = {}
    for record in caplog.records:
        of_jobs.setdefault(record.job, []).append(record.getMessage().split(" after")[0])
    assert (
        list(of_jobs.values()) == [["read: begins", "read: ends", "join: begins", "join: ends"]] * 8
    )


def test_records__of_a_runner_and_its_threads(caplog):
    """Also of one that is not in a ``with`` block, as that of a command."""
    caplog.set_level(logging.INFO, "neardup")
    runner, log = Runner(2), job_logger("neardup.test")
    with runner.stage("count"):
        for _ in runner.map(lambda number: log.info("block %d", number), range(20)):
            pass
    assert len(caplog.records) == 22
    assert jobs_of(caplog) == [runner.job]


def test_records__outside_of_jobs(caplog):
    job_logger("neardup.test").warning("one")
    logging.getLogger("neardup.kernels").warning("another")
    assert [record.job for record in caplog.records] == ["-", "-"]


@each_of("path", sorted(Path(neardup.__file__).parent.rglob("*.py")))
def test_modules__loggers_note_the_job(path):
    """But for kernels, which import nothing, and where the logger is made."""
    made = re.findall(r"= logging\.getLogger\(.+", path.read_text(encoding="utf-8"))
    assert not made or path.name in ("_compile.py", "progress.py")


@pytest.mark.slow
def test_logging__says_nothing_unless_it_is_configured():
    code = f"import neardup; neardup.deduplicate({TEXTS})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
