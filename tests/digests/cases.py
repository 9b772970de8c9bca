"""Commands whose outputs and messages are recorded.

A line is a case: steps with `` ; `` between them, each a command without its first word.
``< FILE`` at the end of a step is its standard input; ``@flip FILE``, ``@cut FILE`` and
``@write FILE`` damage or make a file between two steps. Every case begins with the files of
``inputs``.
"""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

MEASURES = ("jaccard", "cosine", "dice", "containment", "max-containment")
INVERSE = ("unary", "standard", "smooth", "probabilistic")
TOKENIZERS = ("words", "whitespace", "characters", "bytes", "tokenizer.json")
DOCS = "docs.jsonl --id-column id -o out"
PAIRS = "docs.jsonl --id-column id -o pairs"
BUILD = "index build idx pages.jsonl --id-column id --min-tokens 20"
SEARCH = "search idx questions.jsonl --id-column id"
ALIGN = "align 1818.jsonl --against 1831.jsonl --id-column id -o shared"
DROP = "drop docs.jsonl --id-column id -o out --named-in"
SKETCH = "sketch docs.jsonl --id-column id"
KINDS = ("minhash", "weighted", "smallest", "modulo", "edit")
TWO = "compare first.txt second.txt"

DEDUP = [
    *(f"dedup {name} --id-column id -o out" for name in (
        "docs.ndjson", "docs.json", "docs.csv", "docs.tsv", "docs.parquet", "docs.jsonl.gz",
        "docs.jsonl.zst", "docs.jsonl.xz", "docs.jsonl.bz2", "docs.csv.bz2", "docs.tsv.gz",
    )),
    "dedup lines.txt lines.txt.zst docs.csv -o out --document line",
    "dedup 1818 1831 -o out --threshold 0.2",
    "dedup tree tree/a.jsonl -o tree/out ; dedup tree -o tree/out --overwrite",
    "dedup tree/**/*.[jt]s* -o out",
    "dedup - few.jsonl -o out --format parquet < others.jsonl",
    "dedup empty.jsonl -o out",
    *(f"dedup {name} --id-column id -o out --format {form}"
      for name in ("docs.jsonl.gz", "docs.csv", "docs.parquet", "docs.json", "tree")
      for form in ("jsonl", "parquet", "none")),
    *(f"dedup {DOCS} {options}" for options in (
        "--json", "--quiet", "--quiet --json --workers 1", "--workers 3",
        "--audit 1000 --recall 0.5 --num-perm 32 --json", "--threshold 1",
        "--threshold 0.001 --method exact", "--bands 30x4", "--recall 0.999 --num-perm 512",
        "--clusters components --threshold 0.5",
        "--clusters components --keep longest --method exact --json",
        "--against others.jsonl", "--against others.jsonl --against tree --on-error skip --json",
        "--against others.csv.gz --clusters components --keep min:score --measure containment",
        "--against others.jsonl --method exact --format parquet",
        "--measure weighted-jaccard --threshold 0.6 --method exact",
        "--measure weighted-jaccard --against others.jsonl --keep longest --bands 20x4",
        "--tokenizer characters --ngram 3 --casefold --unicode-form NFKC --strip-accents",
        "--no-casefold --ngram 2", "--stem english", "--memory 20MB --work work",
    )),
    *(f"dedup {DOCS} --measure {measure} --threshold 0.6 {options}"
      for measure in MEASURES for options in ("", "--method exact", "--audit 50")),
    *(f"dedup {DOCS} --keep {keep} --threshold 0.6" for keep in (
        "longest", "shortest", "max:score", "min:score", "priority:source=a,b,c", "max:id",
    )),
    *(f"dedup {DOCS} --measure weighted-jaccard --idf {idf} --threshold 0.6" for idf in INVERSE),
    *(f"dedup {DOCS} --tokenizer {name} --threshold 0.6" for name in TOKENIZERS),
    *(f"dedup bad.{name} -o out --on-error skip" for name in ("jsonl", "csv", "json", "parquet", "txt")),
    "dedup bad.jsonl docs.csv -o out --on-error skip --format jsonl --id-column id --json",
    f"dedup {DOCS} ; dedup others.jsonl -o out --overwrite ; dedup out/kept -o again --id-column id",
    "index build idx docs.jsonl --kind documents ; dedup others.jsonl --against idx --add -o out --json",
]  # fmt: skip

