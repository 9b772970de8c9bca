"""Results files: what was measured, when, on which machine and with which versions."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.measuring.markdown import row_table

CPU_FACTS = Path("/proc/cpuinfo")

# A section with its ``tables``, lists of rows by heading, and the facts of ``new_entry``.
Entry = dict[str, Any]
Results = dict[str, Entry]
Row = dict[str, Any]
Tables = dict[str, list[Row]]


def new_entry(machine: dict[str, object], *, quick: bool) -> Entry:
    """Begin the entry of what is about to be measured."""
    today = datetime.datetime.now(datetime.UTC).date()
    return {"date": today.isoformat(), "quick": quick, "machine": machine}


def read_results(path: Path) -> Results:
    """Read a results file; nothing if there is none."""
    results: Results = json.loads(path.read_text()) if path.exists() else {}
    return results


def write_results(path: Path, results: Results) -> None:
    """Write a results file."""
    path.write_text(json.dumps(results, indent=1) + "\n")


def format_entry(name: str, entry: Entry) -> str:
    """Lay out the tables of a section, and the facts of its measurement."""
    parts = [f"### {heading}\n\n{row_table(rows)}" for heading, rows in entry["tables"].items()]
    return "\n\n".join([f"## {name}", *parts, caption(entry)])


def caption(entry: Entry) -> str:
    """Return the date, machine and versions of a measurement as a sentence."""
    machine = entry["machine"]
    packages = _list_versions(machine["packages"])
    text = (
        f"Measured {entry['date']} on {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_bytes'] / 1e9:.0f} GB, Python {machine['python']}; {packages}."
    )
    if "peers" in machine:
        text += f" Peers: {_list_versions(machine['peers'])}."
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
