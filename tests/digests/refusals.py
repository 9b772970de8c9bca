"""Help, and commands that neardup refuses: exit codes and messages. As in ``corpora``.

``@flip FILE`` and ``@cut FILE`` damage a file between two steps, ``@write FILE`` makes one.
"""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

from tests.digests.corpora import DOCS
from tests.digests.passages import BUILD

HELP = [
    "--help",
    "-h",
    "",
    "--version",
    "nonsense",
    *(f"{name} --help" for name in (
        "dedup", "pairs", "explain", "compare", "index", "index build", "index add", "index remove",
        "index compact", "index info", "search", "align", "cut", "drop", "sketch", "estimate",
        "report", "review", "serve",
        "plan",
    )),
    "index",
    "dedup",
    "dedup docs.jsonl",
    "index nonsense",
]  # fmt: skip

DEDUP = [
    *(f"dedup {DOCS} {options}" for options in (
        "--threshold 0", "--threshold 80", "--threshold abc", "--threshold nan", "--threshold 1e-12",
        "--threshold 0.01", "--recall 99", "--recall 0", "--bands 20", "--bands 20x10",
        "--bands 0x5", "--ngram 0", "--ngram five", "--workers 0", "--num-perm 0",
        "--keep best", "--keep priority:id", "--keep max:nothing", "--keep max:text",
        "--keep min:source", "--tokenizer word", "--tokenizer missing.json",
        "--tokenizer docs.json", "--tokenizer bytes --casefold", "--measure jacard",
        "--clusters all", "--format csv", "--method exact --audit 5", "--method exact --recall 0.9",
        "--method exact --bands 9x5", "--audit 0", "--idf smooth",
        "--text-column body", "--nonsense", "--measure overlap", "--unicode-form NFD",
        "--against missing.jsonl",
    )),
    *(f"dedup {name} -o out --id-column id" for name in (
        "bad-0.jsonl", "bad-1.jsonl", "bad-2.jsonl", "bad-3.jsonl", "bad-4.jsonl", "bad-5.jsonl",
        "bad.jsonl", "bad.csv", "bad.json", "bad.parquet", "twice.jsonl", "body.csv",
        "missing.jsonl", "missing", "*.nothing", "no-files", "unknown.pdf", "broken.parquet",
        "damaged.parquet", "docs.jsonl tree", *(f"{state}.jsonl.{suffix}" for state in ("broken", "false")
                             for suffix in ("gz", "zst", "xz", "bz2")),
    )),
    "dedup bad.txt -o out",
    "dedup bad.txt -o out --document line",
    "dedup body.csv -o out --on-error skip",
    "dedup bad.jsonl -o out --on-error skip --id-column key",
    "dedup docs.jsonl -o out --id-column key --on-error skip",
    "dedup docs.jsonl -o tree",
    "dedup docs.jsonl -o tree --overwrite",
    "dedup docs.jsonl -o docs.csv --overwrite",
    "dedup docs.jsonl -o . --overwrite",
    f"dedup {DOCS} ; dedup {DOCS} ; dedup out -o other",
    f"dedup {DOCS} ; {BUILD} ; {BUILD.replace('idx', 'out')} --overwrite ; dedup {DOCS} --overwrite",
]  # fmt: skip

PAIRS = [
    *(f"pairs docs.jsonl {options}" for options in (
        "-o p.txt", "-o docs.csv", "-o docs.jsonl --overwrite", "-o p.csv --threshold 0",
        "-o p.csv --measure overlap --threshold 0.8", "-o p.csv --max-distance 1 --threshold 0.5",
        "-o p.csv --max-distance 1 --measure dice", "-o p.csv --max-distance -1",
        "-o p.csv --measure weighted-jaccard --method ppjoin",
        "-o p.csv --recall 0.9",
        "-o p.csv --method minhash --method allpairs", "-o p.csv --top 5 --limit 5",
        "-o p.csv --top 0", "-o p.csv --per-document",
        "-o p.csv --method minhash --measure edit", "-o p.csv --method minhash --top 3",
        "-o p.csv --limit 3", "-o p.csv --limit 0", "-o missing/p.csv", "-o tree",
        "-o p.csv --text-column body", "-o p.csv --against missing.jsonl",
        "-o p.csv --method minhash --measure overlap --threshold 2", "-o p.csv --measure overlap",
    )),
    "pairs twice.jsonl --id-column id -o p.csv",
    "pairs names.csv --text-column name --max-distance 2 --limit 3 -o p.csv",
]  # fmt: skip

