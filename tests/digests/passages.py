"""Commands on passages: index, search, align and drop. Cases are written as in ``corpora``."""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

from tests.digests.corpora import FREQUENCIES, INVERSE

BUILD = "index build idx pages.jsonl --id-column id --min-tokens 20"
SEARCH = "search idx questions.jsonl --id-column id"
ALIGN = "align 1818.jsonl --against 1831.jsonl --id-column id"
DROP = "drop docs.jsonl --id-column id -o out --named-in"

INDEX = [
    BUILD,
    f"{BUILD} --json --workers 1",
    f"{BUILD} ; serve idx --check",
    f"{BUILD} --quiet ; index info idx ; index info idx --json",
    f"{BUILD} ; {BUILD} --overwrite --seed 5 ; index info idx",
    f"{BUILD} ; index add idx questions.jsonl --id-column id ; index info idx --json"
    " ; search idx questions.jsonl -o all.csv ; index remove idx bakery forum-1"
    " ; index info idx ; search idx questions.jsonl -o left.csv ; index compact idx"
    " ; index info idx --json ; search idx questions.jsonl -o compact.csv",
    f"{BUILD} ; index add idx docs.jsonl --id-column id --json"
    " ; index remove idx --ids ids.txt --json ; index compact idx --json --workers 1"
    " ; index remove idx --ids - < ids.csv",
    f"{BUILD} ; index remove idx --ids - --quiet < ids.txt ; index remove idx forum-1 --quiet ; index compact idx --quiet",
    "index build idx docs.jsonl ; search idx few.jsonl -o hits.csv --threshold 0.6",
    "index build idx tree --min-tokens 10 --num-perm 32 ; index info idx",
    "index build idx lines.txt --document line --min-tokens 8 ; search idx lines.txt --document line -o hits.csv",
    "index build idx - --min-tokens 5 < questions.jsonl ; search idx - -o hits.csv < pages.jsonl",
    "index build idx empty.jsonl ; index info idx ; index compact idx",
    "index build idx bad.jsonl --on-error skip --json ; index add idx bad.csv --on-error skip --json",
    "index build idx bad.jsonl --on-error skip",
    *(f"{BUILD} --tf {tf} ; {SEARCH} -o hits.jsonl --threshold 0.5" for tf in FREQUENCIES),
    *(f"{BUILD} --idf {idf} ; {SEARCH} -o hits.jsonl --threshold 0.5 --json" for idf in INVERSE),
    f"{BUILD} --tf raw --idf smooth ; index add idx questions.jsonl --id-column id"
    f" ; index compact idx ; index info idx --json ; {SEARCH} -o hits.csv",
    *(f"{BUILD} --tokenizer {name} --num-perm 16 ; {SEARCH} -o hits.csv --threshold 0.4"
      for name in ("whitespace", "characters", "bytes")),
    f"{BUILD} --tokenizer tokenizer.json ; {SEARCH} --tokenizer tokenizer.json -o hits.csv"
    " ; index info idx --tokenizer tokenizer.json ; index info idx"
    " ; index add idx questions.jsonl --tokenizer tokenizer.json"
    " ; index compact idx --tokenizer tokenizer.json",
    f"{BUILD} --no-casefold --unicode-form NFKC --strip-accents ; {SEARCH} -o hits.csv",
    f"{BUILD} ; index add idx docs.parquet --id-column id ; index add idx docs.tsv"
    " ; index add idx tree --document line ; search idx few.jsonl -o hits.parquet --threshold 0.9",
]  # fmt: skip

# Searches of one index.
FIND = [
    " ; ".join([
        f"{BUILD} --quiet",
        *(f"{SEARCH} -o best.{suffix} --threshold 0.5" for suffix in ("jsonl", "csv", "parquet")),
        *(f"{SEARCH} -o {option[2:]}.{suffix} --threshold 0.5 {option}"
          for option in ("--no-text",)
          for suffix in ("jsonl", "csv", "parquet")),
    ]),
    " ; ".join([
        f"{BUILD} --quiet",
        f"{SEARCH} -o a.jsonl --threshold 0.6 --recall 0.5 --json",
        f"{SEARCH} -o b.jsonl --threshold 0.9 --quiet --workers 1",
        f"{SEARCH} -o w.csv --threshold 0.5 --hits 32 --json",
        f"{SEARCH} -o c.csv --threshold 0.3 --recall 0.9 --json",
        "search idx bad.jsonl short.txt -o d.csv --on-error skip --json",
        "search idx empty.jsonl -o e.jsonl",
        "search idx lines.txt --document line -o f.csv",
        f"{SEARCH} -o f.csv --overwrite",
    ]),
]  # fmt: skip

