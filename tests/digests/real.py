"""Commands on real text that is not part of the repository. As in ``corpora``.

The folder given has a folder for each collection; what is used of them is written once, beside the
folders of the cases.
"""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

DEBIAN = "../real/debian.jsonl --id-column id"
LICENCES = "../real/licences.jsonl --id-column id"
CORA = "../real/cora.jsonl --id-column id"
BOOKS = "--id-column id --against"

COMMANDS = [
    f"dedup {DEBIAN} -o out",
    f"dedup {DEBIAN} -o out --threshold 0.5 --recall 0.999 --num-perm 512 --keep longest --json",
    f"dedup {DEBIAN} -o out --method exact --measure cosine --clusters components",
    f"dedup {DEBIAN} -o out --method exact --measure containment --threshold 0.9",
    f"dedup {DEBIAN} -o out --audit 500 --threshold 0.7",
    f"dedup {DEBIAN} -o out --measure weighted-jaccard --threshold 0.7",
    f"dedup {DEBIAN} -o out --against ../real/debian-rest.jsonl --format parquet --ngram 3",
    f"dedup {DEBIAN} -o out --tokenizer characters --ngram 12 --workers 1",
    f"dedup {LICENCES} -o out",
    f"dedup {LICENCES} -o out --keep shortest --measure max-containment --threshold 0.9 --json",
    f"dedup {LICENCES} -o out --method exact --ngram 3",
    f"dedup {LICENCES} -o out --bands 40x3 --clusters components",
    "dedup ../real/poems.tsv -o out --id-column id --ngram 2 --threshold 0.6",
    "dedup ../real/poems.tsv -o out --id-column id --tokenizer characters --ngram 3 --keep priority:edition=B,A",
    "dedup ../real/kafka.jsonl -o out --id-column id --threshold 0.9",
    "dedup ../real/plays -o out --threshold 0.2 --ngram 2",
    f"pairs {CORA} -o p.parquet --threshold 0.6 --ngram 2",
    f"pairs {CORA} -o p.csv --tokenizer characters --ngram 3 --threshold 0.7 --measure cosine",
    f"pairs {CORA} -o p.csv --max-distance 8",
    f"pairs {CORA} -o p.csv --top 500",
    *(f"pairs ../real/dblp.jsonl --id-column id --against ../real/acm.jsonl -o p.csv {options}" for options in (
        "--ngram 1 --threshold 0.7", "--measure edit --threshold 0.9",
        "--top 1 --per-document --ngram 1 --json", "--measure overlap --threshold 6 --ngram 1",
        "--method minhash --ngram 1 --threshold 0.6 --json", "--method ppjoin+ --ngram 2 --threshold 0.5",
    )),
    "pairs ../real/abt.jsonl --against ../real/buy.jsonl --id-column id -o p.csv --top 2 --per-document --ngram 1",
    "pairs ../real/poems.tsv --id-column id -o p.parquet --max-distance 3",
    "pairs ../real/before.jsonl --against ../real/after.jsonl --id-column id -o p.csv --measure edit --threshold 0.95",
    f"align ../real/f1818.jsonl {BOOKS} ../real/f1831.jsonl -o s.jsonl",
    f"align ../real/fMS.jsonl {BOOKS} ../real/f1818.jsonl -o s.parquet --threshold 0.4 --json",
    f"align ../real/fMS.jsonl {BOOKS} ../real/f1818.jsonl -o s.csv --idf smooth",
    "align ../real/plays/folio.txt --against ../real/plays/modern.txt -o s.csv --threshold 0.3",
    f"align ../real/kjv.jsonl {BOOKS} ../real/asv.jsonl -o s.csv --min-tokens 30 --max-documents 3",
    "align ../real/some-poems.tsv --id-column id --against ../real/some-poems.tsv -o s.csv --min-tokens 20 --max-documents 4"
    " --threshold 0.9",
    "index build idx ../real/f1831.jsonl --id-column id --json ; search idx ../real/questions.jsonl -o q.csv"
    " ; index add idx ../real/before.jsonl --id-column id ; search idx ../real/after.jsonl -o h.jsonl --threshold 0.9"
    " ; search idx ../real/after.jsonl -o m.parquet --threshold 0.8 ; index compact idx --json"
    " ; index info idx --json",
    "index build idx ../real/questions.jsonl --id-column id --min-tokens 10 --idf smooth"
    " ; search idx ../real/answers.jsonl -o h.csv --threshold 0.3 --json"
    " ; align ../real/answers.jsonl --against idx -o s.csv --threshold 0.4",
    *(f"sketch {CORA} --kind {kind} -o s.parquet ; estimate s.parquet --threshold 0.5 -o e.parquet"
      for kind in ("minhash --ngram 2", "weighted --idf smooth", "smallest --ngram 2", "modulo --ngram 2")),
    "sketch ../real/before.jsonl --kind edit --compression 20 -o a.parquet"
    " ; sketch ../real/after.jsonl --kind edit --compression 20 -o b.parquet"
    " ; estimate a.parquet b.parquet --threshold 0.8 -o e.csv",
    f"sketch {LICENCES} --kind modulo -o s.parquet ; estimate s.parquet --clusters popular -o c.csv"
    " ; estimate s.parquet --threshold 0.8 -o e.parquet",
    "compare ../real/plays/folio.txt ../real/plays/modern.txt --report page.html",
    "compare ../real/plays/folio.txt ../real/plays/modern.txt --tokenizer whitespace --ngram 2 --json",
]  # fmt: skip