EXPLAIN = [
    "explain out d003",
    "explain docs.jsonl d003",
    *(f"dedup docs.jsonl --id-column id -o out ; explain out {options}" for options in (
        "nobody", "d0003", "d003 --with d003", "d003 --with nobody", "d003 --against others.jsonl",
        "d003 --against-id-column id", "d003 --tokenizer tokenizer.json", "d003 --closest -1",
        "d003 --report page.txt", "d003 --report out/summary.json",
    )),
    "dedup docs.jsonl -o out --tokenizer tokenizer.json ; explain out d003",
    "drop docs.jsonl --id-column id --named-in ids.txt -o out ; explain out d001",
]  # fmt: skip

PASSAGES = [
    f"{BUILD} ; {BUILD} ; index add idx pages.jsonl --id-column id ; index remove idx nobody"
    " ; index remove idx ; index add idx bad-0.jsonl ; index add idx twice.jsonl --id-column id"
    " ; index add idx missing.jsonl ; index remove idx --ids missing.txt ; index info idx",
    *(f"{BUILD} {options}" for options in (
        "--min-tokens 0", "--num-perm 2000", "--num-perm 4", "--seed -1", "--tf often",
        "--tokenizer bytes --strip-accents", "--text-column body",
    )),
    "index build tree pages.jsonl --overwrite",
    "index build docs.csv pages.jsonl --overwrite",
    *(f"{command} ; @write file.txt ; {command.replace('missing', 'tree')}" for command in (
        "index info missing", "index add missing pages.jsonl", "index remove missing a",
        "index compact missing", "search missing questions.jsonl -o h.csv",
    )),
    f"{BUILD} --quiet ; " + " ; ".join(f"search idx questions.jsonl {options}" for options in (
        "-o h.csv --threshold 0", "-o h.csv --threshold 80", "-o h.csv --recall 2",
        "-o h.csv --threshold 0.05", "-o h.txt", "-o questions.jsonl --overwrite",
        "-o questions.jsonl", "-o idx/h.csv",
        "-o h.csv --text-column body", "-o h.csv --tokenizer words",
    )),
    *(f"{BUILD} --quiet ; @{way} idx/{name} ; index info idx ; search idx questions.jsonl -o h.csv"
      for way in ("flip", "cut")
      for name in ("index.sqlite",)),
    *(f"align 1818.jsonl --against 1831.jsonl -o s.csv {options}" for options in (
        "--threshold 80", "--min-tokens 0", "--max-documents 0", "--num-perm 4",
        "--recall 0", "--text-column t", "--tokenizer nothing", "--id-column key",
    )),
    "align 1818.jsonl --against missing.jsonl -o s.csv",
    "align 1818.jsonl -o s.csv",
    "align 1818.jsonl --against 1831.jsonl -o 1831.jsonl --overwrite",
    f"{BUILD} --quiet ; align questions.jsonl --against idx -o s.csv --strip-accents"
    " ; align questions.jsonl --against idx --against pages.jsonl -o s.csv"
    " ; align questions.jsonl --against idx -o s.csv --min-tokens 5"
    " ; align questions.jsonl --against idx -o idx/s.csv",
    *(f"cut docs.jsonl -o out {options}" for options in (
        "--exact --threshold 0.9", "--unit lines --against docs.jsonl", "--unit words",
        "--against docs.jsonl --keep longest", "--ngram 2", "--min-documents 1",
    )),
    *(f"drop docs.jsonl --id-column id -o out --named-in {options}" for options in (
        "missing.txt", "unknown-ids.txt", "body.csv", "docs.jsonl", "bad-2.jsonl", "bad.txt",
        "broken.parquet", "unknown.pdf", "ids.txt --column doc_id", "ids.csv --column nothing",
        "ids.txt --missing never", "ids.txt --format csv", "bad.parquet --column text",
    )),
    "drop twice.jsonl --id-column id -o out --named-in ids.txt",
    "drop docs.jsonl -o tree --named-in ids.txt --overwrite",
    "drop docs.jsonl -o out --named-in ids.txt ; drop - --named-in - -o out",
]  # fmt: skip

