"""Commands on whole collections: dedup, pairs and plan, with every format and many options.

A line is a case: steps with `` ; `` between them, each a command without its first word.
``< FILE`` at the end of a step is its standard input.
"""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

MEASURES = ("jaccard", "cosine", "dice", "containment", "max-containment")
FREQUENCIES = ("binary", "raw", "log", "squared")
INVERSE = ("unary", "standard", "smooth", "probabilistic")
DOCS = "docs.jsonl --id-column id -o out"
PAIRS = "docs.jsonl --id-column id -o pairs"

FORMATS = [
    *(f"dedup {name} --id-column id -o out" for name in (
        "docs.jsonl", "docs.ndjson", "docs.json", "docs.csv", "docs.tsv", "docs.parquet",
        "docs.jsonl.gz", "docs.jsonl.zst", "docs.jsonl.xz", "docs.jsonl.bz2", "docs.ndjson.zst",
        "docs.json.xz", "docs.csv.bz2", "docs.tsv.gz",
    )),
    *(f"dedup {name} -o out --document line" for name in ("lines.txt", "lines.txt.zst", "lines.txt docs.csv")),
    "dedup lines.txt -o out",
    "dedup 1818 1831 -o out --threshold 0.2",
    "dedup tree -o out",
    "dedup tree tree/a.jsonl -o tree/out ; dedup tree -o tree/out --overwrite",
    "dedup tree/**/*.* -o out",
    "dedup tree/**/*.[jt]s* -o out",
    "dedup tree/**/*.tsv tree/**/*.bz2 tree/a.jsonl -o out --id-column id --keep longest",
    "dedup tree/*.jsonl tree/deep/* -o out --document line",
    "dedup - -o out < docs.jsonl",
    "dedup - -o out --document line < lines.txt",
    "dedup - few.jsonl -o out --format parquet < others.jsonl",
    "dedup empty.jsonl -o out",
    *(f"dedup {name} --id-column id -o out --format {form}"
      for name in ("docs.jsonl.gz", "docs.csv", "docs.tsv.gz", "docs.parquet", "docs.json")
      for form in ("jsonl", "parquet")),
    "dedup tree -o out --format parquet",
    "dedup tree -o out --format jsonl --json",
    "dedup lines.txt.zst -o out --document line --format parquet",
    "dedup docs.jsonl -o out --format same",
]  # fmt: skip

