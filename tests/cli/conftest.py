"""Texts, files of every kind, and a check of an output folder that shares no code with neardup."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup.cli
from tests.files import compress, decompress

Documents = Mapping[str, str]

SUMMARY_KEYS = {
    "documents_in", "documents_kept", "documents_removed", "exact_copies", "empty_documents",
    "short_documents", "candidates", "verified_pairs", "predicted_recall", "bands", "rows",
    "threshold", "measure", "scheme", "seconds", "peak_memory_bytes", "versions",
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys) -> Callable[..., Outcome]:
    """Run the command line in this process."""
    # Whether these tests are the first to use the kernels is no business of theirs.
    monkeypatch.setattr("neardup.kernels._compile.announce", lambda _: None)

    def run_command(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = neardup.cli.run([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """Work in an empty folder, so that messages hold short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Path:
    """Give a folder for copies of what tests of a module begin with."""
    return tmp_path_factory.mktemp("made") / "copy"


@pytest.fixture
def once(here, made_once) -> Callable[[Callable[[], None]], None]:
    """Fill the working folder with what a function makes there, but call it once a module."""

    def fill(make: Callable[[], None]) -> None:
        if made_once.exists():
            shutil.copytree(made_once, here, dirs_exist_ok=True)
        else:
            make()
            shutil.copytree(here, made_once)

    return fill


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Make texts with exact copies, near copies, less near ones, short ones and empty ones."""
    rng = random.Random(5)
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuvwzäéñ", k=rng.randint(2, 9))) for _ in range(500)
    ]

    def sentence(n_words: int) -> str:
        return " ".join(rng.choices(words, k=n_words))

    def edited(text: str, n_words: int) -> str:
        parts = text.split(" ")
        for place in rng.sample(range(len(parts)), n_words):
            parts[place] = rng.choice(words)
        return " ".join(parts)

    originals = [sentence(rng.randint(80, 160)) for _ in range(20)]
    copies = [
        copy
        for text in originals[:10]
        for copy in (text, text.upper() + "!", edited(text, 1), edited(text, 2), edited(text, 12))
    ]
    odd = ["", "  ", "...", "one", "one two", "One, two!", 'quoted "words", and\nlines;\tand tabs']
    result = [*originals, *copies, *odd, *odd]
    rng.shuffle(result)
    return result


@dataclass(frozen=True)
class RowFile:
    """A file of rows: ``head``, the rows with ``glue`` between each two, ``tail``."""

    rows: list[bytes]
    head: bytes = b""
    glue: bytes = b""
    tail: bytes = b""

    def content(self, chosen: list[bool] | None = None) -> bytes:
        """Give the bytes of the file, or of one with some of the rows."""
        flags = chosen or [True] * len(self.rows)
        rows = [row for row, flag in zip(self.rows, flags, strict=True) if flag]
        return self.head + self.glue.join(rows) + self.tail


def rows_of(name: str, texts: list[str]) -> RowFile:
    """Lay texts out as rows in the format that a name tells: columns key, text and score."""
    records = [
        {"key": f"d{i}", "text": text, "score": (i * 7) % 10, "source": "cab"[i % 3]}
        for i, text in enumerate(texts)
    ]
    suffixes = Path(name).suffixes
    if suffixes[0] in (".jsonl", ".ndjson"):
        # Spacing, key order and escapes differ from row to row; none of it may get lost.
        styles: list[dict[str, Any]] = [
            {"ensure_ascii": True},
            {"ensure_ascii": False, "separators": (",", ":")},
            {"sort_keys": True},
        ]
        lines = [json.dumps(row, **styles[i % 3]) for i, row in enumerate(records)]
        return RowFile([line.encode() + (b"\n", b" \r\n")[i % 2] for i, line in enumerate(lines)])
    if suffixes[0] == ".json":
        return RowFile([json.dumps(row).encode() for row in records], b"[\n", b",\n", b"\n]\n")
    if suffixes[0] == ".txt":
        return RowFile([f"{' '.join(text.split())}\n".encode() for text in texts])
    lines_of_csv = []
    for row in [list(records[0]), *(list(record.values()) for record in records)]:
        line = io.StringIO()
        csv.writer(line, delimiter=",\t"[suffixes[0] == ".tsv"]).writerow(row)
        lines_of_csv.append(line.getvalue().encode())
    return RowFile(lines_of_csv[1:], head=lines_of_csv[0])


@pytest.fixture
def write_file(here) -> Callable[[str, RowFile | bytes | str], Path]:
    """Write a file in the working folder, compressed by its suffix."""

    def write(name: str, content: RowFile | bytes | str) -> Path:
        if isinstance(content, RowFile):
            content = content.content()
        data = content.encode() if isinstance(content, str) else content
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(compress(name, data))
        return path

    return write


@pytest.fixture
def write_texts(write_file) -> Callable[[str, list[str]], RowFile]:
    """Write texts as a file of the format that its name tells; give its rows."""

    def write(name: str, texts: list[str]) -> RowFile:
        rows = rows_of(name, texts)
        write_file(name, rows)
        return rows

    return write


@pytest.fixture
def read_content() -> Callable[[Path], bytes]:
    """Give ``decompress``."""
    return decompress


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def shingles_of(text: str, ngram: int) -> set[tuple[str, ...]]:
    words = words_of(text)
    last = max(len(words) - ngram, 0)
    return {tuple(words[i : i + ngram]) for i in range(last + 1)} if words else set()


def similar(measure: str, a: str, b: str, ngram: int) -> tuple[Fraction, bool]:
    """Give the similarity of two texts, and whether it is a square root that was left out."""
    x, y = shingles_of(a, ngram), shingles_of(b, ngram)
    common = len(x & y)
    match measure:
        case "jaccard":
            return Fraction(common, len(x | y)), False
        case "dice":
            return Fraction(2 * common, len(x) + len(y)), False
        case "containment":
            return Fraction(common, len(x)), False
        case "max-containment":
            return Fraction(common, min(len(x), len(y))), False
        case "cosine":
            return Fraction(common**2, len(x) * len(y)), True
    raise ValueError(measure)


@pytest.fixture
def verify() -> Callable[..., list[bool]]:
    """Check the tables of an output folder; give which documents stay, in input order."""
    return verify_output


def verify_output(
    folder: Path,
    documents: Documents,
    *,
    against: Documents | None = None,
    measure: str = "jaccard",
    threshold: str = "0.8",
    ngram: int = 5,
    direct: bool = True,
) -> list[bool]:
    others = dict(against or {})
    removed = pq.read_table(folder / "removed.parquet")
    clusters = pq.read_table(folder / "clusters.parquet")
    summary = json.loads((folder / "summary.json").read_text())
    assert sorted(path.name for path in folder.iterdir()) == [
        "clusters.parquet", "kept", "removed", "removed.parquet", "summary.json"
    ]  # fmt: skip
    assert removed.column_names == [
        "id", "kept_id", "similarity", "exact_copy", "file", "row",
        "kept_in", "kept_file", "kept_row",
    ]  # fmt: skip
    assert clusters.column_names == [
        "id", "cluster_id", "cluster_size", "is_duplicate", "representative_id", "file", "row"
    ]  # fmt: skip
    assert summary.keys() >= SUMMARY_KEYS

    ids = list(documents)
    assert clusters["id"].to_pylist() == ids
    gone = dict(zip(ids, clusters["is_duplicate"].to_pylist(), strict=True))
    places = {row["id"]: (row["file"], row["row"]) for row in clusters.to_pylist()}
    assert removed["id"].to_pylist() == [name for name in ids if gone[name]]
    for row in removed.to_pylist():
        keeper = row["kept_id"]
        assert keeper in others or not gone[keeper]
        a, b = documents[row["id"]], others[keeper] if keeper in others else documents[keeper]
        value, is_square = similar(measure, a, b, ngram)
        assert row["similarity"] ** (1 + is_square) == pytest.approx(float(value), abs=1e-14)
        assert not direct or value >= Fraction(threshold) ** (1 + is_square)
        assert row["exact_copy"] == (words_of(a) == words_of(b))
        assert row["kept_in"] == ("against" if keeper in others else "input")
        assert (row["file"], row["row"]) == places[row["id"]]
        if keeper not in others:
            assert (row["kept_file"], row["kept_row"]) == places[keeper]
    _check_clusters(clusters.to_pylist(), removed.to_pylist(), set(others))
    _check_counts(summary, documents, removed)
    _check_kept([documents[name] for name in ids if not gone[name]], measure, threshold, ngram)
    return [not gone[name] for name in ids]


def _check_clusters(clusters: list[Any], removed: list[Any], others: set[str]) -> None:
    keepers = {row["id"]: row["kept_id"] for row in removed}
    sizes: dict[str, int] = {}
    for row in clusters:
        head = row["representative_id"]
        assert head == keepers.get(row["id"], row["id"])
        sizes[head] = sizes.get(head, int(head in others)) + 1
    numbers = {row["representative_id"]: row["cluster_id"] for row in clusters}
    assert sorted(numbers.values()) == list(range(len(numbers)))
    for row in clusters:
        assert row["cluster_size"] == sizes[row["representative_id"]]
        assert row["cluster_id"] == numbers[row["representative_id"]]
    heads = [row["cluster_id"] for row in clusters if not row["is_duplicate"]]
    assert heads == sorted(heads)


def _check_counts(summary: dict[str, Any], documents: Documents, removed: pa.Table) -> None:
    n_words = [len(words_of(text)) for text in documents.values()]
    expected = {
        "documents_in": len(documents),
        "documents_kept": len(documents) - len(removed),
        "documents_removed": len(removed),
        "exact_copies": sum(removed["exact_copy"].to_pylist()),
        "removed_for_against": removed["kept_in"].to_pylist().count("against"),
        "removed_within": removed["kept_in"].to_pylist().count("input"),
        "empty_documents": n_words.count(0),
        "short_documents": sum(0 < n < summary["scheme"]["ngram"] for n in n_words),
    }
    assert expected == {name: summary[name] for name in expected}
    limit = isqrt(len(documents) ** 4)
    assert 0 <= summary["verified_pairs"] <= summary["candidates"] <= limit
    assert 0 < summary["predicted_recall"] <= 1
    assert summary["peak_memory_bytes"] > 0
    assert set(summary["seconds"]) >= {"read", "compare", "write"}
    assert {"neardup", "python", "numpy", "pyarrow"} <= summary["versions"].keys()


def _check_kept(texts: list[str], measure: str, threshold: str, ngram: int) -> None:
    """Check that no two documents that stay are clearly similar, and none is a copy."""
    if measure not in ("jaccard", "dice", "cosine"):
        return
    sets = [shingles for text in texts if (shingles := shingles_of(text, ngram))]
    margin = (1 - Fraction(threshold)) / 2
    for i, x in enumerate(sets):
        for y in sets[:i]:
            assert Fraction(len(x & y), len(x | y)) < Fraction(threshold) + margin


def tree(folder: Path) -> dict[str, bytes | None]:
    """Read everything below a folder, hidden files too; None for folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def read_tree() -> Callable[[Path], dict[str, bytes | None]]:
    """Give ``tree``."""
    return tree


@pytest.fixture
def fails(run, here) -> Callable[..., None]:
    """Run a command that must end with exactly this error and leave everything as it was."""

    def check(*arguments: object, error: str) -> None:
        before = tree(here)
        outcome = run(*arguments)
        assert (outcome.code, outcome.out, outcome.err) == (1, "", f"error: {error}\n")
        assert tree(here) == before

    return check
