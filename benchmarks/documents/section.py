"""Section ``documents``: an index of documents built, searched beside datasketch, and added to."""

from __future__ import annotations

import json
import random
import shutil
import statistics
from fractions import Fraction
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.jobs import Job, Settings, own_report, report_of_script, run_script
from benchmarks.measuring.markdown import MB, megabytes, table
from benchmarks.measuring.processes import run as run_command

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring.jobs import Report

DOCUMENTS, DOCUMENT_BYTES, QUERIES, INSERTIONS, REPEATS = 1_000_000, 1000, 2000, 40_000, 3
QUICK_SHRINK, EXCHANGED_OF, OTHER_SEED = 100, 100, 2
KINDS = ("like a document", "unlike all")
SCRIPT = "documents/trials.py"


def run(settings: Settings) -> dict[str, Any]:
    """Build an index, look up texts in it and in datasketch, and insert documents."""
    count = DOCUMENTS // QUICK_SHRINK if settings.quick else DOCUMENTS
    n_queries = QUERIES // 10 if settings.quick else QUERIES
    folder = cache_folder() / "documents"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    base, new, like, unlike = (folder / f"{name}.jsonl" for name in ("base", "new", "like", "un"))
    try:
        # The new documents have the numbers that follow, so some are copies of any that are there.
        _generate(base, count + INSERTIONS * count // DOCUMENTS)
        _move_lines(base, count, new)
        _write_queries(base, like, n_queries)
        _generate(unlike, n_queries, "--seed", str(OTHER_SEED))
        program = (str(settings.python), "-m", "neardup", "index")
        index = folder / "index"
        command = (*program, "build", str(index), str(base), "--kind", "documents", "--json")
        # A job clears its output before each run, and after the last.
        built = Job(command, index).measure(settings.repeats(REPEATS)).as_dict()
        run_command(command)
        built |= {"input_bytes": base.stat().st_size, "index_bytes": _size(index)}
        found = own_report(settings, SCRIPT, "lookups", str(index), str(like), str(unlike))
        scheme = json.loads(run_command((*program, "info", str(index), "--json")).output)["scheme"]
        options = [f"--{name}={scheme[name]}" for name in ("bands", "rows")]
        options += [f"--threshold={float(Fraction(scheme['threshold']))}", "--workers=2"]
        other = report_of_script(
            settings.peers, "peers/datasketch_lookups.py", *map(str, (base, like, unlike)), *options
        )
        runs = {name: _insert(settings, index, new, name) for name in ("insert", "insert_if_new")}
    finally:
        shutil.rmtree(folder)
    agreement = _compare(found.pop("matches")[0], other.pop("matches")[0])
    tools = {"neardup": found, "datasketch": other, "agreement": agreement}
    return {"documents": count, "build": built, **tools, "insertions": runs}


def _generate(path: Path, count: int, *options: str) -> None:
    """Make documents up, in a process of its own because of its memory."""
    amount = ("--documents", str(count), "--document-bytes", str(DOCUMENT_BYTES))
    run_script("scale/generate.py", *amount, *options, "--no-truth", "-o", str(path))


def _move_lines(path: Path, count: int, rest: Path) -> None:
    """Move all lines after the first ones to another file."""
    with path.open("r+b") as lines, rest.open("wb") as target:
        for _ in range(count):
            lines.readline()
        end = lines.tell()
        shutil.copyfileobj(lines, target)
        lines.truncate(end)


def _write_queries(source: Path, target: Path, count: int) -> None:
    """Draw documents and exchange one word of a hundred for the word of another document."""
    rng, size = random.Random(1), source.stat().st_size
    with source.open("rb") as lines, target.open("w", encoding="utf-8") as queries:
        others: list[str] = []
        while count:
            lines.seek(rng.randrange(size))
            lines.readline()
            if not (line := lines.readline()):
                continue
            row = json.loads(line)
            words = row["text"].split(" ")
            if others:
                changed = words.copy()
                for place in rng.sample(range(len(words)), max(1, len(words) // EXCHANGED_OF)):
                    changed[place] = rng.choice(others)
                queries.write(json.dumps({"id": row["id"], "text": " ".join(changed)}) + "\n")
                count -= 1
            others = words


def _insert(settings: Settings, index: Path, new: Path, call: str) -> list[Report]:
    """Insert documents into copies of an index."""
    reports = []
    for _ in range(settings.repeats(REPEATS)):
        copy = index.with_name("copy")
        shutil.copytree(index, copy)
        options = ("--if-new",) if call == "insert_if_new" else ()
        reports.append(own_report(settings, SCRIPT, "insertions", str(copy), str(new), *options))
        shutil.rmtree(copy)
    return reports


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _compare(own: list[Any], others: list[Any]) -> dict[str, int]:
    """Count the pairs of query and document that both tools return, or one alone."""
    first, second = ({(query, document) for query, document, _ in found} for found in (own, others))
    return {
        "both": len(first & second),
        "neardup alone": len(first - second),
        "datasketch alone": len(second - first),
    }


def format_table(figures: dict[str, Any]) -> str:
    """Lay out building, look-ups and insertions."""
    build, count = figures["build"], figures["documents"]
    sizes = (megabytes(build["peak_tree"]), megabytes(build["index_bytes"]))
    rate = build["input_bytes"] / MB / build["wall"]
    header = ("documents", "MB", "wall s", "CPU s", "MB/s", "peak MB", "MB on disk")
    amount = (count, megabytes(build["input_bytes"]))
    built = table(header, [(*amount, build["wall"], build["cpu"], rate, *sizes)])
    rows: list[tuple[object, ...]] = []
    for number, kind in enumerate(KINDS):
        for tool in ("neardup", "datasketch"):
            each = figures[tool]["queries"][number]
            clocks = (each["again"], each["again_cpu"])
            times = [clock[key] for clock in clocks for key in ("median_ms", "slow_ms")]
            first = each["first"]["median_ms"]
            rows.append((kind, tool, each["queries"], each["found"], *times, first))
    header = ("texts", "tool", "look-ups", "matches", "median ms", "99 % within ms")
    lookups = table((*header, "median CPU ms", "99 % within CPU ms", "first time, ms"), rows)
    counts = ", ".join(f"{name} {number:,}" for name, number in figures["agreement"].items())
    own, other = (megabytes(figures[tool]["memory"]["peak"]) for tool in ("neardup", "datasketch"))
    memory = f"Peak memory: neardup {own:,} MB, datasketch {other:,} MB."
    rows = [
        (
            *(f"`{name}`", runs[0]["offered"], runs[0]["inserted"]),
            *(round(statistics.median(r["offered"] / r[key] for r in runs)) for key in CLOCKS),
        )
        for name, runs in figures["insertions"].items()
    ]
    header = ("call", "documents", "inserted", "per second", "per second of CPU")
    text = fill(f"Matches: {counts}. {memory}", 100)
    return f"{built}\n\n{lookups}\n\n{text}\n\n{table(header, rows)}"


CLOCKS = ("seconds", "cpu")