DEDUP = [
    f"dedup {DOCS} --json",
    f"dedup {DOCS} --quiet",
    f"dedup {DOCS} --quiet --json --workers 1",
    f"dedup {DOCS} --workers 1",
    f"dedup {DOCS} --workers 3",
    *(f"dedup {DOCS} --measure {measure} --threshold 0.6" for measure in MEASURES),
    *(f"dedup {DOCS} --measure {measure} --threshold 0.7 --method exact" for measure in MEASURES),
    *(f"dedup {DOCS} --measure {measure} --threshold 0.75 --method exact" for measure in MEASURES),
    *(f"dedup {DOCS} --audit 50 --measure {measure} --threshold 0.5" for measure in MEASURES),
    f"dedup {DOCS} --audit 1000 --recall 0.5 --num-perm 32 --json",
    f"dedup {DOCS} --audit 100",
    *(f"dedup {DOCS} --keep {keep} --threshold 0.6" for keep in (
        "first", "longest", "shortest", "max:score", "min:score", "priority:source=a,b,c",
        "priority:source=b", "max:id",
    )),
    f"dedup {DOCS} --clusters components --threshold 0.5",
    f"dedup {DOCS} --clusters components --keep longest --method exact --json",
    f"dedup {DOCS} --against others.jsonl",
    f"dedup {DOCS} --against others.jsonl --against tree --on-error skip --json",
    f"dedup {DOCS} --against others.csv.gz --clusters components --keep min:score --measure containment",
    f"dedup {DOCS} --against others.jsonl --method exact --format parquet",
    *(f"dedup {DOCS} --measure weighted-jaccard --idf {idf} --threshold 0.6" for idf in INVERSE),
    f"dedup {DOCS} --measure weighted-jaccard --idf unary --ngram 3 --json",
    f"dedup {DOCS} --measure weighted-jaccard --threshold 0.6 --method exact",
    f"dedup {DOCS} --measure weighted-jaccard --threshold 0.6 --audit 50",
    f"dedup {DOCS} --measure weighted-jaccard --against others.jsonl --keep longest --bands 20x4",
    *(f"dedup {DOCS} --tokenizer {name} --threshold 0.6" for name in (
        "words", "whitespace", "characters", "bytes", "tokenizer.json",
    )),
    f"dedup {DOCS} --tokenizer characters --ngram 3 --casefold --unicode-form NFKC --strip-accents",
    f"dedup {DOCS} --no-casefold --ngram 2",
    f"dedup {DOCS} --unicode-form NFC --ngram 1",
    f"dedup {DOCS} --unicode-form NFKC --strip-accents --ngram 1 --threshold 0.9",
    f"dedup {DOCS} --strip-accents --tokenizer whitespace --ngram 2",
    f"dedup {DOCS} --bands 30x4",
    f"dedup {DOCS} --bands 2x20 --audit 100",
    f"dedup {DOCS} --recall 0.9 --num-perm 64",
    f"dedup {DOCS} --recall 0.999 --num-perm 512 --threshold 0.5",
    f"dedup {DOCS} --threshold 1",
    f"dedup {DOCS} --threshold 0.001 --method exact",
    f"dedup {DOCS} ; dedup others.jsonl -o out --overwrite",
    f"dedup {DOCS} ; dedup out/kept -o again --id-column id",
    *(f"dedup bad.{name} -o out --on-error skip" for name in ("jsonl", "csv", "json", "parquet", "txt")),
    "dedup bad.txt -o out --on-error skip --document line",
    "dedup bad.jsonl docs.csv -o out --on-error skip --format jsonl --id-column id --json",
    "dedup bad.jsonl bad.parquet -o out --on-error skip --format parquet --json",
    "dedup docs.jsonl -o out --against bad.jsonl --on-error skip --json",
    "dedup bad.jsonl few.jsonl -o out --on-error skip --format jsonl --id-column id",
    "dedup docs.jsonl -o out --against others.jsonl --against tree --json",
    "dedup body.csv -o out --text-column body --id-column key",
    "dedup pages.jsonl questions.jsonl -o out --threshold 0.3 --ngram 2",
    "dedup 1818.jsonl 1831.jsonl -o out --threshold 0.3 --id-column id --keep longest --recall 0.999",
]  # fmt: skip

