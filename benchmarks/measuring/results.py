"""Results files: what was measured, when, on which machine and with which versions."""

from __future__ import annotations

import datetime
import json
import lzma
import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

CPU_FACTS = Path("/proc/cpuinfo")

# A section or part of an experiment with its ``figures``, and the facts of ``new_entry``.
Entry = dict[str, Any]
Results = dict[str, Entry]


def new_entry(machine: dict[str, object], *, quick: bool) -> Entry:
    """Begin the entry of what is about to be measured."""
    today = datetime.datetime.now(datetime.UTC).date()
    return {"date": today.isoformat(), "quick": quick, "machine": machine}


def read_results(path: Path) -> Results:
    """Read a results file, compressed if it ends in ``.xz``; nothing if there is none."""
    if not path.exists():
        return {}
    stored = path.read_bytes()
    results: Results = json.loads(lzma.decompress(stored) if path.suffix == ".xz" else stored)
    return results


def write_results(path: Path, results: Results) -> None:
    """Write a results file, compressed if it ends in ``.xz``."""
    text = (json.dumps(results) + "\n").encode()
    if path.suffix == ".xz":
        text = lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
    path.write_bytes(text)


def caption(entry: Entry) -> str:
    """Return the date, machine and versions of a measurement as a sentence."""
    machine = entry["machine"]
    packages = _list_versions(machine["packages"])
    text = (
        f"Measured {entry['date']} on {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_bytes'] / 1e9:.0f} GB, Python {machine['python']}; {packages}."
    )
    if "seconds" in entry:
        text += f" It took {max(1, round(entry['seconds'] / 60))} min."
    if "peers" in entry:
        text += f" Peers: {_list_versions(entry['peers'])}."
    if entry["quick"]:
        text = f"**Smoke run (`--quick`), not a measurement.** {text}"
    return fill(text, 100)


def _list_versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def machine_facts(packages: Sequence[str] = ()) -> dict[str, object]:
    """Describe the machine, the Python and the named packages of this environment."""
    return {
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _package_version(name) for name in packages},
    }


def _usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    """Return the processor's name, from /proc/cpuinfo where there is one."""
    if CPU_FACTS.exists():
        for line in CPU_FACTS.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def add_options(
    parser: argparse.ArgumentParser, parts: Sequence[str], *, quick: str, report: str
) -> None:
    """Let a command line name parts, ask for a quick run, or for the report alone."""
    parser.add_argument("--only", nargs="+", metavar="PART", choices=parts, default=parts)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--report", action="store_true", help=report)


def measure_parts(
    parts: Sequence[str], names: Sequence[str], path: Path, measure: Callable[[str], Entry]
) -> Iterator[tuple[str, Entry]]:
    """Measure parts one after another; each is in the results file as soon as it is done."""
    for name in (part for part in parts if part in names):
        sys.stderr.write(f"{name} ...\n")
        start = time.perf_counter()
        entry = measure(name)
        entry["seconds"] = round(time.perf_counter() - start)
        merged = {**read_results(path), name: entry}
        in_order = {part: merged[part] for part in parts if part in merged}
        write_results(path, in_order)
        yield name, entry
