"""What ``neardup dedup`` prints."""

from __future__ import annotations

import json


def test_dedup__report(run, write_file):
    texts = ["a b c d e f g", "A b c, d e f g!", "", "x"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    first, second, third, fourth, last = run("dedup", "a.jsonl", "-o", "out").out.splitlines()
    assert first == "4 documents: 3 kept, 1 removed (1 exact copy, 0 near-duplicates)"
    assert second == (
        "similar: jaccard >= 0.8 over words 5-grams; 16 bands of 6 rows find a pair at the "
        "threshold with probability 0.9923"
    )
    assert third == "1 document without tokens, kept"
    assert fourth == "1 document shorter than 5 tokens, similar only to equal ones"
    assert last.startswith("written to out in ")
