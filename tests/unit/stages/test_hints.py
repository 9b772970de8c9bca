"""Texts of which hints are made: single letters of scripts without spaces."""

from __future__ import annotations

import gzip
import json

import pytest

from neardup.files.resolve import resolve_inputs, resolve_paths
from neardup.files.rows import ColumnNames
from neardup.stages.hints import hints_of_letters
from neardup.text.shingles import make_shingle_scheme
from tests.each import each_of

THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระ"
LAO = "ມະນຸດທຸກຄົນເກີດມາ"
WORDS = make_shingle_scheme(ngram=1)


def has_hint(texts: list[str]) -> bool:
    hints = hints_of_letters(WORDS, resolve_inputs(texts), ColumnNames())
    assert [hint["name"] for hint in hints] in ([], ["letters"])
    return bool(hints)


@each_of(
    ("texts", "expected"),
    [
        ([THAI], True),
        ([LAO], True),
        ([THAI, "one two three"], True),
        ([f"{THAI} in a longer text of words " + "one two " * 30], False),
        (["漢語書 本"], False),
        (["カタカナ かな"], False),
        (["한국어 단어"], False),
        (["one two"], False),
        ([""], False),
        ([], False),
    ],
)
def test_hints_of_letters__of_alphabets_without_spaces(texts, expected):
    assert has_hint(texts) == expected


@each_of(
    "scheme",
    [make_shingle_scheme(ngram=3), make_shingle_scheme("characters", ngram=1)],
)
def test_hints_of_letters__only_of_single_words(scheme):
    assert hints_of_letters(scheme, resolve_inputs([THAI]), ColumnNames()) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_hints_of_letters__reads_only_the_beginning_of_a_file(tmp_path, name):
    texts = [THAI] * 16 + ["one two three"] * 30_000
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"body": text}) + "\n" for text in texts)
    [source] = sources = resolve_paths([str(tmp_path / name)])
    block_bytes = source.block_bytes
    assert hints_of_letters(WORDS, sources, ColumnNames("body"))
    # The job reads the source as before.
    assert source.block_bytes == block_bytes


def test_hints_of_letters__passes_over_what_cannot_be_read(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"body": THAI}) + '\n{"body": 5}\n{}\n')
    (tmp_path / "b.jsonl").write_text('{"body": "three"}\n')
    sources = resolve_paths([str(tmp_path)])
    (tmp_path / "b.jsonl").unlink()
    assert hints_of_letters(WORDS, sources, ColumnNames("body"))
