"""Runs tools over the tasks of the field: ``python -m benchmarks.field --help``.

Each tool is one file, ``TOOL.py TASK INPUT OUTPUT``, with the packages that it needs and the tasks
that it takes in a block of metadata at its top. It runs twice on each input, in an environment of
its own, as a process whose time and memory are measured.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import tomllib
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.field.inputs import MAKERS, Input, make_input
from benchmarks.field.judging import as_set, judge, read_answer
from benchmarks.measuring.environments import Environment, cache_folder, prepare_neardup
from benchmarks.measuring.figures import megabytes
from benchmarks.measuring.markdown import replace_between, table
from benchmarks.measuring.processes import CommandFailedError, Run, TimeLimitError, run
from benchmarks.measuring.results import (
    caption,
    machine_facts,
    new_entry,
    read_results,
    write_results,
)

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results.json", HERE / "README.md"

SIZES = {
    "documents": (4000,),
    # What costs how much more where there is more.
    "cleaning": (4000, 16000),
    "records": (4000,),
    "noise": (3000,),
    "containment": (1200,),
    "passages": (400,),
}
QUICK = 10
LIMIT = 900.0

_METADATA = re.compile(r"(?m)^# /// script\n((?:#.*\n)+?)# ///$")


@dataclass(frozen=True)
class Tool:
    """A tool of the field: its script, what it needs, and the tasks that it takes.

    ``alone`` are packages that are installed without what they ask for.
    """

    name: str
    script: Path
    dependencies: tuple[str, ...]
    alone: tuple[str, ...]
    tasks: frozenset[str]

    @classmethod
    def of(cls, script: Path) -> Tool:
        """Read the metadata of a script (PEP 723)."""
        found = _METADATA.search(script.read_text(encoding="utf-8"))
        if found is None:
            message = f"{script} has no block of metadata, '# /// script'"
            raise LookupError(message)
        content = tomllib.loads(re.sub(r"(?m)^# ?", "", found[1]))
        field = content["tool"]["field"]
        dependencies = tuple(content.get("dependencies", ()))
        alone = tuple(field.get("alone", ()))
        return cls(script.stem, script, dependencies, alone, frozenset(field["tasks"]))

    def prepare(self) -> tuple[Path, dict[str, str]]:
        """Make the environment; return its Python and the versions of what the tool needs."""
        packages = (*self.dependencies, *self.alone)
        names = tuple(re.split(r"[\[<>=!~; ]", each)[0] for each in packages)
        steps = (self.dependencies, ("--no-deps", *self.alone)) if self.alone else (packages,)
        environment = Environment(f"field-{self.name}", steps, names)
        # neardup is measured as it is here.
        python = prepare_neardup() if names == ("neardup",) else environment.prepare()
        return python, environment.versions(python)[0]


def tools() -> dict[str, Tool]:
    """Return the tools of the folder by their names."""
    found = (Tool.of(script) for script in sorted((HERE / "tools").glob("[a-z]*.py")))
    return {tool.name: tool for tool in found}


def run_tool(
    tool: Tool, python: Path, task: str, given: Input, measurer: Executor
) -> dict[str, Any]:
    """Run a tool twice, started by a process that holds little, and judge its answer."""
    output = cache_folder() / f"field-answer-{tool.name}.jsonl"
    runs: list[Run] = []
    answers = []
    for _ in range(2):
        output.unlink(missing_ok=True)
        # Scripts are named like packages, which their folder must not hide.
        command = [str(python), "-P", str(tool.script), task, str(given.path), str(output)]
        try:
            # Hashes of strings that differ from process to process are what users have.
            environment = {"PYTHONHASHSEED": "random"}
            job = measurer.submit(run, command, limit=LIMIT, environment=environment)
            runs.append(job.result())
        except (CommandFailedError, TimeLimitError) as error:
            return {"failed": str(error)[-300:]}
        answers.append(read_answer(output))
    output.unlink(missing_ok=True)
    # The first loads what the second finds loaded.
    last = runs[-1]
    return {
        **judge(task, given, answers[-1]),
        "same twice": as_set(answers[0]) == as_set(answers[1]),
        "wall": round(last.wall, 2),
        "cpu": round(last.cpu, 2),
        "peak": last.peak_tree,
    }


def measure(names: list[str], tasks: list[str], seed: int, *, quick: bool) -> list[dict[str, Any]]:
    """Run tools over tasks; return a record of each."""
    known = tools()
    prepared = {name: known[name].prepare() for name in names}
    records = []
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as measurer:
        for task, full_size in [(name, size) for name in tasks for size in SIZES[name]]:
            size = full_size // QUICK if quick else full_size
            given = make_input(task, size, seed)
            for name in names:
                if task not in known[name].tasks:
                    continue
                python, versions = prepared[name]
                record = {"task": task, "tool": name, "versions": versions, "size": size}
                record |= run_tool(known[name], python, task, given, measurer)
                records.append(record)
                sys.stderr.write(f"{record}\n")
    return records


_COLUMNS = {
    "documents": ("pairs", "recall", "precision"),
    "cleaning": ("size", "pairs", "pairs left", "removed", "wrong removals", "of them chains"),
    "records": ("pairs", "recall", "precision"),
    "noise": ("pairs", "recall", "precision"),
    "containment": ("pairs", "recall", "precision"),
    "passages": ("pairs", "recall", "precision", "characters recall", "characters precision"),
}


def format_tables(records: list[dict[str, Any]]) -> str:
    """Lay out a table for each task."""
    parts = []
    for task, columns in _COLUMNS.items():
        rows = [record for record in records if record["task"] == task]
        header = ["tool", *columns, "same twice", "CPU s", "s", "MB"]
        parts.append(
            f"### {task.capitalize()}\n\n"
            + table(
                header,
                (
                    [
                        row["tool"],
                        *(row.get(column) for column in columns),
                        row.get("same twice"),
                        row.get("cpu"),
                        row.get("wall"),
                        megabytes(row["peak"]) if "peak" in row else None,
                    ]
                    for row in rows
                ),
            )
        )
    return "\n\n".join(parts)


def main() -> None:
    """Measure, keep the figures, and put their tables into the page."""
    known = tools()
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--tools", nargs="+", choices=known, default=list(known))
    parser.add_argument("--tasks", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size; nothing is kept")
    options = parser.parse_args()
    records = measure(options.tools, options.tasks, options.seed, quick=options.quick)
    if options.quick:
        sys.stdout.write(format_tables(records) + "\n")
        return
    results = read_results(RESULTS)
    kept = [
        record
        for record in results.get("field", {}).get("figures", [])
        if record["task"] not in options.tasks or record["tool"] not in options.tools
    ]
    order = {name: place for place, name in enumerate(MAKERS)}
    figures = sorted(
        [*kept, *records], key=lambda each: (order[each["task"]], each["size"], each["tool"])
    )
    machine = machine_facts()
    versions = {name: number for each in figures for name, number in each["versions"].items()}
    machine["packages"] = {"neardup": versions.pop("neardup", None)}
    entry = {**new_entry(machine, quick=False), "figures": figures, "peers": versions}
    write_results(RESULTS, {"field": entry})
    replace_between(PAGE, "field", f"{format_tables(figures)}\n\n{caption(entry)}")


if __name__ == "__main__":
    main()
