"""Documents that stay and are nearly alike, or alike after all: looked for among the first ones."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from neardup.jobs.pairs.find_pairs import find_pairs
from neardup.jobs.report.dedup_texts import Documents, Outcome
from neardup.matching.measures import MEASURES
from neardup.reports.dedup.examples import Document, KeptPairs, Pair
from neardup.tables import Int64s
from neardup.text.tokenizers.named import named_tokenizer

# As many documents, until they have as many bytes of text, are compared with each other: an exact
# join needs some 14 bytes a byte of text, and a report has to stay below 500 MB.
MOST_DOCUMENTS = 10_000
MOST_BYTES = 4_000_000

# Down to this share of the threshold; and how many pairs are counted at most, and shown.
_SHARE = Fraction(7, 8)
_MOST_PAIRS = 1_000
_N_SHOWN = 3

# Fields of a scheme that are options of the same name.
_OPTIONS = (
    *("tokenizer", "casefold", "unicode_form", "strip_accents", "fold_digits", "ngram"),
    *("occurrences", "fingerprint", "fingerprint_bits", "tf", "idf"),
)


def find_kept_pairs(outcome: Outcome, documents: Documents, workers: int) -> KeptPairs | str:
    """Compare some documents that stay with each other, exactly.

    Parameters
    ----------
    outcome
        Has their texts, and says by which measure and scheme documents are alike.
    documents
        All of them; the first ones that stay are compared.
    workers
        Threads.

    Returns
    -------
    The pairs from a little below the threshold on; or why none were looked for, as a sentence.
    """
    summary = outcome.summary
    if reason := _why_not(summary):
        return f"Pairs that stay were not looked for: {reason}."
    numbers = np.flatnonzero(~documents.goes)[:MOST_DOCUMENTS]
    texts = _first_texts(outcome, documents, numbers)
    if len(texts) < min(2, len(numbers)):
        return "Pairs that stay were not looked for: the first document that stays is too long."
    threshold = Fraction(str(summary["threshold"]))
    least = Fraction(int(threshold * _SHARE * 1000), 1000)
    options = {name: summary["scheme"][name] for name in _OPTIONS if name in summary["scheme"]}
    if "fingerprint" in options:
        # Rabin's fingerprints are drawn by the seed; the mixer is the same always.
        options["seed"] = summary["scheme"].get("seed")
    found = find_pairs(
        texts,
        measure=summary["measure"],
        threshold=least,
        top=_MOST_PAIRS,
        workers=workers,
        **options,
    ).pairs.select(["id_a", "id_b", "similarity"])
    missed, below = [], []
    for row in found.to_pylist():
        first, second = int(row["id_a"]), int(row["id_b"])
        if row["similarity"] < float(threshold):
            below.append((first, second, row["similarity"]))
        elif not MEASURES[summary["measure"]].is_directed or first > second:
            # Only a document that comes later may go for one that it lies in.
            missed.append((first, second, row["similarity"]))

    def shown(pairs: list[tuple[int, int, float]]) -> list[Pair]:
        ids = outcome.ids_of(numbers)

        def document(place: int) -> Document:
            number = int(numbers[place])
            name = documents.names[documents.files[number]]
            return Document(ids[place], name, int(documents.rows[number]), texts[place])

        return [Pair(document(a), document(b), value) for a, b, value in pairs[:_N_SHOWN]]

    return KeptPairs(
        len(texts),
        sum(map(_n_bytes, texts)),
        float(least),
        len(missed),
        len(found) == _MOST_PAIRS and not below,
        shown(below),
        shown(missed),
    )


def _why_not(summary: Mapping[str, Any]) -> str:
    """Return why documents cannot be compared as the run did it; nothing if they can be."""
    scheme = summary["scheme"]
    if not summary["input_files"]:
        return "only ids of the documents are known"
    if scheme is None or summary["threshold"] is None:
        return "the table of pairs does not say how similarities were measured"
    if summary["measure"] not in MEASURES:
        return f"{summary['measure']} is no measure by which sets of shingles are compared"
    if summary["reading"]["input_format"] == "bytes":
        return "documents are bytes, which a page shows as text"
    if named_tokenizer(scheme["tokenizer"]) is None:
        return "the tokenizer is not one of neardup's own"
    if scheme.get("idf", "unary") != "unary":
        return "weights depend on how many of all documents have a shingle"
    if MEASURES[summary["measure"]].is_directed and summary["keep"] != "first":
        return f"which of two may go for the other depends on keep {summary['keep']}"
    return ""


def _first_texts(outcome: Outcome, documents: Documents, numbers: Int64s) -> list[str]:
    """Return the texts of the first documents, of which all but the last one are within bounds."""
    files, rows = documents.files[numbers], documents.rows[numbers]
    texts: list[str] = []
    left = MOST_BYTES
    for file in dict.fromkeys(files.tolist()):
        of_file = rows[files == file].tolist()
        for text in outcome.texts("kept", documents.names[file], of_file, left):
            texts.append(text)
            left -= _n_bytes(text)
            if left <= 0:
                return texts
    return texts


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
