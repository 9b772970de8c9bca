"""Section ``alignment``: quality of shared passages in texts with known alignments.

docs/editions.md has the important figures.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.alignment.editions import FOLDER_VARIABLE, HALVES, folder
from benchmarks.alignment.rewording import ALIGNED, options_for
from benchmarks.measuring.jobs import Settings, own_report

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables

QUICK = ("frankenstein",)


def run(settings: Settings) -> Tables:
    """Measure the reported half of each set in a process of its own.

    Options were chosen on the other half; ``quality.py NAME "chosen on"`` measures that.
    """
    if folder() is None:
        sys.stderr.write(f"left out: texts are read from the folder that {FOLDER_VARIABLE} names\n")
        return {}
    rows: list[Row] = []
    for name in QUICK if settings.quick else ALIGNED:
        found = own_report(settings, "alignment/quality.py", name, HALVES[1])
        for options, parts in found.items():
            for part, figures in parts.items():
                row: Row = {"set": part, "options": options}
                if options == "preset":
                    row["options"] = " ".join(map(str, options_for(name).values()))
                row |= {"cases": figures["cases"], "reported": figures["passages"]}
                for mean in ("macro", "micro"):
                    row |= {f"{mean} {key}": f"{v:.3f}" for key, v in figures[mean].items()}
                for key in ("placed", "found"):
                    row[key] = None if figures[key] is None else f"{figures[key]:.3f}"
                rows.append(row)
    return {"Passages": rows}
