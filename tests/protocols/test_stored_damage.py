"""Whatever is stored, damaged at random: an error of one line, or the same answer, nothing else.

Each kind is damaged in a process of its own, so that a signal ends that alone. How often is said by
``NEARDUP_DAMAGES``; the whole run is 2,000 of each.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
import neardup.cli
from neardup.engine.threads import ThreadEngine
from neardup.errors import NeardupError
from neardup.files.inputs import resolve_paths
from neardup.jobs.drop import drop_documents
from neardup.jobs.explain import explain_document
from neardup.options.document_options import DropOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.output import open_output
from tests.calls import grouped
from tests.damage import changed_json, flipped
from tests.spilling import (
    StopError,
    files_of,
    make_rows,
    spilling,
    stopped_after,
    work_folders,
    write_lines,
)

N_DAMAGES = int(os.environ.get("NEARDUP_DAMAGES", "10"))
# Another seed is another sample.
SEED = int(os.environ.get("NEARDUP_DAMAGES_SEED", "1"))

ROWS = [
    {"id": f"d{i}", "text": f"some words that are here {i // 2} and then again {i // 2} {i % 3}"}
    for i in range(12)
]
HOW: dict[str, Any] = {"ngram": 1, "threshold": "0.6"}
INPUT = "in.jsonl"

Use = Callable[[], Any]
Damage = Callable[[random.Random], object]


@dataclass(frozen=True)
class Stored:
    """What is stored below the current folder, how it is damaged, and what reads it.

    ``is_trusted`` damages are taken for what was meant: any answer is right, but no traceback is.
    """

    damage: Damage
    uses: list[Use]
    is_trusted: bool = False


def flip(*paths: str, rng: random.Random) -> None:
    """Flip a bit of one of the files below some paths."""
    files = [
        file
        for path in paths
        for file in ([Path(path)] if Path(path).is_file() else sorted(Path(path).rglob("*")))
        if file.is_file() and file.stat().st_size
    ]
    file = rng.choice(files)
    file.write_bytes(flipped(file.read_bytes(), rng))


def flips(*paths: str) -> Damage:
    return lambda rng: flip(*paths, rng=rng)


def flips_or_cuts(path: str) -> Damage:
    """Flip a bit of a file, or cut it off, lengthen or remove it."""

    def change(rng: random.Random) -> None:
        files = sorted(file for file in Path(path).rglob("*") if file.is_file())
        file = rng.choice(files)
        content = file.read_bytes()
        match rng.randrange(4):
            case 0:
                file.write_bytes(content[: rng.randrange(len(content) + 1)])
            case 1:
                file.write_bytes(content + b"\0")
            case 2 if file.name != "index.sqlite-wal":
                file.unlink()
            case _:
                flip(path, rng=rng)

    return change


def flip_pages(path: str) -> Damage:
    """Flip a bit of the pages of a Parquet file; no checksum covers its end."""

    def change(rng: random.Random) -> None:
        content = Path(path).read_bytes()
        end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        pages = bytearray(content[:end])
        pages[rng.randrange(end)] ^= 1 << rng.randrange(8)
        Path(path).write_bytes(pages + content[end:])

    return change


def change_json(path: str) -> Damage:
    changes = list(changed_json(json.loads(Path(path).read_text())))

    def change(rng: random.Random) -> None:
        Path(path).write_text(json.dumps(rng.choice(changes)[1]))

    return change


def change_table(path: str) -> Damage:
    """Drop a column or rows, change a type or values, or put nulls into a Parquet file."""

    def change(rng: random.Random) -> None:
        table = pq.read_table(path)
        place = rng.randrange(table.num_columns)
        name, column = table.column_names[place], table.column(place)
        kind = rng.choice(("drop", "rename", "twice", "type", "null", "value", "shuffle", "rows"))
        if kind == "drop":
            table = table.remove_column(place)
        elif kind == "rename":
            table = table.rename_columns({name: rng.choice(["x", "id", "text", ""])})
        elif kind == "twice":
            table = table.append_column(name, column)
        elif kind == "rows":
            table = table.slice(rng.randrange(len(table) + 1), rng.randrange(len(table) + 1))
        elif kind == "shuffle":
            column = column.take(pa.array(rng.sample(range(len(table)), len(table))))
            table = table.set_column(place, name, column)
        else:
            target = rng.choice([pa.string(), pa.float64(), pa.int8(), pa.list_(pa.int64()), None])
            values = column.to_pylist()
            if kind == "type" and target is not None:
                with suppress(pa.ArrowException):
                    table = table.set_column(place, name, column.cast(target))
            elif values:
                others = [None] if kind == "null" else [-1, 10**18, "zz", 0.3, True, None, 1e300]
                values[rng.randrange(len(values))] = rng.choice(others)
                with suppress(pa.ArrowException):
                    table = table.set_column(place, name, pa.array(values, column.type))
        pq.write_table(table, path)

    return change


def report(result: Any, *inputs: Any, **how: Any) -> str:
    return neardup.report(result, *inputs, **grouped(**how)).html


def explain(folder: str) -> str:
    return explain_document(open_output(folder), "d1", Runner(1)).to_text()


def drop(table: str, column: str) -> list[Any]:
    options = DropOptions(column=column, id_column="id")
    engine = ThreadEngine(Runner(1), IN_MEMORY)
    return drop_documents(engine, resolve_paths([INPUT]), table, options).removed.to_pylist()


def of_dedup() -> list[Use]:
    return [
        partial(report, "dedup"),
        partial(explain, "dedup"),
        partial(drop, "dedup/removed.parquet", "id"),
    ]


def of_cut() -> list[Use]:
    return [partial(report, "cut", INPUT, id_column="id")]


def write_outputs() -> Any:
    result = neardup.deduplicate(INPUT, **grouped(id_column="id", audit=4, **HOW))
    result.write("dedup")
    neardup.cut(INPUT, min_tokens=3, exact=True, read=neardup.ReadOptions(id_column="id")).write(
        "cut"
    )
    return result


def document_index(**how: Any) -> Stored:
    with neardup.DocumentIndex.create("index", **grouped(**how)) as index:
        index.add(ROWS[:8])
        index.add(ROWS[8:])
        index.remove(["d3"])

    def use() -> Any:
        with neardup.DocumentIndex.open("index") as index:
            found = index.search(ROWS).table.to_pylist()
            return found, [index.get(row["id"]) for row in ROWS if row["id"] in index]

    return Stored(flips_or_cuts("index"), [use])


def passage_index() -> Stored:
    index = neardup.PassageIndex.create("index", min_tokens=5)
    index.add(ROWS[:8])
    index.add(ROWS[8:])

    def use() -> Any:
        return neardup.PassageIndex.open("index").search(ROWS).table.to_pylist()

    return Stored(flips_or_cuts("index"), [use])


def sketches() -> Stored:
    neardup.sketch(ROWS, text=neardup.TextOptions(ngram=1)).write("s.parquet")

    def use() -> Any:
        return neardup.estimate(
            neardup.Sketches.read("s.parquet"), threshold="0.3"
        ).table.to_pylist()

    return Stored(flips("s.parquet"), [use])


def work_folder() -> Stored:
    write_lines(Path(INPUT), make_rows(1, 60, chain=20))
    job = ["dedup", INPUT, "--quiet", "--workers", "1", "-o", "out"]
    with suppress(StopError), spilling(30_000), stopped_after(4):
        neardup.cli.run(job)
    [folder] = work_folders(Path())

    def use() -> Any:
        with spilling(30_000), redirect_stderr(io.StringIO()) as said:
            if neardup.cli.run(job):
                raise NeardupError(said.getvalue().strip())
        return files_of(Path("out"))

    return Stored(flips(str(folder)), [use])


def pairs_table(damage: Callable[[str], Damage], is_trusted: bool) -> Stored:
    neardup.find_pairs(INPUT, **grouped(id_column="id", **HOW)).write("pairs.parquet")
    uses = [
        partial(report, "pairs.parquet", INPUT, id_column="id"),
        partial(drop, "pairs.parquet", "id_b"),
    ]
    return Stored(damage("pairs.parquet"), uses, is_trusted)


def passages_table(damage: Callable[[str], Damage], is_trusted: bool) -> Stored:
    neardup.align(INPUT, min_tokens=5, read=neardup.ReadOptions(id_column="id")).write(
        "aligned.parquet"
    )
    uses = [partial(report, "aligned.parquet", INPUT, id_column="id")]
    return Stored(damage("aligned.parquet"), uses, is_trusted)


def outputs(damage: Callable[[str], Damage], path: str) -> Stored:
    write_outputs()
    uses = of_cut() if path.startswith("cut/") else of_dedup()
    return Stored(damage(path), uses)


def either(*names: str) -> Callable[[str], Damage]:
    """Flip a bit of one of some files of a folder."""
    return lambda folder: flips(*(f"{folder}/{name}" for name in names))


KINDS: dict[str, Callable[[], Stored]] = {
    "document index": partial(document_index, **HOW),
    "stored frequencies": partial(
        document_index, measure="weighted-jaccard", idf="smooth", threshold="0.5"
    ),
    "passage index": passage_index,
    "sketches": sketches,
    "work folder": work_folder,
    "tables of dedup": partial(outputs, either("removed.parquet", "clusters.parquet"), "dedup"),
    "table of cut": partial(outputs, flips, "cut/removed.parquet"),
    "table of pairs": partial(pairs_table, flip_pages, is_trusted=False),
    "table of passages": partial(passages_table, flip_pages, is_trusted=False),
    "summary of dedup, bits": partial(outputs, flips, "dedup/summary.json"),
    "summary of cut, bits": partial(outputs, flips, "cut/summary.json"),
    "summary of dedup": partial(outputs, change_json, "dedup/summary.json"),
    "summary of cut": partial(outputs, change_json, "cut/summary.json"),
    "removed.parquet of dedup": partial(outputs, change_table, "dedup/removed.parquet"),
    "clusters.parquet of dedup": partial(outputs, change_table, "dedup/clusters.parquet"),
    "removed.parquet of cut": partial(outputs, change_table, "cut/removed.parquet"),
    "pairs, changed": partial(pairs_table, change_table, is_trusted=True),
    "passages, changed": partial(passages_table, change_table, is_trusted=True),
}


def trial(stored: Stored, expected: list[Any], number: int) -> tuple[str, str]:
    """Damage what is stored, and say what came of it."""
    rng = random.Random(f"{SEED}/{number}")
    stored.damage(rng)
    place = rng.randrange(len(stored.uses))
    use = stored.uses[place]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = use()
    except NeardupError as error:
        message = str(error)
        return ("error", "") if "\n" not in message and message else ("several lines", message)
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "traceback", f"{number}, {use}: {error!r} at {where.filename}:{where.lineno}"
    if stored.is_trusted or answer == expected[place]:
        return "same" if answer == expected[place] else "trusted", ""
    return "wrong", f"{number}, {use}: {str(answer)[:300]}"


def run_trials(make: Callable[[], Stored], here: Path, numbers: range) -> Iterator[tuple[str, str]]:
    """Run trials in a child; a signal ends that trial, and another child goes on."""
    while numbers:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(read)
                os.chdir(here)
                stored = make()
                # Once to compile; what is stored is kept aside.
                expected = _expected(stored, here)
                with os.fdopen(write, "w") as out:
                    for number in numbers:
                        _restore(here)
                        out.write(json.dumps(trial(stored, expected, number)) + "\n")
                        out.flush()
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        n_done = 0
        with os.fdopen(read) as results:
            for line in results:
                n_done += 1
                kind, what = json.loads(line)
                yield kind, what
        _, status = os.waitpid(child, 0)
        numbers = numbers[n_done:]
        if os.WIFSIGNALED(status):
            yield "signal", f"{numbers[0]}: {signal.Signals(os.WTERMSIG(status)).name}"
            numbers = numbers[1:]
        elif status:
            yield "traceback", "of the test itself; run it alone"
            return


def _expected(stored: Stored, here: Path) -> list[Any]:
    whole = here.with_name(here.name + "-whole")
    shutil.rmtree(whole, ignore_errors=True)
    shutil.copytree(here, whole)
    expected = []
    for use in stored.uses:
        _restore(here)
        expected.append(use())
    return expected


def _restore(here: Path) -> None:
    for path in here.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(here.with_name(here.name + "-whole"), here, dirs_exist_ok=True)


@pytest.mark.damage
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_damage(tmp_path, kind):
    here = tmp_path / "stored"
    here.mkdir()
    write_lines(here / INPUT, ROWS)
    found = list(run_trials(KINDS[kind], here, range(N_DAMAGES)))
    counts = Counter(outcome for outcome, _ in found)
    print(f"{kind}: {dict(counts)}")  # noqa: T201 - for who runs it by hand
    bad = [each for each in found if each[0] not in ("error", "same", "trusted")]
    assert bad == []
    assert sum(counts.values()) == N_DAMAGES
    # What a damaged work folder lacks is worked out again.
    assert counts["error"] or kind == "work folder" or N_DAMAGES < 60
