"""Errors of tasks reach the driver as they were, the first one in the order of the documents."""

from __future__ import annotations

import pickle

import pytest

from neardup.errors import EngineError, InvalidInputError, NeardupError, ReadError, WriteError
from neardup.files.jsonlines import JsonLinesSource
from neardup.spark.cluster import Failure, Piece, raise_first
from tests.each import each_of


@each_of(
    "error",
    [
        InvalidInputError("is bad", path="/data/a.jsonl", row=7, is_bad_row=True),
        ReadError("cannot be read", path="/data/a.jsonl"),
        WriteError("no space left"),
        EngineError("another version"),
    ],
)
def test_failure__travels(error: NeardupError):
    back = pickle.loads(pickle.dumps(Failure.of(3, None, error)))
    assert back.place == (3, 0)
    assert type(back.error) is type(error)
    assert str(back.error) == str(error)
    assert vars(back.error) == vars(error)


def test_failure__names_the_file_as_the_user_did(tmp_path):
    path = str(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text("")
    piece = Piece(0, 4, JsonLinesSource(path, "a.jsonl"), "data/a.jsonl")
    error = InvalidInputError("is bad", path=path, row=7)
    failure = pickle.loads(pickle.dumps(Failure.of(1, piece, error)))
    assert failure.place == (1, 4)
    assert str(failure.error) == "data/a.jsonl, row 7: is bad"
    assert (failure.error.path, failure.error.row) == ("data/a.jsonl", 7)


def test_raise_first():
    raise_first([])
    failures = [Failure((2, 0), WriteError("third")), Failure((0, 9), WriteError("first"))]
    with pytest.raises(WriteError, match="first"):
        raise_first([*failures, Failure((1, 1), WriteError("second"))])
