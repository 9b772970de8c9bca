"""The report of a large deduplication, made and opened: ``python -m benchmarks.reports FOLDER``.

Makes up documents, deduplicates them with an audit, and makes the page of the output, whole
processes, with all files read before and kernels compiled; then opens it in the browser of the
tests. FOLDER keeps documents and output for the next run. Writes ``results.json`` and prints it as
Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measuring.figures import megabytes
from benchmarks.measuring.markdown import replace_between, table
from benchmarks.measuring.processes import Measurement, measure
from benchmarks.measuring.results import (
    Results,
    caption,
    machine_facts,
    new_entry,
    read_results,
    write_results,
)
from benchmarks.scale.generate import generate
from benchmarks.scale.kinds import make_kind
from tests.browser.browse import NoBrowserError, see_page
from tests.browser.scripts import USABLE, pauses

HERE = Path(__file__).parent
README, RESULTS = HERE / "README.md", HERE / "results.json"

_SEED = 1
_TIMES = ("usable", "first_look_up", "look_up", "longest_pause")

# Type a part of an id into the look-up; tell how long until what it finds has been put in place.
_LOOK_UP = """(() => {
  const input = document.getElementById('lookup-id');
  input.focus();
  const start = performance.now();
  input.value = '%s';
  input.dispatchEvent(new Event('input'));
  document.getElementById('lookup-region').getBoundingClientRect();
  return performance.now() - start;
})()"""


def prepare(folder: Path, documents: int, document_bytes: float) -> Path:
    """Make documents up and deduplicate them, unless that has been done; return the output."""
    output = folder / f"out-{documents}-{document_bytes:g}"
    if output.is_dir():
        return output
    source = folder / f"in-{documents}-{document_bytes:g}"
    shutil.rmtree(source, ignore_errors=True)
    kind = make_kind("ordinary", _SEED, document_bytes)
    generate(kind, source, n_documents=documents, files=8, document_bytes=document_bytes)
    command = [sys.executable, "-m", "neardup", "dedup", str(source), "-o", str(output)]
    subprocess.run([*command, "--audit", "1000", "--quiet"], check=True)
    return output


def make_page(output: Path, page: Path, repeats: int) -> Measurement:
    """Measure the command that makes the page."""
    command = [sys.executable, "-m", "neardup", "report", str(output), "-o", str(page)]
    return measure([*command, "--overwrite", "--quiet"], repeats=repeats, warm_up=True)


def open_page(page: Path, repeats: int) -> dict[str, float] | None:
    """Open the page some times; return medians of milliseconds, None without a browser."""
    steps = [USABLE, *(_LOOK_UP % part for part in ("1", "12")), pauses("html")]
    try:
        seen = [see_page(page, *steps).values for _ in range(repeats)]
    except NoBrowserError:
        return None
    for values in seen:
        values[-1] = values[-1]["longest"]
    return {name: statistics.median(values[i] for values in seen) for i, name in enumerate(_TIMES)}


def format_rows(results: Results) -> str:
    """Lay out what was measured, a row a size."""
    header = ["documents", "bytes each", "load", "seconds", "of CPU", "MB of memory", "MB of page"]
    header += ["ms until usable", "ms of first look-up", "ms of another", "longest ms of scrolling"]
    rows: list[list[Any]] = []
    for entry in results.values():
        row = [entry["documents"], entry["document_bytes"], f"{entry['load']:.1f}"]
        row += [entry["make"]["wall"], entry["make"]["cpu"]]
        row += [megabytes(entry["make"]["peak_tree"]), f"{entry['page_bytes'] / 1e6:.1f}"]
        seen = entry["browser"] or {}
        rows.append([*row, *(f"{seen[name]:.0f}" if name in seen else "-" for name in _TIMES)])
    return f"{table(header, rows)}\n\n{caption(next(iter(results.values())))}"


def main() -> None:
    """Measure, write results.json, and put the table into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--document-bytes", type=float, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="whether it works: few documents")
    options = parser.parse_args()
    documents = 2_000 if options.quick else options.documents
    load = os.getloadavg()[0]
    output = prepare(options.folder, documents, options.document_bytes)
    page = options.folder / "page.html"
    made = make_page(output, page, options.repeats)
    entry = new_entry(machine_facts(["neardup", "numpy", "pyarrow", "jinja2"]), quick=options.quick)
    entry |= {
        "documents": documents,
        "document_bytes": options.document_bytes,
        "load": load,
        "make": made.as_dict(),
        "page_bytes": page.stat().st_size,
        "browser": open_page(page, options.repeats),
    }
    results = {} if options.quick else read_results(RESULTS)
    results[f"{documents} documents of {options.document_bytes:g} bytes"] = entry
    sys.stdout.write(format_rows(results) + "\n")
    if not options.quick:
        write_results(RESULTS, results)
        replace_between(README, "reports", format_rows(results))


if __name__ == "__main__":
    main()
