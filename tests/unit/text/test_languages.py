"""Programs of several languages together: each is cut as the ending of its file says."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files.encodings import IN_MEMORY, LANGUAGES, language_of_file, languages_of_ids
from tests.calls import grouped
from tests.each import each_of
from tests.programs import ENDINGS, program, write_programs

CODE = {"tokenizer": "code", "ngram": 4}


COPIES = {**CODE, "threshold": "0.5"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return write_programs(tmp_path_factory.mktemp("programs"))


def rows(*tables: pa.Table) -> list[str]:
    return sorted(str(row) for table in tables for row in table.to_pylist())


def dedup(**options):
    def run(folder, **tokenizer):
        found = neardup.deduplicate(folder, **grouped(**{**COPIES, **options, **tokenizer}))
        return rows(found.removed)

    return run


def pairs(**options):
    def run(folder, **tokenizer):
        found = neardup.find_pairs(folder, **grouped(**{**COPIES, **options, **tokenizer}))
        return rows(found.pairs)

    return run


def align(folder, **tokenizer):
    # Runs of a tenth of the tokens of a passage are ignored.
    templates = sorted(folder.parent.glob(f"start.{ENDINGS.get(folder.name, '*')}"))
    options = {"threshold": "0.4", "min_tokens": 150, "ignore": templates, "summary": "documents"}
    found = neardup.align(folder, **grouped(**{**CODE, **options, **tokenizer}))
    assert found.summary["ignored_tokens"]
    return rows(found.passages, found.document_pairs)


def cut(**options):
    def run(folder, **tokenizer):
        given = {"tokenizer": "code", **options, **tokenizer}
        return rows(neardup.cut(folder, **grouped(**given)).removed)

    return run


def sketch(folder, **tokenizer):
    sketches = neardup.sketch(folder, **grouped(**{**CODE, **tokenizer}))
    return rows(neardup.estimate(sketches, threshold="0.3").pairs)


WAYS = {
    "dedup": dedup(),
    "dedup, exact": dedup(method="exact"),
    "dedup within memory": dedup(memory="16MB"),
    "dedup, weighted": dedup(measure="weighted-jaccard", idf="unary"),
    "pairs": pairs(),
    "pairs, exact": pairs(method="exact"),
    "pairs, edit": pairs(measure="edit", ngram=None),
    "align": align,
    "cut, equal passages": cut(exact=True, min_tokens=30),
    "cut, passages": cut(threshold="0.9", min_tokens=80),
    "cut, lines": cut(unit="lines", min_tokens=5),
    "cut, sentences": cut(unit="sentences", min_tokens=5),
    "sketch": sketch,
}


@pytest.mark.slow
@each_of("name", WAYS)
def test_languages__together_as_each_by_itself(folders, name):
    run = WAYS[name]
    by_language = [row for each in ENDINGS for row in run(folders[each], tokenizer=f"code:{each}")]
    assert len(by_language) > 4
    assert run(folders["all"]) == sorted(by_language)


def test_languages__of_a_folder(folders, tmp_path):
    """Only programs are read of it, and the language that is named decides for all."""
    shutil.copytree(folders["python"], tmp_path / "mixed")
    (tmp_path / "mixed/notes.txt").write_text("it's no program")
    (tmp_path / "mixed/a.java").write_text(program("python", 0, 0))
    found = neardup.deduplicate(tmp_path / "mixed", preset="code")
    assert found.summary["documents_in"] == 10
    assert "a.java" not in found.removed["id"].to_pylist()
    found = neardup.deduplicate(
        tmp_path / "mixed", preset="code", text=neardup.TextOptions(tokenizer="code:py")
    )
    assert found.summary["documents_in"] == 11
    assert {"id": "a.java", "kept_id": "0-0.py"} in found.removed.select(
        ["id", "kept_id"]
    ).to_pylist()


def test_languages__of_data_in_memory():
    """They are in no file, and Python."""
    assert neardup.similarity("a = 1  # it's", "b = 2", **grouped(**CODE)) == 1
    java = grouped(**{**CODE, "tokenizer": "code:java"})
    assert neardup.similarity("a = 1  // it's", "b = 2", **java) == 1
    assert len(neardup.deduplicate(["a = 1  # it's", "b = 2"], preset="code").removed) == 1


@each_of("name", ["a.txt", "rows.jsonl", "a"])
def test_languages__no_ending_of_one(tmp_path, name):
    text = '{"text": "a = 1"}\n{"text": "b = 2"}\n'
    (tmp_path / name).write_text(text)
    for run in (neardup.deduplicate, neardup.align, neardup.cut, neardup.sketch):
        with pytest.raises(InvalidInputError, match=f"{name}: .*no ending"):
            run(tmp_path / name, text=neardup.TextOptions(tokenizer="code"))
    for kind in (neardup.DocumentIndex, neardup.PassageIndex):
        index = kind.create(tmp_path / kind.__name__, text=neardup.TextOptions(tokenizer="code"))
        with pytest.raises(InvalidInputError, match="no ending"):
            index.add(tmp_path / name)
    python = neardup.TextOptions(tokenizer="code:python")
    neardup.deduplicate(tmp_path / name, preset="code", text=python)


def test_language_of_file():
    names = ["a.py", "A.PY.gz", "b.h", "c/d.tsx", "e.py/f", "g.py.txt", ".py"]
    found = [LANGUAGES[language_of_file(name)] for name in names]
    assert found == ["python", "python", "c", "typescript", "", "", ""]


def test_languages_of_ids():
    ids = ["a.java", "a.java:12", "x/B.JAVA.zst:3", "7", "a.java/b", "é\n.c", "py"]
    found = [LANGUAGES[number] for number in languages_of_ids(pa.array(ids)).tolist()]
    memory = LANGUAGES[IN_MEMORY]
    assert found == ["java", "java", "java", memory, memory, "c", memory]
    assert languages_of_ids(pa.array([1, 2])).tolist() == [IN_MEMORY] * 2