JOINS = [
    *(f"pairs {PAIRS}.{suffix}" for suffix in ("jsonl", "csv", "parquet")),
    *(f"pairs {PAIRS}.csv {options}" for options in (
        "--json", "--quiet --workers 1", "--measure overlap --threshold 40",
        "--measure overlap --threshold 100 --against others.csv.gz",
        "--measure weighted-jaccard --idf standard --against others.jsonl",
        "--measure weighted-jaccard --top 20",
        "--measure weighted-jaccard --threshold 0.6 --method minhash", "--method minhash --recall 0.8",
        "--method minhash --against others.jsonl", "--threshold 0.5 --one-to-one --columns text",
        "--threshold 0.5 --against others.jsonl --one-to-one --method minhash",
        "--top 20 --measure containment --threshold 0.5 --json", "--top 2 --per-document",
        "--top 1 --per-document --against others.jsonl", "--top 5 --measure overlap --json",
        "--tokenizer characters --ngram 4 --casefold", "--blocking source --threshold 0.5 --json",
        "--limit 100000",
    )),
    *(f"pairs {PAIRS}.csv --measure {measure} --threshold 0.6 --json {options}"
      for measure in MEASURES for options in ("", "--method minhash", "--against others.jsonl")),
    "pairs tree -o pairs.csv --threshold 0.6",
    "pairs - -o pairs.jsonl < docs.jsonl",
    "pairs empty.jsonl -o pairs.parquet --against docs.jsonl",
    "pairs bad.jsonl -o pairs.csv --on-error skip --json --threshold 0.5",
    *(f"pairs names.csv --text-column name --id-column id -o pairs.csv {options}" for options in (
        "--max-distance 0", "--max-distance 2", "--max-distance 4 --json",
        "--max-distance 2 --against more-names.csv", "--measure edit --threshold 0.9",
        "--measure edit --threshold 0.7 --casefold --ngram 2", "--max-distance 3 --top 10 --json",
        "--max-distance 3 --top 2 --per-document", "--measure edit --top 12",
    )),
    "pairs few.jsonl --max-distance 5 --tokenizer words -o pairs.csv",
]  # fmt: skip

INDEXES = [
    f"{BUILD} --json --workers 1 ; serve idx --check ; index info idx ; index info idx --json",
    f"{BUILD} ; index add idx questions.jsonl --id-column id ; search idx questions.jsonl -o all.csv"
    " ; index remove idx bakery forum-1 ; index info idx ; search idx questions.jsonl -o left.csv"
    " ; index compact idx ; index info idx --json ; search idx questions.jsonl -o compact.csv",
    f"{BUILD} ; index add idx docs.jsonl --id-column id --json ; index remove idx --ids ids.txt --json",
    "index build idx docs.jsonl ; search idx few.jsonl -o hits.csv --threshold 0.6",
    "index build idx lines.txt --document line --min-tokens 8 ; search idx lines.txt --document line -o hits.csv",
    "index build idx empty.jsonl ; index info idx ; index compact idx",
    "index build idx bad.jsonl --on-error skip --json ; index add idx bad.csv --on-error skip --json",
    *(f"{BUILD} --tf {tf} ; {SEARCH} -o hits.jsonl --threshold 0.5" for tf in ("raw", "log", "squared")),
    *(f"{BUILD} --idf {idf} ; {SEARCH} -o hits.jsonl --threshold 0.5 --json" for idf in INVERSE),
    f"{BUILD} --tokenizer tokenizer.json ; {SEARCH} --tokenizer tokenizer.json -o hits.csv ; index info idx",
    " ; ".join([
        f"{BUILD} --quiet",
        *(f"{SEARCH} -o best.{suffix} --threshold 0.5" for suffix in ("jsonl", "csv", "parquet")),
        f"{SEARCH} -o a.jsonl --threshold 0.6 --recall 0.5 --json --no-text",
        "search idx bad.jsonl short.txt -o d.csv --on-error skip --json",
        "search idx empty.jsonl -o e.jsonl",
    ]),
    "index build idx docs.jsonl --kind documents --id-column id --threshold 0.6 --columns score"
    " ; search idx others.jsonl -o a.csv ; search idx others.jsonl -o b.csv --limit 2 --json"
    " ; pairs few.jsonl --against idx -o p.csv ; index remove idx d003 ; index deny idx d117"
    " ; index compact idx ; index history idx ; index check idx ; index info idx --json",
]  # fmt: skip