JOIN = [
    *(f"pairs {PAIRS}.{suffix}" for suffix in ("jsonl", "csv", "parquet")),
    f"pairs {PAIRS}.csv --json",
    f"pairs {PAIRS}.csv --json --workers 1",
    f"pairs {PAIRS}.csv --quiet",
    *(f"pairs {PAIRS}.jsonl --measure {measure} --threshold 0.6" for measure in MEASURES),
    *(f"pairs {PAIRS}.csv --measure {measure} --against others.jsonl --threshold 0.7" for measure in MEASURES),
    f"pairs {PAIRS}.csv --measure overlap --threshold 40",
    f"pairs {PAIRS}.csv --measure weighted-jaccard --threshold 0.6 --json",
    f"pairs {PAIRS}.csv --measure weighted-jaccard --idf standard --against others.jsonl",
    f"pairs {PAIRS}.csv --measure weighted-jaccard --top 20",
    f"pairs {PAIRS}.csv --measure weighted-jaccard --threshold 0.6 --method minhash",
    f"pairs {PAIRS}.csv --measure overlap --threshold 100 --against others.csv.gz",
    *(f"pairs {PAIRS}.csv --method {name} --threshold 0.5 --json"
      for name in ("exact", "allpairs", "ppjoin", "ppjoin+")),
    *(f"pairs {PAIRS}.csv --method minhash --measure {measure} --threshold 0.6 --json" for measure in MEASURES),
    f"pairs {PAIRS}.csv --method minhash --recall 0.8",
    f"pairs {PAIRS}.csv --method minhash --against others.jsonl",
    f"pairs {PAIRS}.parquet --top 20",
    f"pairs {PAIRS}.csv --threshold 0.5 --one-to-one --columns text",
    f"pairs {PAIRS}.csv --threshold 0.5 --against others.jsonl --one-to-one --method minhash",
    f"pairs {PAIRS}.csv --top 20 --measure containment --threshold 0.5 --json",
    f"pairs {PAIRS}.csv --top 2 --per-document",
    f"pairs {PAIRS}.csv --top 1 --per-document --against others.jsonl",
    f"pairs {PAIRS}.csv --top 5 --measure overlap --json",
    f"pairs {PAIRS}.csv --tokenizer characters --ngram 4 --casefold",
    f"pairs {PAIRS}.csv --tokenizer bytes --ngram 8",
    f"pairs {PAIRS}.csv --tokenizer whitespace --ngram 2 --unicode-form NFKC --strip-accents",
    f"pairs {PAIRS}.csv --tokenizer tokenizer.json --ngram 2 --threshold 0.9",
    f"pairs {PAIRS}.csv --limit 100000",
    f"pairs {PAIRS}.csv ; pairs few.jsonl -o pairs.csv --overwrite",
    "pairs tree -o pairs.csv --threshold 0.6",
    "pairs lines.txt --document line -o pairs.csv",
    "pairs - -o pairs.jsonl < docs.jsonl",
    "pairs empty.jsonl -o pairs.csv",
    "pairs empty.jsonl -o pairs.parquet --against docs.jsonl",
    "pairs bad.jsonl -o pairs.csv --on-error skip --json --threshold 0.5",
    "pairs docs.jsonl -o pairs.csv --against bad.csv --on-error skip",
    *(f"pairs names.csv --text-column name --max-distance {n} -o pairs.csv" for n in (0, 1, 2, 4)),
    "pairs names.csv --text-column name --id-column id --max-distance 2 -o pairs.parquet --against more-names.csv",
    "pairs names.csv --text-column name --measure edit --threshold 0.9 -o pairs.jsonl --json",
    "pairs names.csv --text-column name --measure edit --threshold 0.7 -o pairs.csv --casefold --ngram 2",
    "pairs names.csv --text-column name --max-distance 3 --top 10 -o pairs.csv --json",
    "pairs names.csv --text-column name --max-distance 3 --top 2 --per-document -o pairs.csv",
    "pairs names.csv --text-column name --measure edit --top 12 -o pairs.csv",
    "pairs few.jsonl --max-distance 5 --tokenizer words -o pairs.csv",
    "pairs few.jsonl --measure edit --threshold 0.6 --tokenizer bytes -o pairs.csv",
]  # fmt: skip

EXPLAIN = [
    *(f"dedup {DOCS} --threshold 0.5 {options} ; explain out d086 ; explain out d070 --json"
      for options in (
          "", "--measure containment", "--measure weighted-jaccard", "--keep max:score", "--method exact",
          "--clusters components", "--against others.jsonl", "--format parquet", "--recall 0.6",
      )),
    f"dedup {DOCS} ; explain out d110 ; explain out d200",
    f"dedup {DOCS} --against others.jsonl ; explain out d000 --against others.jsonl --json",
    f"dedup {DOCS} --tokenizer tokenizer.json ; explain out d001",
    "dedup bad.jsonl few.jsonl -o out --on-error skip --id-column id ; explain out d200 --json",
    "dedup lines.txt -o out --document line ; explain out lines.txt:47",
]  # fmt: skip

PLAN = [
    "plan",
    "plan --json",
    "plan --threshold 0.7 --recall 0.95",
    "plan --threshold 0.5 --num-perm 256 --json",
    "plan --bands 20x5",
    *(f"plan --measure {measure} --threshold 0.8 --num-perm 500" for measure in MEASURES),
    "plan --measure weighted-jaccard",
]

COMMANDS = [*FORMATS, *DEDUP, *JOIN, *EXPLAIN, *PLAN]
