"""Each command that writes, killed or failed at each system call by which it changes files.

As a program it tries all or some calls of all or some commands, and prints counts; exit code 1
stands for a wrong one, 3 for a system that lets no process look at another::

    python -m tests.every_call [--sample N] [--seed S] [COMMAND...]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.spilling import files_of, make_rows, spilling, write_lines
from tests.started import load_all
from tests.system_calls import UntraceableError, run_until

WAYS = ("kill", "fail", "full")
# Locks may stay where their file systems have no better way.
_PASSING = ("write.lock", ".lock")


@dataclass(frozen=True)
class Case:
    """A command; ``targets`` are what it writes.

    ``again`` is what a user does next where the command has been done and cannot be done twice.
    ``goes_on`` tells whether it runs with next to no memory, so that it keeps what was done.
    """

    arguments: str
    targets: tuple[str, ...]
    again: str = ""
    goes_on: bool = False


CASES = {
    "dedup": Case("dedup in.jsonl -o out", ("out",)),
    "dedup work": Case("dedup in.jsonl -o out --workers 1", ("out",), goes_on=True),
    "dedup over": Case("dedup other.jsonl -o earlier --overwrite", ("earlier",)),
    "dedup parquet": Case("dedup in.jsonl -o out --format parquet", ("out",)),
    "dedup add": Case(
        "dedup other.jsonl -o out --against docs --add", ("out", "docs"), "index compact docs"
    ),
    "drop": Case("drop in.jsonl --named-in earlier/removed.parquet -o out", ("out",)),
    "cut": Case("cut in.jsonl -o out --min-tokens 5 --unit lines", ("out",)),
    "cut exact": Case("cut in.jsonl -o out --min-tokens 5 --exact", ("out",)),
    "pairs": Case("pairs in.jsonl -o out.parquet", ("out.parquet",)),
    "pairs over": Case("pairs other.jsonl -o pairs.csv --overwrite", ("pairs.csv",)),
    "pairs xlsx": Case("pairs in.jsonl -o out.xlsx", ("out.xlsx",)),
    "align": Case(
        "align in.jsonl --against other.jsonl -o out.jsonl --min-tokens 5", ("out.jsonl",)
    ),
    "search": Case("search idx other.jsonl -o out.csv", ("out.csv",)),
    "sketch": Case("sketch in.jsonl -o out.parquet", ("out.parquet",)),
    "estimate": Case("estimate sketches.parquet -o out.csv", ("out.csv",)),
    "report": Case("report earlier -o page.html", ("page.html",)),
    "build documents": Case(
        "index build new in.jsonl --kind documents", ("new",), "index compact new"
    ),
    "build passages": Case(
        "index build new in.jsonl --min-tokens 5", ("new",), "index compact new"
    ),
    "add documents": Case("index add docs other.jsonl", ("docs",), "index compact docs"),
    "add passages": Case("index add idx other.jsonl", ("idx",), "index compact idx"),
    "remove documents": Case("index remove docs d1 d3", ("docs",), "index compact docs"),
    "remove passages": Case("index remove idx d1 d3", ("idx",), "index compact idx"),
    "compact documents": Case("index compact docs", ("docs",)),
    "compact passages": Case("index compact idx", ("idx",)),
}


class Bench:
    """A folder of inputs, and the trials of one case on copies of it."""

    def __init__(self, case: Case, base: Path, place: Path) -> None:
        self.case, self.base, self.place = case, base, place
        self.said = place.with_name("said.txt")
        self.before = self._states_of(base)
        self._lay()
        trial = run_until(lambda: self._command(case.arguments), place)
        assert trial.code == 0, self.said.read_text()
        self.n_calls = len(trial.calls)
        self.after = self._states_of(place)
        self.names = _names(place)

    def try_at(self, position: int, way: str) -> str:
        """Stop the command once; make sure that nothing is lost, and that the next one works.

        Returns what became of it: ``old`` or ``new``, or ``past`` if it did not come so far.
        """
        self._lay()
        trial = run_until(lambda: self._command(self.case.arguments), self.place, position, way)
        said = self.said.read_text()
        if not trial.was_hit:
            assert trial.code == 0, said
            return "past"
        states = self._states_of(self.place)
        for state, before, after in zip(states, self.before, self.after, strict=True):
            assert state in (before, after), (trial.calls[position], _difference(state, after))
        if way == "kill":
            assert trial.code == -9, (trial.code, said)
        else:
            assert "Traceback" not in said, said
            assert trial.code in (0, 1), (trial.code, said)
            assert trial.code == 0 or said.startswith("error: ") or "\nerror: " in said, said
            assert trial.code == 1 or states == self.after, said
            assert "nothing was written" not in said or states == self.before, said
        became = "new" if states == self.after else "old" if states == self.before else "both"
        self._go_on(states)
        return became

    def _go_on(self, states: list[Any]) -> None:
        arguments = self.case.arguments
        if self.case.again and states[-1] == self.after[-1]:
            # An index has what it was given; the next writer finds nothing in its way.
            code = self._run(self.case.again)
        else:
            exists = states[0] == self.after[0] and "--overwrite" not in arguments
            overwrite = " --overwrite" if exists and not arguments.startswith("index") else ""
            code = self._run(arguments + overwrite)
        assert code == 0, self.said.read_text()
        states = self._states_of(self.place)
        assert states[-1] == self.after[-1], _difference(states[-1], self.after[-1])
        if not self.case.again:
            assert states == self.after
            assert _names(self.place) == self.names

    def _lay(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.base, self.place)

    def _run(self, arguments: str) -> int:
        return run_until(lambda: self._command(arguments), self.place).code

    def _command(self, arguments: str) -> int:
        from neardup.cli import run

        _speak_into(self.said)
        os.chdir(self.place)
        tempfile.tempdir = str(self.place / "tmp")
        with spilling() if self.case.goes_on else nullcontext():
            return run([*arguments.split(), "--quiet"])

    def _states_of(self, folder: Path) -> list[Any]:
        """Return what each target has, as whoever reads it finds it; None if it is not there."""
        found = folder.with_name("states.json")

        def look() -> int:
            _speak_into(self.said)
            states = [_state(folder / name) for name in self.case.targets]
            found.write_text(json.dumps(states))
            return 0

        assert run_until(look, folder).code == 0, self.said.read_text()
        return list(json.loads(found.read_text()))


def _state(path: Path) -> Any:
    if not path.exists():
        return None
    if path.is_file():
        return path.read_bytes().hex()
    if (path / "summary.json").exists():
        return {name: data.hex() for name, data in files_of(path).items()}
    return _contents_of_index(path)


def _contents_of_index(folder: Path) -> Any:
    import neardup

    texts = [row["text"] for row in make_rows(1, 8)] + [row["text"] for row in make_rows(4, 4)]
    index: Any = neardup.open_index(folder)
    found = index.search(texts, threshold=0.8).table
    return [len(index), sorted(map(str, found.to_pylist()))]


def _names(folder: Path) -> list[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*"))
    # A compaction that is done again writes a segment of the next generation.
    return sorted(
        re.sub(r"/g\d+-", "/g-", str(path))
        for path in paths
        if not path.name.endswith(_PASSING) and path.parts[0] != "tmp"
    )


def _difference(found: Any, expected: Any) -> str:
    if isinstance(found, dict) and isinstance(expected, dict):
        return str([n for n in {*found, *expected} if found.get(n) != expected.get(n)])
    return f"{str(found)[:300]} is not {str(expected)[:300]}"


def _speak_into(path: Path) -> None:
    """Let all that this process says go into a file."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)


