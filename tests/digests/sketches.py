"""Commands on sketches and on two texts: sketch, estimate, compare. As in ``corpora``."""

# ruff: noqa: E501 - a command is a line
from __future__ import annotations

from tests.digests.corpora import FREQUENCIES, INVERSE

SKETCH = "sketch docs.jsonl --id-column id"
OTHER = "sketch others.jsonl --id-column id"

KINDS = {
    "minhash": ["", "--num-perm 16 --ngram 2 --seed 9", "--occurrences numbered --ngram 1"],
    "weighted": [
        "",
        "--num-perm 64 --ngram 2 --seed 9",
        *(f"--tf {tf}" for tf in FREQUENCIES),
        *(f"--idf {idf}" for idf in INVERSE[1:]),
    ],
    "smallest": [
        "",
        "--size 32 --ngram 3",
        "--fingerprint rabin --seed 9",
        "--occurrences numbered",
    ],
    "modulo": ["", "--size 20 --ngram 3", "--modulus 4", "--fingerprint rabin --modulus 7"],
    "edit": [
        "",
        "--compression 10",
        "--compression 4 --casefold",
        "--compression 10 --unicode-form NFKC --strip-accents --seed 9",
    ],
}

MAKE = [
    *(f"{SKETCH} --kind {kind} {options} -o s.parquet"
      " ; estimate s.parquet -o e.csv --threshold 0.6"
      for kind, choices in KINDS.items() for options in choices),
    f"{SKETCH} -o s.parquet --json --workers 1",
    f"{SKETCH} -o s.parquet --quiet",
    *(f"{SKETCH} -o s.parquet --tokenizer {name}"
      for name in ("whitespace", "characters", "bytes", "tokenizer.json")),
    f"{SKETCH} -o s.parquet --no-casefold --unicode-form NFC --strip-accents",
    "sketch tree -o s.parquet --ngram 2",
    "sketch - -o s.parquet --document line < lines.txt",
    "sketch empty.jsonl -o s.parquet --kind modulo ; estimate s.parquet -o e.csv",
    "sketch bad.jsonl -o s.parquet --on-error skip --json",
    "sketch bad.csv -o s.parquet --on-error skip",
    f"{SKETCH} -o s.parquet ; {OTHER} -o s.parquet --overwrite",
]  # fmt: skip

ESTIMATE = [
    *(f"{SKETCH} --kind {kind} -o a.parquet --quiet ; {OTHER} --kind {kind} -o b.parquet --quiet"
      f" ; estimate a.parquet b.parquet -o e.{suffix} ; estimate a.parquet b.parquet --threshold 0.7 -o t.csv --json"
      for kind, suffix in zip(KINDS, ("jsonl", "csv", "parquet", "csv", "jsonl"), strict=True)),
    *(f"{SKETCH} --kind {kind} -o a.parquet --quiet ; estimate a.parquet --clusters {how} -o c.csv"
      " ; estimate a.parquet --clusters first --threshold 0.8 -o c.parquet --json"
      for kind in ("smallest", "modulo") for how in ("first", "popular")),
    "sketch 1818 1831 --kind edit --compression 10 -o a.parquet ; estimate a.parquet -o e.csv"
    " ; estimate a.parquet --threshold 0.1 -o e.jsonl --json",
    "sketch 1818 --kind edit --compression 20 -o a.parquet ; sketch second.txt --kind edit --compression 20"
    " -o b.parquet ; estimate a.parquet b.parquet -o e.parquet --workers 1",
    f"{SKETCH} --kind modulo --size 200 -o a.parquet --quiet ; {OTHER} --kind modulo --size 200 -o b.parquet"
    " ; estimate b.parquet a.parquet --measure containment --threshold 0.6 -o e.jsonl"
    " ; estimate a.parquet --measure max-containment --threshold 0.5 -o m.csv --json",
    f"{SKETCH} --kind edit --compression 10 -o a.parquet ; estimate a.parquet -o e.csv --json",
    f"{SKETCH} -o a.parquet ; estimate a.parquet --super-shingles 1 --bands 8x10 -o e.csv --json",
    f"{SKETCH} -o a.parquet --quiet ; estimate a.parquet -o e.csv --quiet --limit 100000"
    " ; estimate a.parquet -o e.csv --threshold 1 --overwrite",
]  # fmt: skip

TWO = "compare first.txt second.txt"
COMPARE = [
    TWO,
    f"{TWO} --json",
    f"{TWO} --json --workers 1",
    f"{TWO} --quiet",
    f"{TWO} --report page.html",
    f"{TWO} --report page.html --quiet ; compare short.txt first.txt --report page.html --overwrite",
    "compare first.md.gz second.md.gz --report page.htm",
    "compare first.md.gz second.txt --json",
    f"{TWO} --threshold 0.8 --min-tokens 10 --json",
    f"{TWO} --tokenizer characters --ngram 4 --report page.html",
    f"{TWO} --tokenizer bytes --json",
    f"{TWO} --tokenizer whitespace --unicode-form NFKC --strip-accents --no-casefold",
    f"{TWO} --tokenizer tokenizer.json --json",
    f"{TWO} --ngram 1",
    "compare short.txt short.txt",
    "compare short.txt blank.txt",
    "compare blank.txt blank.txt --json",
    "compare short.txt first.txt --json",
    "compare first.txt - --report page.html < second.txt",
    "compare names.csv more-names.csv --min-tokens 30",
]

COMMANDS = [*MAKE, *ESTIMATE, *COMPARE]
