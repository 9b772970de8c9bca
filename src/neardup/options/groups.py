"""Under which heading help lists each option: headings in order, options most used first."""

from __future__ import annotations

from collections.abc import Iterable

from neardup.options.option import Option

# Options by their names in Python. A command has those headings for which it has options.
GROUPS: dict[str, tuple[str, ...]] = {
    "Input": (
        *("named_in", "id_file", "text_column", "id_column", "against"),
        *("against_text_column", "against_id_column", "column", "side", "missing"),
        "trust",
        *("input_format", "encoding", "delimiter", "lines"),
        *("main_text", "alternative_texts", "on_error", "info"),
        *("documents", "input_size"),
    ),
    "Text": (
        *("tokenizer", "ngram", "casefold", "strip_accents", "unicode_form", "fold_digits"),
        *("occurrences", "fingerprint", "fingerprint_bits"),
    ),
    "Similarity": (
        *("preset", "unit", "exact", "threshold", "measure", "pairs", "max_distance", "min_tokens"),
        *("blocking", "also", "also_missing"),
        *("min_significance", "method", "algorithm", "gap", "other", "closest"),
        *("tf", "idf", "idf_from", "audit", "edit_limit"),
    ),
    "Sketches": (
        *("kind", "recall", "hits", "num_perm", "super_shingles", "bands", "rows", "size"),
        "modulus",
        *("compression", "neighbourhood", "hash", "letters", "residue", "blocks"),
        "seed",
    ),
    "Choice": (
        *(
            "examples",
            "least",
            "most",
            "keep",
            "clusters",
            "top",
            "per_document",
            "one_to_one",
            "limit",
        ),
        *("min_documents", "max_documents", "ignore", "maximal", "within", "all_windows", "places"),
    ),
    "Access": ("host", "port", "token_file", "allowed_host", "writable"),
    "Limits": ("max_body", "max_texts", "max_seconds", "max_waiting"),
    "Output": (
        *("output", "page", "by", "labels", "add", "output_format", "table_format", "show_all"),
        "html",
        *(
            "replacement",
            "columns",
            "with_columns",
            "summary",
            "with_text",
            "no_text",
            "excerpt",
            "overwrite",
            "stats",
            "as_json",
        ),
    ),
    "Running": (
        *("engine", "workers", "memory", "work", "fresh", "executors", "executor_cores"),
        *("refresh", "stop_seconds", "check", "quiet"),
    ),
}


def grouped(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Return options by their headings; those that a command does not do without come first."""
    by_name = {option.name: option for option in options}
    found = {
        heading: [by_name[name] for name in names if name in by_name]
        for heading, names in GROUPS.items()
    }
    return {
        heading: sorted(members, key=lambda option: not option.is_required)
        for heading, members in found.items()
        if members
    }