def prepare(base: Path) -> None:
    """Write the inputs of all cases, with commands of their own."""
    from neardup.cli import run

    base.mkdir()
    (base / "tmp").mkdir()
    write_lines(base / "in.jsonl", make_rows(1, 8))
    for name, seed in (("other", 4), ("more", 5)):
        rows = [row | {"id": f"{name}-{row['id']}"} for row in make_rows(seed, 4)]
        write_lines(base / f"{name}.jsonl", rows)

    def make() -> int:
        _speak_into(base.with_name("said.txt"))
        os.chdir(base)
        for arguments in (
            "dedup in.jsonl -o earlier",
            "pairs in.jsonl -o pairs.parquet",
            "pairs in.jsonl -o pairs.csv",
            "sketch in.jsonl -o sketches.parquet",
            "index build docs in.jsonl --kind documents",
            "index add docs more.jsonl",
            "index remove docs d0",
            "index build idx in.jsonl --min-tokens 5",
            "index add idx more.jsonl",
            "index remove idx d0",
        ):
            if run(arguments.split()):
                return 1
        return 0

    loaded = base.with_name("loaded.txt")

    def make_and_tell() -> int:
        code = make()
        loaded.write_text("\n".join(sys.modules))
        return code

    assert run_until(make_and_tell, base).code == 0, base.with_name("said.txt").read_text()
    for name in loaded.read_text().split():
        with suppress(ImportError):
            import_module(name)


def try_all(folder: Path, names: list[str], sample: int | None, seed: int) -> dict[str, Counter]:
    """Try the calls of some cases; return counts of what became of them, by case and way."""
    load_all()
    prepare(folder / "base")
    counts = {}
    rng = random.Random(seed)
    for name in names:
        bench = Bench(CASES[name], folder / "base", folder / "place")
        count = counts[name] = Counter({"calls": bench.n_calls})
        places = [(position, way) for way in WAYS for position in range(bench.n_calls)]
        if sample is not None:
            places = rng.sample(places, min(sample, len(places)))
        for position, way in places:
            try:
                count[f"{way}: {bench.try_at(position, way)}"] += 1
            except AssertionError as error:
                count["wrong"] += 1
                print(f"WRONG {name}, call {position}, {way}: {error}", flush=True)  # noqa: T201
        print(name, dict(count), flush=True)  # noqa: T201
    return counts


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="COMMAND")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            counts = try_all(Path(folder), given.cases, given.sample, given.seed)
        except UntraceableError:
            return 3
    total: Counter = sum(counts.values(), Counter())
    print("all", dict(total), flush=True)  # noqa: T201
    return int(total["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
