"""What wrong options get: one line that says what is expected, before any work starts."""

from __future__ import annotations

import pytest

from tests.oracles.measures import MEASURES

GOOD = b'{"text": "one", "id": "a"}\n'


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("--threshold 80", "--threshold must lie in (0, 1], got 80; write 0.8 for 80 %"),
        ("--threshold 1e999999999", "--threshold must lie in (0, 1], got 1e999999999"),
        (
            f"--threshold 0.{'9' * 100_000}",
            "--threshold may have 40 characters at most, got 100,002",
        ),
        (
            "--threshold 1e-12",
            "--threshold may have a denominator of 10^9 at most (nine decimals), got 1e-12",
        ),
        (
            "--threshold 0.01",
            "--recall 0.99 at Jaccard similarity 0.01 is out of reach with --num-perm 128; raise "
            "--num-perm to 459 or ask for less",
        ),
        (
            "--bands 20x10",
            "20 bands of 10 rows need 200 hash functions, --num-perm allows 128; lower one of them "
            "or raise --num-perm",
        ),
        (
            "--recall 0.9 --bands 4x5",
            "--recall has no effect with --bands; leave it out, or leave out --bands",
        ),
        ("--bands 20", "--bands must be two numbers, such as 20x5, got '20'"),
        (
            "--keep best",
            "--keep must be first, longest, shortest, max:COLUMN, min:COLUMN or "
            "priority:COLUMN=A,B,C, or several, separated by commas; got 'best'",
        ),
        (
            "--tokenizer word",
            "--tokenizer must be one of words, whitespace, characters, bytes, code, "
            "code:LANGUAGE or a tokenizer.json file, got 'word'",
        ),
        (
            "--tokenizer bytes --casefold",
            "--tokenizer bytes has nothing to fold away; leave out --casefold, or choose another "
            "--tokenizer",
        ),
        (
            "--method exact --audit 5",
            "--audit has no effect with --method exact, which misses nothing; leave it out, or "
            "choose --method minhash",
        ),
        *(
            (
                f"--method exact --{option}",
                f"--{option.split()[0]} has no effect with --method exact; leave it out, or choose "
                "--method minhash",
            )
            for option in ("recall 0.99", "bands 9x5")
        ),
        *(
            (
                f"--{option}",
                f"--{option.split()[0]} has no effect with --measure jaccard; leave it out, or "
                "choose --measure weighted-jaccard",
            )
            for option in ("idf smooth",)
        ),
        ("--memory much", "--memory must be a size such as 4GB, got 'much'"),
        ("--memory 8", "--memory must be at least 16 MB, got 8; write 8GB for gigabytes"),
        (
            "--keep max:score",
            "a.jsonl, row 1: no column 'score'; columns are 'text', 'id'; name another with --keep",
        ),
        (
            "--text-column body",
            "a.jsonl, row 1: no column 'body'; columns are 'text', 'id'; name another "
            "with --text-column",
        ),
        (
            "--id-column key",
            "a.jsonl, row 1: no column 'key'; columns are 'text', 'id'; name another "
            "with --id-column, or leave it out",
        ),
    ],
)
def test_dedup__bad_option(fails, write_file, options, error):
    write_file("a.jsonl", GOOD)
    fails("dedup", "a.jsonl", "-o", "out", *options.split(), error=error)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            "--measure jacard",
            f"Invalid value for '--measure': 'jacard' is not one of "
            f"{', '.join(map(repr, (*MEASURES, 'weighted-jaccard')))}.",
        ),
        ("--ngram five", "Invalid value for '--ngram': 'five' is not a valid integer."),
        (
            "--clusters all",
            "Invalid value for '--clusters': 'all' is not one of 'survivors', 'components'.",
        ),
        (
            "--format csv",
            "Invalid value for '--format': 'csv' is not one of 'same', 'jsonl', 'parquet', 'none'.",
        ),
    ],
)
def test_dedup__wrong_usage(run, here, write_file, options, error):
    write_file("a.jsonl", GOOD)
    outcome = run("dedup", "a.jsonl", "-o", "out", *options.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1] == f"Error: {error}"
    assert outcome.err.startswith("Usage: neardup dedup [OPTIONS] INPUT...\n")
    assert [path.name for path in here.iterdir()] == ["a.jsonl"]
