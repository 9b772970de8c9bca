"""Record digests of all that commands and Python calls write and print; compare recordings."""

# ruff: noqa: T201 - a program that reports
from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.digests import corpora, passages, real, refusals, sketches
from tests.digests.differences import find_differences
from tests.digests.environment import ROOT, environment
from tests.digests.forks import Forks
from tests.digests.inputs import make_inputs
from tests.digests.run import Neardup, run_case

PROCESSES = 2


def main() -> int:
    """Record or compare; the exit code of a comparison is 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.digests.record", description=__doc__)
    parser.add_argument("--neardup", help="command to run, split as by a shell")
    parser.add_argument("-o", "--output", type=Path, help="JSON file for digests of commands")
    parser.add_argument("--calls", type=Path, help="JSON file for digests of Python calls")
    parser.add_argument("--python", help="interpreter for the calls; that of --neardup by default")
    parser.add_argument("--data", type=Path, help="folder of real text")
    parser.add_argument("--only", default="", help="regular expression: only commands with a match")
    parser.add_argument("--workers", type=int, help="threads for commands that name none")
    parser.add_argument(
        "--forks", action="store_true", help="fork one process for each command: sooner done"
    )
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    if not options.neardup or not (options.output or options.calls):
        parser.error("give --neardup with --output or --calls, or --compare")
    neardup = Neardup.parse(options.neardup, options.workers)
    with tempfile.TemporaryDirectory(prefix="digests-") as name:
        work = Path(name).resolve()
        (work / "inputs").mkdir()
        make_inputs(work / "inputs")
        if options.output:
            if options.forks:
                neardup = replace(neardup, forks=Forks(neardup.python(), PROCESSES))
            found = record_commands(neardup, work, options.data, options.only)
            _write(options.output, found)
            if neardup.forks:
                neardup.forks.close()
        if options.calls:
            python = options.python or neardup.python()
            _write(options.calls, record_calls(python, work))
    return 0


def record_commands(neardup: Neardup, work: Path, data: Path | None, only: str) -> dict[str, Any]:
    """Run all commands, two at a time, and return what they did."""
    cases = [*corpora.COMMANDS, *passages.COMMANDS, *sketches.COMMANDS, *refusals.COMMANDS]
    if data is None:
        print(f"{len(real.COMMANDS)} commands on real text left out; --data names its folder")
    else:
        real.make_inputs(data, work / "real")
        cases += real.COMMANDS
    cases = [case for case in cases if re.search(only, case)]
    check_differ(cases)
    start = time.monotonic()

    def run(number: int, case: str) -> list[dict[str, Any]]:
        steps = run_case(neardup, case, work / "inputs", work / f"case-{number}")
        if number % 50 == 0:
            print(f"{number} of {len(cases)} cases, {time.monotonic() - start:.0f} s", flush=True)
        return steps

    with ThreadPoolExecutor(PROCESSES) as executor:
        found = list(executor.map(run, range(len(cases)), cases))
    n_steps = sum(map(len, found))
    print(f"{len(cases)} cases of {n_steps} steps in {time.monotonic() - start:.0f} s")
    return {
        "inputs": _digest_folder(work / "inputs"),
        "commands": dict(zip(cases, found, strict=True)),
    }


def record_calls(python: str, work: Path) -> dict[str, Any]:
    """Run all snippets in one process of an interpreter and return what they gave."""
    command = [python, "-m", "tests.digests.calls", str(work / "inputs"), str(work / "calls")]
    done = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{len(found['calls'])} calls in {python}, neardup from {found.pop('package')}")
    return found


def compare(before: Path, after: Path) -> int:
    """Print every difference of two recordings."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    found = list(find_differences(old, new))
    for difference in found:
        print(difference)
    for part in ("commands", "calls"):
        if part in old and part in new:
            n_different = sum(old[part].get(name) != new[part].get(name) for name in old[part])
            print(f"{len(old[part])} {part} before, {len(new[part])} after, {n_different} differ")
    print(f"{len(found)} differences" if found else "no difference")
    return int(bool(found))


def check_differ(cases: Iterable[str]) -> None:
    """End the program if a case is listed twice."""
    seen: set[str] = set()
    for case in cases:
        if case in seen:
            raise SystemExit(f"listed twice: {case}")
        seen.add(case)


def _digest_folder(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _write(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
