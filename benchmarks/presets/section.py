"""Section ``presets``: recall of presets on texts with known changes.

docs/presets.md has the important figures.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.presets.texts import FOLDER_VARIABLE, HALVES, available

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables


def run(settings: Settings) -> Tables:
    """Measure each preset on the reported half, in a process of its own."""
    names = available()
    if len(names) < 3:
        sys.stderr.write(f"other texts are read from the folder that {FOLDER_VARIABLE} names\n")
    tables: Tables = {"Wrong characters": [], "Passages": [], "Programs": [], "Speed": []}
    for name in names:
        found = own_report(settings, "presets/finding.py", name, HALVES[1])
        for way, measured in [*found["ways"].items(), *found.get("both", {}).items()]:
            row: Row = {"preset": name, "options": way}
            if name == "code":
                (similarity, *pair), *_ = measured.pop("unrelated")
                others = {"most similar two others": similarity, "which": " and ".join(pair)}
                tables["Programs"].append(row | measured | others)
                continue
            for each in measured:
                del each["examples"]
                tables["Wrong characters"].append(row | each)
        tables["Passages"] += [{"preset": name, **each} for each in found.get("passages", ())]
        speeds = {way: found["bytes"] / 1e6 / each for way, each in found["seconds"].items()}
        row = {"preset": name, "texts": found["documents"], "MB": found["bytes"] / 1e6}
        tables["Speed"].append(row | {f"MB a second, {way}": mb for way, mb in speeds.items()})
    return {heading: rows for heading, rows in tables.items() if rows}