PASSAGES = [
    *(f"{ALIGN}.{suffix}" for suffix in ("jsonl", "csv", "parquet")),
    *(f"{ALIGN}.csv {options}" for options in (
        "--no-text", "--json --workers 1", "--threshold 0.3", "--threshold 0.95",
        "--min-tokens 20 --recall 0.9", "--num-perm 128", "--ngram 5 --min-tokens 20",
        "--idf smooth --threshold 0.6", "--tokenizer whitespace --casefold --unicode-form NFC",
        "--summary documents", "--places", "--measure containment", "--preset rewording",
    )),
    "align questions.jsonl --against pages.jsonl -o shared.csv --tokenizer characters --min-tokens 80",
    *(f"align few.jsonl --against others.jsonl --id-column id --min-tokens 25 --max-documents {n} -o shared.csv"
      for n in (1, 30)),
    "align 1818/*.txt --against 1831/one.txt --against few.jsonl -o shared.csv",
    "align bad.jsonl --against others.jsonl -o shared.csv --on-error skip --json --min-tokens 10",
    "align few.jsonl --within -o shared.csv",
    "index build idx 1831.jsonl --id-column id ; align 1818.jsonl --id-column id --against idx -o shared.csv"
    " ; align 1818.jsonl --against idx -o more.jsonl --threshold 0.7 --min-tokens 60 --json",
    *(f"cut tree -o out {options}" for options in (
        "", "--exact --min-tokens 10", "--unit lines --exact", "--unit paragraphs --exact --json",
        "--unit sentences --exact", "--exact --min-tokens 10 --min-documents 3",
        "--keep longest --replacement [...]", "--against docs.jsonl --min-tokens 10",
        "--format parquet --exact",
    )),
    *(f"cut {name} --id-column id -o out --exact --min-tokens 8" for name in ("docs.json", "docs.csv.bz2", "docs.parquet")),
]  # fmt: skip

TABLES = [
    *(f"{DROP} {name}" for name in ("ids.txt", "ids.csv", "ids.jsonl", "ids.parquet")),
    f"{DROP} ids.csv --column other --json ; {DROP} unknown-ids.txt --missing ignore --overwrite",
    *(f"drop {name} --id-column id -o out --named-in ids.txt" for name in ("docs.csv.bz2", "docs.parquet", "tree")),
    "drop - --id-column id --named-in ids.txt -o out < docs.jsonl",
    *(f"dedup {DOCS} --threshold 0.5 {options} ; explain out d086 ; explain out d070 --json"
      for options in ("", "--measure containment", "--clusters components", "--against others.jsonl", "--format parquet")),
    "pairs docs.jsonl --id-column id -o p.parquet ; report p.parquet docs.jsonl --id-column id -o again.html"
    " ; review p.parquet docs.jsonl --id-column id -o judge.html",
    f"dedup {DOCS} ; report out -o again.html",
    "cut tree -o out --exact --min-tokens 10 ; report out -o page.html",
    f"{ALIGN}.jsonl ; report shared.jsonl 1818.jsonl --against 1831.jsonl --id-column id -o page.html",
    *(f"{SKETCH} --kind {kind} -o a.parquet ; sketch others.jsonl --id-column id --kind {kind} -o b.parquet"
      " ; estimate a.parquet b.parquet -o e.csv --threshold 0.6 --json" for kind in KINDS),
    *(f"{SKETCH} --kind {kind} -o s.parquet ; estimate s.parquet --clusters -o c.csv" for kind in ("smallest", "modulo")),
    f"{SKETCH} -o a.parquet ; estimate a.parquet --super-shingles 2 -o e.csv --json",
    *(f"{TWO} {options}" for options in (
        "", "--json", "--report page.html", "--threshold 0.8 --min-tokens 10 --json",
        "--tokenizer characters --ngram 4", "--tokenizer tokenizer.json --json",
    )),
    "compare short.txt blank.txt ; compare first.txt - --report page.html < second.txt",
    "plan ; plan --json ; plan --bands 20x5",
    *(f"plan --measure {measure} --threshold 0.8 --num-perm 500" for measure in MEASURES),
]  # fmt: skip

