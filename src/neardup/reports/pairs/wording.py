"""What the page of pairs says in words: what was found, how, and whether to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neardup.reports.page import percent
from neardup.reports.pairs.labelled import Labelled
from neardup.reports.pairs.partners import Partners
from neardup.reports.pairs.similarities import describe_intervals
from neardup.reports.pairs.table import PairsTable


def heading(pairs: PairsTable) -> str:
    """Return the title of the page."""
    what = "estimated pair" if pairs.intervals is not None else "similar pair"
    if pairs.names[0] == "query_id":
        what = "match"
    n = len(pairs)
    title = f"{n:,} {what}{'' if n == 1 else 'es' if what == 'match' else 's'}"
    documents = list(pairs.summary.get("documents", ()))
    if not all(isinstance(each, int) for each in documents):
        return title
    counts = " and ".join(f"{number:,}" for number in documents)
    return f"{title} among {counts} documents" if counts else title


def sentences(pairs: PairsTable, partners: Sequence[Partners]) -> list[str]:
    """Say what the pairs are, who is in them, and what may be missing."""
    found = [_what(pairs)]
    if len(pairs):
        found.append(_who(partners))
    found += _trust(pairs)
    if pairs.n_unknown:
        found.append(
            f"{pairs.n_unknown:,} more rows have no similarity, for want of anything to estimate "
            "it by, and are left out here."
        )
    return found


def _what(pairs: PairsTable) -> str:
    summary = pairs.summary
    measure = summary.get("measure")
    if not len(pairs):
        return "No pair was found."
    if measure is None:
        known = "" if pairs.intervals else "; Parquet files of `neardup pairs` do"
        return (
            f"Similarities lie between {pairs.similarities.min():.3f} and "
            f"{pairs.similarities.max():.3f}; the table does not say by which measure{known}."
        )
    by = f"Similarity is {measure}"
    if summary.get("max_distance") is not None:
        kind = "a Hamming distance of" if measure == "hamming" else "an edit distance of"
        by = f"Pairs are within {kind} {summary['max_distance']:,}"
    elif summary.get("threshold") is not None:
        by += f", {summary['threshold']:g} or more"
    if summary.get("top"):
        each = " for each document" if summary.get("per_document") else ""
        by += f"; only the {summary['top']:,} best{each} were asked for"
    if summary.get("blocking"):
        by += f"; only documents of equal {' and '.join(summary['blocking'])} were compared"
    if summary.get("also"):
        by += f"; pairs are also held to {' and '.join(summary['also'])}"
    if summary.get("one_to_one"):
        by += "; each document is in one pair at most, the most similar first"
    return by + "."


def _who(partners: Sequence[Partners]) -> str:
    parts = []
    for each in partners:
        side = f" of side {each.side}" if each.side else ""
        share = f" ({percent(each.n_documents / each.n_in_all)})" if each.n_in_all else ""
        parts.append(f"{each.n_documents:,} documents{side}{share}")
    single = all(each.greatest == 1 for each in partners)
    rest = (
        "each in one only"
        if single
        else (f"{max(each.greatest for each in partners):,} partners are the most that one has")
    )
    return f"{' and '.join(parts)} are in a pair; {rest}."


def _trust(pairs: PairsTable) -> list[str]:
    intervals = describe_intervals(pairs)
    if intervals is not None:
        found = [
            "Similarities are estimates from sketches: half of them lie within "
            f"{intervals['median']:.3f} of the true value, by their 95 % intervals, and all within "
            f"{intervals['most']:.3f}."
        ]
        if intervals["n_sure"] is not None:
            found.append(
                f"Of {intervals['n_sure']:,} pairs the whole interval lies above the threshold."
            )
        return found
    summary = pairs.summary
    if summary.get("method") == "exact":
        only = " of those asked for" if summary.get("top") or summary.get("one_to_one") else ""
        same = " and ".join(summary.get("blocking", ()))
        which = f"All documents{f' of equal {same}' if same else ''} were compared, exactly"
        if not summary.get("also"):
            which += f": no pair{only} is missing{' there' if same else ''}"
        return [f"{which}.", *_left_out(summary)]
    if summary.get("method") == "minhash":
        recall = summary.get("predicted_recall")
        said = "Every pair was compared exactly"
        if recall is not None:
            said += (
                f"; a pair at the threshold was found with probability {percent(recall)}, one that "
                "is more similar with a higher one"
            )
        return [said + ".", *_left_out(summary)]
    return []


def _left_out(summary: Mapping[str, Any]) -> list[str]:
    """Say which pairs are not here although their texts are similar."""
    found = []
    if summary.get("blocking"):
        same = " and ".join(summary["blocking"])
        said = f"Pairs of different {same}, or of none, are not here"
        if summary.get("unblocked"):
            n = summary["unblocked"]
            said += f"; {n:,} document{' has' if n == 1 else 's have'} none"
        found.append(said + ".")
    if summary.get("also"):
        before, n = summary.get("pairs_before_also"), summary.get("similar_pairs", summary["pairs"])
        counts = "" if before is None else f": {n:,} of {before:,} stay"
        found.append(f"Pairs that fail {' and '.join(summary['also'])} are not here{counts}.")
        fate = "are left out"
        if summary.get("also_missing") == "keep":
            fate = "are not judged by it"
        for column, lacks in summary.get("without_value", {}).items():
            if lacks["pairs"]:
                found.append(
                    f"Documents in a pair without a value in {column}: {lacks['documents']:,}. "
                    f"Pairs of these {fate}: {lacks['pairs']:,}."
                )
    return found


def labels_sentences(pairs: PairsTable, labelled: Labelled) -> list[str]:
    """Say what labels say, and what their figures are relative to."""
    n, missing = labelled.n_labels, labelled.n_missing
    what = "labelled pairs" if labelled.is_partial else "pairs"
    said = (
        f"{len(labelled.rows):,} {what} of the table were judged, {int(labelled.is_right.sum()):,} "
        f"of them right; labels have {n:,} right pairs."
    )
    relative = (
        "Recall is the share of these that a threshold finds. "
        f"{missing:,} of them ({percent(missing / n) if n else '0 %'}) are not in the table and "
        "count as missed by every threshold"
    )
    if missing and (reasons := _why_missing(pairs.summary)):
        relative += f"; they are {' or '.join(reasons)}"
    wrong = (
        "Pairs without a label are left out."
        if labelled.is_partial
        else "A pair that labels do not have counts as wrong, so labels must be complete."
    )
    return [said, relative + ".", wrong, _chosen_by_labels(pairs, labelled)]


def _why_missing(summary: Mapping[str, Any]) -> list[str]:
    """Say what may keep a pair that is right out of the table."""
    reasons = []
    if summary.get("threshold") is not None:
        reasons.append(f"less similar than {summary['threshold']:g}")
    if summary.get("blocking"):
        reasons.append(f"of different {' and '.join(summary['blocking'])}")
    if summary.get("also"):
        reasons.append(f"not {' and '.join(summary['also'])}")
    if summary.get("one_to_one"):
        reasons.append("of documents that a more similar one has taken")
    return reasons


def _chosen_by_labels(pairs: PairsTable, labelled: Labelled) -> str:
    """Say what the best threshold is good for."""
    said = (
        "Precision is the share of the pairs found that is right, F1 the harmonic mean of both. "
        "The best threshold is chosen by these very labels: for other documents it may be another"
    )
    found = labelled.evaluation
    least = pairs.summary.get("threshold")
    if found.best is not None and least is not None and not pairs.by_distance:
        best = float(found.round_threshold(found.best))
        if best <= least:
            said += "; it is the lowest there is in this table, and a lower one may be better"
    return said + "."
