"""A use of every command, and the files for it."""

from __future__ import annotations

from pathlib import Path

import neardup

GOOD = b'{"text": "one two three", "id": "a"}\n'
# By each command, a use of it that ends well in the folder of ``write_inputs``.
ARGUMENTS = {
    "dedup": "dedup in.jsonl -o out",
    "pairs": "pairs in.jsonl -o out.csv",
    "explain": "explain folder a",
    "compare": "compare a.txt b.txt",
    "index build": "index build new in.jsonl",
    "index add": "index add idx in.jsonl",
    "index remove": "index remove idx 0",
    "index compact": "index compact idx",
    "index info": "index info idx",
    "search": "search idx in.jsonl -o out.csv",
    "align": "align in.jsonl --against in.jsonl -o out.csv",
    "cut": "cut in.jsonl -o out",
    "report": "report found.csv -o page.html",
    "review": "review pairs.csv -o page.html",
    "drop": "drop in.jsonl --named-in ids.txt --missing ignore -o out",
    "sketch": "sketch in.jsonl -o out.parquet",
    "estimate": "estimate in.parquet -o out.csv",
    "serve": "serve idx --check",
    "plan": "plan",
}


def write_inputs(folder: Path) -> None:
    """Make files for all commands, and an index."""
    (folder / "in.jsonl").write_bytes(GOOD)
    for name in ("a.txt", "b.txt", "ids.txt"):
        (folder / name).write_text("some text\n")
    columns = "query_id,query_start,query_end,doc_id,doc_start,doc_end,similarity"
    (folder / "found.csv").write_text(f"{columns}\n")
    neardup.sketch(folder / "in.jsonl").write(folder / "in.parquet")
    neardup.deduplicate(folder / "in.jsonl").write(folder / "folder")
    (folder / "pairs.csv").write_text("id_a,id_b,similarity\na,a,1.0\n")
    neardup.PassageIndex.create(folder / "idx", min_tokens=2).add(["one two three"])
