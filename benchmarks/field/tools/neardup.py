"""neardup, as its documentation says for each task."""

# /// script
# dependencies = ["neardup"]
# [tool.field]
# tasks = ["documents", "cleaning", "records", "noise", "containment", "passages"]
# ///

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

COMMANDS = {
    "documents": ["pairs", "--threshold", "0.8"],
    "cleaning": ["dedup", "--threshold", "0.8", "--tables-only"],
    "records": ["pairs", "--for", "titles"],
    "noise": ["pairs", "--for", "ocr"],
    "containment": ["pairs", "--measure", "max-containment", "--threshold", "0.5"],
    "passages": ["align"],
}
COLUMNS = {
    "id_a": "a",
    "id_b": "b",
    "query_id": "a",
    "query_start": "a_start",
    "query_end": "a_stop",
    "doc_id": "b",
    "doc_start": "b_start",
    "doc_end": "b_stop",
}


def main(task: str, source: str, target: str) -> None:
    """Run the command, and name the columns of its table as the field does."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "clean" if task == "cleaning" else "found.parquet")
        command = [*COMMANDS[task], source, "--id-column", "id", "-o", str(output)]
        # Its lines go where those of other tools go.
        subprocess.run([sys.executable, "-P", "-m", "neardup", *command], check=True)
        table = pq.read_table(output / "removed.parquet" if task == "cleaning" else output)
    names = {"id": "removed"} if task == "cleaning" else COLUMNS
    chosen = table.select([name for name in names if name in table.column_names])
    with Path(target).open("w", encoding="utf-8") as rows:
        for row in chosen.rename_columns([names[name] for name in chosen.column_names]).to_pylist():
            rows.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