SKETCHES = [
    *(f"sketch docs.jsonl -o s.parquet {options}" for options in (
        "--num-perm 0", "--seed -1", "--size 5", "--kind edit --ngram 3", "--kind modulo --size 5 --modulus 5",
        "--kind weighted --size 4", "--kind cosine",
        "--kind edit --compression 0", "--kind modulo --modulus 0",
        "--kind edit --tokenizer words", "--kind smallest --tf raw", "--text-column body",
    )),
    "sketch -o s.parquet",
    "sketch docs.jsonl",
    "sketch docs.jsonl -o s.csv",
    "sketch docs.jsonl -o docs.parquet",
    "sketch bad.jsonl -o s.parquet",
    "sketch few.jsonl -o a.parquet ; @flip a.parquet ; estimate a.parquet -o e.csv",
    "sketch few.jsonl -o a.parquet ; @cut a.parquet ; estimate a.parquet -o e.csv",
    "estimate docs.parquet -o e.csv",
    "sketch few.jsonl -o a.parquet ; sketch few.jsonl --ngram 3 --seed 7 -o b.parquet"
    " ; sketch few.jsonl --kind edit -o c.parquet ; estimate a.parquet b.parquet -o e.csv"
    " ; estimate a.parquet c.parquet -o e.csv ; estimate a.parquet --clusters first -o e.csv",
    "sketch few.jsonl --kind modulo -o a.parquet ; "
    + " ; ".join(f"estimate a.parquet {options}" for options in (
        "-o p.txt", "-o p.csv --threshold 80", "-o p.csv --threshold x", "-o p.csv --limit 0",
        "-o p.csv --limit 5", "-o p.csv --workers 0", "missing.parquet -o p.csv", "-o docs.csv",
        "docs.jsonl -o p.csv", "-o a.parquet --overwrite", "a.parquet a.parquet -o p.csv", "",
        "a.parquet --clusters first -o p.csv", "-o p.csv --clusters first --limit 4",
        "-o p.csv --clusters most",
        "-o p.csv --measure edit --threshold 0.5", "-o p.csv --measure containment",
        "-o p.csv --super-shingles 2", "-o p.csv --bands 3x4",
    )),
]  # fmt: skip

OTHERS = [
    *(f"compare first.txt second.txt {options}" for options in (
        "--threshold 80", "--min-tokens 0", "--ngram 0",
        "--tokenizer bytes --strip-accents", "--report c.txt", "--report docs.csv", "--report tree",
        "--report missing/c.html", "third.txt", "--overwrite",
    )),
    "compare first.txt missing.txt",
    "compare first.txt tree",
    "compare bad.txt first.txt",
    "compare - -",
    "compare first.txt second.txt --report c.html ; compare first.txt second.txt --report c.html"
    " ; compare c.html first.txt --report c.html --overwrite",
    *(f"plan {options}" for options in (
        "--threshold 80", "--bands 20x10", "--recall nan", "--threshold 0.01",
        "missing.jsonl",
    )),
]  # fmt: skip

COMMANDS = [*HELP, *DEDUP, *PAIRS, *EXPLAIN, *PASSAGES, *SKETCHES, *OTHERS]
