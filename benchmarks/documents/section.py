"""Section ``documents``: an index of documents built, searched beside datasketch, and added to."""

from __future__ import annotations

import json
import random
import shutil
import statistics
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.jobs import Job, Settings, own_report, report_of_script, run_script
from benchmarks.measuring.markdown import MB, megabytes
from benchmarks.measuring.processes import run as run_command

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring.jobs import Report
    from benchmarks.measuring.results import Tables

DOCUMENTS, DOCUMENT_BYTES, QUERIES, INSERTIONS, REPEATS = 1_000_000, 1000, 2000, 40_000, 3
QUICK_SHRINK, EXCHANGED_OF, OTHER_SEED = 100, 100, 2
KINDS = ("like a document", "unlike all")
SCRIPT = "documents/trials.py"


def run(settings: Settings) -> Tables:
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
    own_pairs, other_pairs = (_pairs(each.pop("matches")[0]) for each in (found, other))
    size = built["input_bytes"]
    build = {"documents": count, "MB": megabytes(size), "wall s": built["wall"]}
    build |= {"CPU s": built["cpu"], "MB/s": size / MB / built["wall"]}
    build |= {"peak MB": megabytes(built["peak_tree"])}
    build["MB on disk"] = megabytes(built["index_bytes"])
    lookups = []
    for number, kind in enumerate(KINDS):
        for tool, each in (("neardup", found), ("datasketch", other)):
            queries = each["queries"][number]
            row = {"texts": kind, "tool": tool, "matches": queries["found"]}
            for name in ("again", "again_cpu", "first"):
                row[f"median ms, {name}"] = queries[name]["median_ms"]
                row[f"99 % within ms, {name}"] = queries[name]["slow_ms"]
            lookups.append(row | {"peak MB": megabytes(each["memory"]["peak"])})
    alone = {"neardup": len(own_pairs - other_pairs), "datasketch": len(other_pairs - own_pairs)}
    agreement = {"both": len(own_pairs & other_pairs)} | {f"{t} alone": n for t, n in alone.items()}
    insertions = []
    for name, reports in runs.items():
        row = {"call": f"`{name}`", "inserted": reports[0]["inserted"]}
        for clock in ("seconds", "cpu"):
            rate = statistics.median(each["offered"] / each[clock] for each in reports)
            row[f"per second, {clock}"] = round(rate)
        insertions.append(row)
    return {
        "An index built": [build],
        "Texts looked up": lookups,
        "Agreement": [agreement],
        "Documents inserted": insertions,
    }


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


def _pairs(matches: list[Any]) -> set[tuple[str, str]]:
    return {(query, document) for query, document, _ in matches}
