"""Section ``recall``: recall and wrong removals against exact truth.

Runs last: it takes much memory, which the system would count towards commands measured later.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.corpora.files import small_collection
from benchmarks.measuring.environments import REPOSITORY, cache_folder
from benchmarks.measuring.jobs import PEERS, Job, Settings, peer_job, report_of

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables
    from benchmarks.recall.truth import Truth

THRESHOLDS = ("0.5", "0.7", "0.8", "0.9")
PEER_THRESHOLD = "0.8"

# Lone pairs are missed so seldom that one choice of hash functions shows next to nothing.
DEFAULT_SEED, N_SEEDS = 42, 20
# Misses count as more than predicted where chance alone gives so many this rarely.
LEAST_CHANCE = 0.01

# Each removed document's id with its keeper's.
Removals = dict[str, str]


def run(settings: Settings) -> Tables:
    """Judge neardup at several thresholds and the peers at one, on two collections."""
    sources = {
        "mixed, 20 MB": small_collection(),
        "licences": REPOSITORY / "examples" / "licences.jsonl.gz",
    }
    rows = []
    for name, source in sources.items():
        rows += [{"collection": name, **_row(each)} for each in _judge_collection(settings, source)]
    return {"Recall and wrong removals": rows}


def _row(judged: dict[str, Any]) -> Row:
    recall = judged["pairs_found"] / max(1, judged["true_pairs"])
    lone = judged.get("lone_pairs")
    found, exact = judged["exact_removals_found"], judged["exact_removals"]
    row: Row = {"tool": judged["tool"], "threshold": judged["threshold"]}
    row["bands × rows"] = f"{judged['bands']} × {judged['rows']}"
    row |= {"true pairs": judged["true_pairs"], "recall": f"{recall:.5f}"}
    row["predicted"] = judged.get("predicted_recall")
    row["lone pairs missed"] = f"{lone['missed']:,} of {lone['trials']:,}" if lone else None
    row["expected"] = lone["expected"] if lone else None
    row["as predicted"] = lone["chance"] >= LEAST_CHANCE if lone else None
    row["exact removals made"] = f"{found:,} of {exact:,}"
    return row | {"removed": judged["removed"], "wrongly": judged["wrong"]}


def _judge_collection(settings: Settings, source: Path) -> list[dict[str, Any]]:
    from benchmarks.recall.truth import find_truth, write_latin_part

    part = cache_folder() / f"{source.name.partition('.')[0]}-latin.jsonl"
    write_latin_part(source, part)
    truth = find_truth(part)
    judged = []
    banding = (0, 0)
    for threshold in THRESHOLDS:
        summary, removals = _run_neardup(settings, part, threshold, DEFAULT_SEED)
        own = {name: summary[name] for name in ("bands", "rows", "predicted_recall", "candidates")}
        judged.append({"tool": "neardup", **own, **_judge(truth, removals, threshold)})
        runs = [removals]
        for seed in range(DEFAULT_SEED + 1, DEFAULT_SEED + settings.repeats(N_SEEDS)):
            runs.append(_run_neardup(settings, part, threshold, seed)[1])
        judged[-1]["lone_pairs"] = _judge_lone_pairs(truth, runs, threshold, summary)
        if threshold == PEER_THRESHOLD:
            banding = summary["bands"], summary["rows"]
    for peer in PEERS:
        for way, options in (("plain", ()), ("verified", ("--verify", PEER_THRESHOLD))):
            report, removals = _run_peer(settings, peer, part, banding, options)
            own = {name: report[name] for name in ("bands", "rows", "candidates")}
            judgement = _judge(truth, removals, PEER_THRESHOLD)
            judged.append({"tool": f"{peer}, {way}", **own, **judgement})
            if way == "verified":
                lone_pairs = _judge_lone_pairs(truth, [removals], PEER_THRESHOLD, report)
                judged[-1]["lone_pairs"] = lone_pairs
    return judged


# The command line has no seed.
_PROGRAM = """
import json, sys, neardup
source, threshold, seed, output = sys.argv[1:]
text, read = neardup.TextOptions(seed=int(seed)), neardup.ReadOptions(id_column="id")
result = neardup.deduplicate(source, threshold=threshold, text=text, read=read)
result.write(output)
print(json.dumps(result.summary))
"""


def _run_neardup(
    settings: Settings, source: Path, threshold: str, seed: int
) -> tuple[dict[str, Any], Removals]:
    import pyarrow.parquet as pq

    output = cache_folder() / "output-recall"
    arguments = (str(source), threshold, str(seed), str(output))
    job = Job((str(settings.python), "-c", _PROGRAM, *arguments), output)
    summary = report_of(job.run())
    removed = pq.read_table(job.output / "removed.parquet", columns=["id", "kept_id"])
    job.clear()
    columns = (removed[name].to_pylist() for name in ("id", "kept_id"))
    return summary, dict(zip(*columns, strict=True))


def _run_peer(
    settings: Settings, peer: str, source: Path, banding: tuple[int, int], options: tuple[str, ...]
) -> tuple[dict[str, Any], Removals]:
    job = peer_job(settings, peer, source, *banding, *options)
    report = report_of(job.run())
    with (job.output / "removed.tsv").open(encoding="utf-8") as lines:
        removals = dict(line.rstrip("\n").split("\t") for line in lines)
    job.clear()
    return report, removals


def _judge(truth: Truth, removals: Removals, threshold: str) -> dict[str, Any]:
    """Compare removals with the truth.

    A true pair is found if one of its documents goes. A removal is wrong if the document that is
    named as its keeper is not similar to it, or goes itself.
    """
    least = Fraction(threshold)
    numbers = {name: number for number, name in enumerate(truth.ids)}
    gone = {numbers[name] for name in removals}
    chosen = truth.reaches(least)
    pairs = list(zip(truth.earlier[chosen].tolist(), truth.later[chosen].tolist(), strict=True))
    exact = truth.removals(least)
    wrong = sum(
        numbers[keeper] in gone or not truth.is_similar(numbers[name], numbers[keeper], least)
        for name, keeper in removals.items()
    )
    return {
        "threshold": threshold,
        "true_pairs": len(pairs),
        "pairs_found": sum(first in gone or second in gone for first, second in pairs),
        "exact_removals": len(exact),
        "exact_removals_found": len(exact & gone),
        "removed": len(gone),
        "wrong": wrong,
    }


def _judge_lone_pairs(
    truth: Truth, runs: list[Removals], threshold: str, scheme: dict[str, Any]
) -> dict[str, Any]:
    """Compare pairs that have only each other with the S-curve, over runs of different seeds.

    Such a pair is found exactly if its two documents are compared, so misses are independent
    trials with the probabilities (1 - s^rows)^bands.
    """
    chosen = truth.lone_pairs(Fraction(threshold))
    similarities = truth.common[chosen] / truth.union[chosen]
    chances = (1 - similarities ** scheme["rows"]) ** scheme["bands"]
    pairs = list(zip(truth.earlier[chosen].tolist(), truth.later[chosen].tolist(), strict=True))
    missed = sum(
        removals.get(truth.ids[later]) != truth.ids[earlier]
        for removals in runs
        for earlier, later in pairs
    )
    expected = len(runs) * float(chances.sum())
    return {
        "trials": len(runs) * len(pairs),
        "missed": missed,
        "expected": round(expected, 3),
        "chance": round(_poisson_tail(missed, expected), 4),
    }


def _poisson_tail(count: int, mean: float) -> float:
    """Return the probability of at least ``count`` rare events, ``mean`` of them expected."""
    fewer = sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(count))
    return max(0.0, 1 - fewer)