Row = dict[str, Any]


def make_inputs(data: Path, folder: Path) -> None:
    """Write the parts of the collections that are used."""
    folder.mkdir()

    def read(name: str) -> list[Row]:
        return [json.loads(line) for line in _open(data / name)]

    def write(name: str, rows: Iterable[Row]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")

    debian = read("debian-descriptions/descriptions.jsonl.xz")
    write("debian.jsonl", debian[:15000])
    write("debian-rest.jsonl", debian[15000:20000])
    write("licences.jsonl", read("license-texts/texts.jsonl.xz")[:7000])
    write("kafka.jsonl", read("kafka-docs-versions/docs.jsonl.xz")[:150])
    for row in read("frankenstein-editions/chapters.jsonl.xz"):
        with (folder / f"{row['witness']}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"id": row["doc"], "text": row["text"]}) + "\n")
    edits = read("wikipedia-edits/edits.jsonl.xz")
    for side in ("before", "after"):
        write(f"{side}.jsonl", ({"id": f"e{row['id']}", "text": row[side]} for row in edits))
    items = read("eval-contamination/gsm8k-test.jsonl.xz")
    for name in ("question", "answer"):
        write(f"{name}s.jsonl", ({"id": row["id"], "text": row[name]} for row in items))
    _write_records(read, write)
    play = read("shakespeare-editions/plays.jsonl.xz")[:2]
    (folder / "plays").mkdir()
    for row, name in zip(play, ("modern", "folio"), strict=True):
        (folder / f"plays/{name}.txt").write_text(row["text"][:40000], encoding="utf-8")
    poems = _open(data / "tang-poems-editions/poems.tsv.xz")
    (folder / "poems.tsv").write_text("".join([*poems[:4000], *poems[-3000:]]), encoding="utf-8")
    (folder / "some-poems.tsv").write_text("".join(poems[:1500]), encoding="utf-8")
    verses = [line.rstrip("\n").split("\t") for line in _open(data / "bible-en-ot/verses.tsv.xz")]
    for name, column in (("kjv", 4), ("asv", 5)):
        chapters: dict[str, list[str]] = {}
        for row in verses[1:1500]:
            chapters.setdefault(f"{row[1]} {row[2]}", []).append(row[column])
        write(f"{name}.jsonl", ({"id": key, "text": " ".join(v)} for key, v in chapters.items()))


def _write_records(
    read: Callable[[str], list[Row]], write: Callable[[str, Iterable[Row]], None]
) -> None:
    for name, sides in (("cora", {"A": "cora"}), ("dblp-acm", {"A": "dblp", "B": "acm"}),
                        ("abt-buy", {"A": "abt", "B": "buy"})):  # fmt: skip
        rows = read(f"record-linkage/{name}.records.jsonl.xz")
        for side, target in sides.items():
            write(f"{target}.jsonl", (
                {"id": row["id"], "text": " ".join(v for k, v in row.items() if k[:2] == "f_")}
                for row in rows if row["side"] == side
            ))  # fmt: skip


def _open(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line for line in file if line.strip()]