SHARE = [
    *(f"{ALIGN} -o shared.{suffix}" for suffix in ("jsonl", "csv", "parquet")),
    f"{ALIGN} -o shared.jsonl --no-text",
    f"{ALIGN} -o shared.csv --json --workers 1",
    f"{ALIGN} -o shared.csv --quiet",
    *(f"{ALIGN} -o shared.csv --threshold {value}" for value in ("0.3", "0.7", "0.95")),
    f"{ALIGN} -o shared.csv --min-tokens 20 --recall 0.9",
    f"{ALIGN} -o shared.csv --num-perm 128",
    *(f"{ALIGN} -o shared.csv --ngram {ngram} --min-tokens 20" for ngram in (2, 5, 21)),
    *(f"{ALIGN} -o shared.csv --idf {idf} --json" for idf in INVERSE[1:]),
    f"{ALIGN} -o shared.csv --idf smooth --threshold 0.6",
    "align questions.jsonl --against pages.jsonl -o shared.csv --tokenizer characters --min-tokens 80",
    f"{ALIGN} -o shared.csv --tokenizer whitespace --casefold --unicode-form NFC",
    f"{ALIGN} -o shared.csv --tokenizer tokenizer.json --no-casefold",
    "align questions.jsonl --against pages.jsonl --id-column id --min-tokens 12 -o shared.jsonl",
    "align few.jsonl --against docs.jsonl --against tree --min-tokens 40 -o shared.csv --threshold 0.8",
    *(f"align few.jsonl --against others.jsonl --id-column id --min-tokens 25 --max-documents {n} -o shared.csv"
      for n in (1, 3, 30)),
    "align 1818 --against 1831 -o shared.jsonl",
    "align 1818/*.txt --against second.md.gz -o shared.csv",
    "align 1818/*.txt --against 1831/one.txt --against few.jsonl -o shared.csv",
    "align - --against others.jsonl -o shared.csv --min-tokens 30 < few.jsonl",
    "align bad.jsonl --against others.jsonl -o shared.csv --on-error skip --json --min-tokens 10",
    "align empty.jsonl --against others.jsonl -o shared.parquet",
    "index build idx 1831.jsonl --id-column id ; align 1818.jsonl --id-column id --against idx -o shared.csv"
    " ; align 1818.jsonl --against idx -o more.jsonl --threshold 0.7 --min-tokens 60 --json",
    "index build idx others.jsonl --min-tokens 10 --tf raw --idf standard --seed 3"
    " ; align few.jsonl --against idx --max-documents 5 -o shared.csv",
]  # fmt: skip

LEAVE = [
    f"{BUILD} --quiet ; {SEARCH} --threshold 0.7 -o leaks.jsonl"
    " ; drop pages.jsonl --id-column id --named-in leaks.jsonl -o out",
    *(f"{DROP} {name}" for name in ("ids.txt", "ids.csv", "ids.jsonl", "ids.parquet")),
    f"{DROP} ids.csv --column other --json",
    f"{DROP} unknown-ids.txt --missing ignore",
    f"{DROP} unknown-ids.txt --missing ignore --json --workers 1",
    f"{DROP} ids.txt --format parquet --quiet",
    f"{DROP} ids.txt --format jsonl ; {DROP} ids.csv --overwrite",
    *(f"drop {name} --id-column id -o out --named-in ids.txt" for name in (
        "docs.json", "docs.csv.bz2", "docs.tsv.gz", "docs.parquet", "docs.jsonl.zst", "tree",
    )),
    "drop bad.jsonl --id-column id --named-in ids.jsonl -o out --on-error skip --missing ignore --json",
    "drop bad.jsonl --named-in ids.jsonl -o out --on-error skip --missing ignore",
    "pairs tree -o p.csv --threshold 0.9 ; drop tree -o out --named-in p.csv --column id_b --json",
    "drop - --id-column id --named-in ids.txt -o out < docs.jsonl",
    "pairs docs.jsonl --id-column id -o p.parquet ; drop docs.jsonl --id-column id --named-in p.parquet"
    " --column id_b -o out",
    "pairs docs.jsonl --id-column id -o p.parquet"
    " ; report p.parquet docs.jsonl --id-column id -o again.html"
    " ; review p.parquet docs.jsonl --id-column id -o judge.html",
    "dedup docs.jsonl --id-column id -o out ; report out -o again.html"
    " ; explain out forum-1 ; report out -o - --workers 1",
]  # fmt: skip

CUT = [
    *(f"cut tree -o out {options}" for options in (
        "", "--exact --min-tokens 10", "--unit lines", "--unit paragraphs --exact --json",
        "--exact --min-tokens 10 --min-documents 3", "--keep longest --replacement [...]",
        "--against docs.jsonl --min-tokens 10", "--format parquet --exact",
    )),
    *(f"cut {name} --id-column id -o out --exact --min-tokens 8" for name in (
        "docs.json", "docs.csv.bz2", "docs.tsv.gz", "docs.parquet", "docs.jsonl.zst",
    )),
]  # fmt: skip

COMMANDS = [*CUT, *INDEX, *FIND, *SHARE, *LEAVE]