HELP = [
    "--help", "-h", "", "--version", "nonsense", "index", "dedup", "dedup docs.jsonl", "index nonsense",
    *(f"{name} --help" for name in (
        "dedup", "pairs", "explain", "compare", "index", "index build", "index add", "index remove",
        "index compact", "index info", "search", "align", "cut", "drop", "sketch", "estimate",
        "report", "review", "serve", "plan",
    )),
]  # fmt: skip

REFUSED = [
    *(f"dedup {DOCS} {options}" for options in (
        "--threshold 0", "--threshold 80", "--threshold abc", "--threshold nan", "--threshold 0.01",
        "--recall 99", "--bands 20", "--bands 20x10", "--ngram 0", "--ngram five", "--workers 0",
        "--num-perm 0", "--keep best", "--keep priority:id", "--keep max:nothing", "--keep max:text",
        "--tokenizer word", "--tokenizer missing.json", "--tokenizer docs.json",
        "--tokenizer bytes --casefold", "--measure jacard", "--measure overlap", "--clusters all",
        "--format csv", "--method exact --audit 5", "--method exact --recall 0.9", "--idf smooth",
        "--text-column body", "--nonsense", "--unicode-form NFD", "--against missing.jsonl",
    )),
    *(f"dedup {name} -o out --id-column id" for name in (
        *(f"bad-{n}.jsonl" for n in range(6)), "bad.csv", "bad.json", "bad.parquet", "bad.txt",
        "twice.jsonl", "body.csv", "missing.jsonl", "missing", "*.nothing", "no-files", "unknown.pdf",
        "broken.parquet", "damaged.parquet", *(f"{state}.jsonl.{suffix}"
        for state in ("broken", "false") for suffix in ("gz", "zst", "xz", "bz2")),
    )),
    "dedup body.csv -o out --on-error skip ; dedup docs.jsonl -o out --id-column key --on-error skip",
    "dedup docs.jsonl -o tree --overwrite ; dedup docs.jsonl -o docs.csv --overwrite ; dedup docs.jsonl -o . --overwrite",
    f"dedup {DOCS} ; dedup {DOCS} ; dedup out -o other ; {BUILD.replace('idx', 'out')} --overwrite",
    *(f"pairs docs.jsonl {options}" for options in (
        "-o p.txt", "-o docs.csv", "-o docs.jsonl --overwrite", "-o missing/p.csv", "-o tree",
        *(f"-o p.csv {options}" for options in (
            "--threshold 0", "--measure overlap --threshold 0.8", "--max-distance 1 --threshold 0.5",
            "--max-distance 1 --measure dice", "--max-distance -1", "--recall 0.9", "--top 5 --limit 5",
            "--top 0", "--per-document", "--method minhash --measure edit", "--method minhash --top 3",
            "--limit 3", "--limit 0", "--text-column body", "--against missing.jsonl", "--measure overlap",
        )),
    )),
    "explain out d003 ; explain docs.jsonl d003",
    "dedup docs.jsonl --id-column id -o out ; explain out nobody ; explain out d003 --against others.jsonl",
    f"{BUILD} ; {BUILD} ; index add idx pages.jsonl --id-column id ; index remove idx nobody"
    " ; index remove idx ; index add idx bad-0.jsonl ; index add idx missing.jsonl",
    *(f"{BUILD} {options}" for options in (
        "--min-tokens 0", "--num-perm 2000", "--seed -1", "--tf often", "--tokenizer bytes --strip-accents", "--text-column body",
    )),
    *(f"{command} ; @write file.txt ; {command.replace('missing', 'tree')}" for command in (
        "index info missing", "index add missing pages.jsonl", "index compact missing",
        "search missing questions.jsonl -o h.csv",
    )),
    f"{BUILD} --quiet ; " + " ; ".join(f"search idx questions.jsonl {options}" for options in (
        "-o h.csv --threshold 0", "-o h.csv --threshold 80", "-o h.csv --recall 2", "-o h.txt",
        "-o questions.jsonl", "-o idx/h.csv", "-o h.csv --text-column body", "-o h.csv --tokenizer words",
    )),
    *(f"{BUILD} --quiet ; @{way} idx/index.sqlite ; index info idx ; search idx questions.jsonl -o h.csv" for way in ("flip", "cut")),
    *(f"{ALIGN}.csv {options}" for options in (
        "--threshold 80", "--min-tokens 0", "--max-documents 0", "--recall 0", "--text-column t", "--tokenizer nothing",
    )),
    f"{BUILD} --quiet ; align questions.jsonl --against idx -o s.csv --strip-accents"
    " ; align questions.jsonl --against idx --against pages.jsonl -o s.csv",
    *(f"cut docs.jsonl -o out {options}" for options in (
        "--exact --threshold 0.9", "--unit words", "--against docs.jsonl --keep longest", "--min-documents 1",
    )),
    *(f"{DROP} {options}" for options in (
        "missing.txt", "unknown-ids.txt", "body.csv", "bad-2.jsonl", "broken.parquet", "unknown.pdf",
        "ids.txt --column doc_id", "ids.csv --column nothing", "ids.txt --missing never",
    )),
    *(f"sketch docs.jsonl -o s.parquet {options}" for options in (
        "--num-perm 0", "--size 5", "--kind edit --ngram 3", "--kind modulo --size 5 --modulus 5",
        "--kind cosine", "--kind edit --compression 0", "--kind smallest --tf raw",
    )),
    "sketch -o s.parquet ; sketch docs.jsonl -o s.csv ; sketch docs.jsonl -o docs.parquet ; estimate docs.parquet -o e.csv",
    *(f"sketch few.jsonl -o a.parquet ; @{way} a.parquet ; estimate a.parquet -o e.csv" for way in ("flip", "cut")),
    "sketch few.jsonl --kind modulo -o a.parquet ; " + " ; ".join(f"estimate a.parquet {options}" for options in (
        "-o p.txt", "-o p.csv --threshold 80", "-o p.csv --limit 5", "-o docs.csv", "-o a.parquet --overwrite",
        "a.parquet --clusters -o p.csv", "-o p.csv --measure containment", "-o p.csv --super-shingles 2",
    )),
    *(f"{TWO} {options}" for options in ("--threshold 80", "--min-tokens 0", "--report docs.csv", "--report missing/c.html", "third.txt")),
    "compare first.txt missing.txt ; compare first.txt tree ; compare bad.txt first.txt ; compare - -",
    *(f"plan {options}" for options in ("--threshold 80", "--bands 20x10", "--recall nan", "missing.jsonl")),
]  # fmt: skip

REFUSALS = [*HELP, *REFUSED]
COMMANDS = [*DEDUP, *JOINS, *INDEXES, *PASSAGES, *TABLES, *REFUSALS]
