"""What the jobs write into the log: stages and counts, details only when asked for."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import pytest

import neardup

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


@pytest.mark.slow
def test_logging__says_nothing_unless_it_is_configured():
    code = f"import neardup; neardup.deduplicate({TEXTS})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
