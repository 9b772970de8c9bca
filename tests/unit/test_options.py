"""Options in Python: what has no effect is refused, by the names that parameters have there."""

from __future__ import annotations

import pickle
import traceback
from functools import partial

import click
import pytest

import neardup
from neardup.cli.command import spell_options
from neardup.errors import InvalidParameterError
from tests.calls import grouped
from tests.each import each_of

TEXTS = ["one two three", "four five six"]


@each_of(
    "options",
    [
        {"top": 3, "limit": 2},
        {"top": 3, "per_document": True, "limit": 4},
        {"max_distance": 1, "limit": 4, "ngram": 2},
        {"method": "minhash", "recall": 0.9, "num_perm": 64, "seed": 1},
        {"method": "ppjoin"},
        {"measure": "edit", "method": "allpairs"},
    ],
)
def test_find_pairs__accepted(options):
    assert len(neardup.find_pairs(TEXTS, **grouped(**options)).pairs) <= 2


def test_defaults__as_documented():
    given = {"recall": "0.99", "num_perm": 128, "seed": 42}
    times = {"seconds", "peak_memory_bytes"}
    for run in (
        neardup.deduplicate,
        partial(neardup.find_pairs, method="minhash"),
    ):
        left_out, written_out = run(TEXTS).summary, run(TEXTS, **grouped(**given)).summary
        assert {k: v for k, v in left_out.items() if k not in times} == {
            k: v for k, v in written_out.items() if k not in times
        }


def test_summary_of_pairs__recall_asked_for():
    assert neardup.find_pairs(TEXTS, method="minhash", recall=0.9).summary["recall"] == 0.9
    assert "recall" not in neardup.find_pairs(TEXTS).summary


def test_errors_of_others__show_all_frames():
    def fail(text):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        neardup.deduplicate(
            TEXTS, text=neardup.TextOptions(tokenizer=fail), run=neardup.RunOptions(workers=1)
        )
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fail"


COMMAND = click.Command(
    "test", params=[click.Option([name]) for name in ("--top", "--num-perm", "--json")]
)


@each_of(
    ("error", "spelled"),
    [
        (InvalidParameterError("top must be 1, not top"), "--top must be 1, not --top"),
        (InvalidParameterError("a top must be 1"), "a top must be 1"),
        (InvalidParameterError("a top must be 1", "top"), "a --top must be 1"),
        (
            InvalidParameterError("lower num_perm or top or seed", "num_perm", "top", "seed"),
            "lower --num-perm or --top or seed",
        ),
        (
            InvalidParameterError("top is none of tops, on-top, top.json, top_1, got 'top'", "top"),
            "--top is none of tops, on-top, top.json, top_1, got 'top'",
        ),
        (InvalidParameterError("write top.", "top"), "write --top."),
        (InvalidParameterError(""), ""),
    ],
)
def test_spell_options(error, spelled):
    assert spell_options(error, COMMAND) == spelled


def test_invalid_parameter_error__pickle():
    error = pickle.loads(pickle.dumps(InvalidParameterError("lower num_perm", "num_perm")))
    assert (str(error), error.parameters) == ("lower num_perm", ("num_perm",))
