"""What to try where a result is empty for a likely reason, by counts that the job has anyway.

A hint is one line that names an option; empty where there is something to see, or where a note
(``neardup.cli.wording``) says what is wrong already.
"""

from __future__ import annotations

from typing import Any

from neardup.cli.wording import SHORT_TEXTS_OF_PAIRS, SHORTER_SHINGLES, are_most, counted

# From so many tokens on, texts may well share a passage without being alike as a whole.
_LONG_TEXT = 100

_MOST_IN_COMMON = (
    "`neardup pairs --measure max-containment --top 20` lists the pairs that have most in common"
)
_NO_ROWS = "INPUT has no rows, so there was nothing to compare"
_PASSAGES = "`neardup align` finds the passages that texts share"


def hint_for_dedup(summary: dict[str, Any]) -> str:
    """Say what to try where nothing was removed, or nothing but copies of short texts."""
    if not summary["documents_in"] and not summary["skipped_rows"]:
        return _NO_ROWS
    n_filled = summary["documents_in"] - summary["empty_documents"]
    if (
        summary["documents_removed"] > summary["exact_copies"]
        or n_filled + summary["against_documents"] < 2
        or are_most(summary["short_documents"], summary["documents_in"])
    ):
        return ""
    # Copies have one content, and shorter texts their own note.
    n_unlike = summary["documents_kept"] - summary["short_documents"] - summary["empty_documents"]
    if _are_short(summary, n_filled) and n_unlike + summary["against_documents"] > 1:
        return _say_short(summary, SHORTER_SHINGLES)
    if summary["documents_removed"]:
        return ""
    remedies = []
    if summary["candidates"]:
        remedies.append("a lower --threshold counts more documents as similar")
    if summary["tokens"] >= _LONG_TEXT * n_filled:
        remedies += [_PASSAGES, _MOST_IN_COMMON]
    if not remedies:
        return ""
    return f"no two texts are as similar as {summary['threshold']:g}: {'; '.join(remedies)}"


def hint_for_pairs(summary: dict[str, Any]) -> str:
    """Say what to try where there is no pair."""
    if not summary["documents"][0] and not summary["skipped_rows"]:
        return _NO_ROWS
    n_documents = sum(summary["documents"])
    n_filled = n_documents - summary["empty_documents"]
    if (
        summary["pairs"]
        or n_filled < 2
        or 0 in summary["documents"]
        or are_most(summary["short_documents"], n_documents)
    ):
        return ""
    if "top" in summary:
        return _hint_for_top(summary)
    if summary["measure"] == "hamming":
        return "a larger --max-distance finds pairs that are further apart"
    if summary["measure"] in ("containment", "max-containment", "edit", "overlap"):
        return "--top 20 without a threshold lists the pairs that come nearest"
    if _are_short(summary, n_filled):
        return _say_short(summary, SHORT_TEXTS_OF_PAIRS)
    if summary["tokens"] < _LONG_TEXT * n_filled:
        return "--top 20 lists the most similar pairs, whatever their similarity"
    return (
        "no two texts are that similar as a whole: --measure max-containment --top 20 lists the "
        f"pairs that have most in common; {_PASSAGES}"
    )


def _are_short(summary: dict[str, Any], n_filled: int) -> bool:
    # Of fewer tokens than two shingles, one in the middle is in all shingles.
    ngram: int = summary["scheme"].get("ngram", 1)
    return ngram > 1 and summary["tokens"] < 2 * ngram * n_filled


def _say_short(summary: dict[str, Any], remedy: str) -> str:
    ngram = summary["scheme"]["ngram"]
    return (
        f"texts have fewer than {2 * ngram} tokens in the mean, where one other token can change "
        f"all {ngram}-grams: {remedy}"
    )


def _hint_for_top(summary: dict[str, Any]) -> str:
    """Say what to try where even the most similar pair is none."""
    if summary["measure"] == "hamming":
        return "a larger --max-distance finds pairs that are further apart"
    if summary["threshold"] is not None or summary.get("max_distance") is not None:
        return "without --threshold and --max-distance --top lists whatever pairs come nearest"
    ngram = summary["scheme"].get("ngram", 1)
    if ngram == 1:
        return ""
    return (
        f"no two texts have {ngram} tokens in a row in common: a smaller --ngram or --tokenizer "
        "characters compares more loosely"
    )


def hint_for_align(summary: dict[str, Any], smaller: str) -> str:
    """Say what to try where no passage is shared; ``smaller`` is what finds shorter ones."""
    sides = zip(
        summary["short_documents"], summary["empty_documents"], summary["documents"], strict=True
    )
    if summary["passages"] or any(
        not n or are_most(n_short + n_empty, n) for n_short, n_empty, n in sides
    ):
        return ""
    if summary["frequent_windows"]:
        return "a higher --max-documents finds what more documents share"
    return (
        f"nothing is shared: {smaller} finds shorter passages, a lower --threshold less similar "
        "ones"
    )


def hint_for_search(summary: dict[str, Any]) -> str:
    """Say what to try where no query is found."""
    n_queries = summary["queries"]
    n_short = summary["short_queries"] + summary["empty_queries"]
    if summary["passages"] or not n_queries or are_most(n_short, n_queries):
        return ""
    return (
        "queries are looked for as a whole: a lower --threshold finds less similar passages, "
        "`neardup align` parts of queries"
    )


def hint_for_estimate(summary: dict[str, Any]) -> str:
    """Say what to try where no estimate reaches the threshold."""
    if (
        summary["pairs"]
        or summary["threshold"] is None
        or summary["unusable_pairs"]
        or summary["short_sketches"]
        or sum(summary["documents"]) < 2
    ):
        return ""
    return f"no estimate reaches {summary['threshold']:g}: a lower --threshold, or none, shows more"


def hint_for_drop(summary: dict[str, Any]) -> str:
    """Say what to try where no document goes."""
    if summary["documents_removed"] or not summary["named_documents"]:
        return ""
    return (
        "no document has one of these ids: give INPUT and --id-column as when the ids were made, "
        "or choose another --column"
    )


def hint_for_cut(summary: dict[str, Any]) -> str:
    """Say what to try where nothing was repeated."""
    if summary["spans"] or not summary["documents_in"] or "min_tokens" not in summary:
        return ""
    if are_most(summary["short_documents"], summary["documents_in"]):
        return (
            f"{counted(summary['short_documents'], 'document')} shorter than "
            f"{summary['min_tokens']} tokens, of which nothing goes; a smaller --min-tokens cuts "
            "shorter things"
        )
    looser = "" if summary["exact"] else ", a lower --threshold less similar ones"
    exactly = "; without --exact similar ones are found, too" if summary["exact"] else ""
    return (
        f"nothing is repeated: a smaller --min-tokens finds shorter {summary['unit']}"
        f"{looser}{exactly}"
    )
