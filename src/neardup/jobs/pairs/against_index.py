"""Pairs of new documents and index documents, by lookup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from neardup.documents.open_documents import LookedUp, OpenDocuments, look_up_block
from neardup.documents.scheme import DocumentScheme, check_alike
from neardup.engine.engine import Engine, each_block
from neardup.errors import InvalidParameterError
from neardup.files.documents import choose_id_column, common_id_type
from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.index.open_index import SharedIndex
from neardup.jobs.pairs.pair_plan import PairPlan, plan_pairs
from neardup.jobs.pairs.pair_rows import ROWS_SHARE, PairResult
from neardup.matching.buckets import BucketJoinCounts
from neardup.matching.join import check_limit
from neardup.matching.measures import Measure
from neardup.options.document_options import PairOptions
from neardup.outputs.output_tables import metadata_of
from neardup.reading.sign import describe_filtered
from neardup.results import QueryCounts, describe_ids, describe_skipped
from neardup.runs.exchange import SpilledBatches
from neardup.stages.options import columns_of, weights_for

# Options that have no effect on a lookup.
_OF_JOINS = ("top", "max_distance", "blocking", "columns", "one_to_one")

# Bytes of a file of pairs.
_FILE_BYTES = 64_000_000


def plan_with_texts(options: PairOptions, scheme: DocumentScheme) -> PairPlan:
    """Plan a join with an index by its scheme and threshold."""
    options.check_no_preset()
    check_alike(options, scheme)
    threshold = scheme.measure_at(options.threshold).threshold
    options = options.but(
        measure=scheme.measure.name,
        threshold=threshold,
        occurrences=scheme.shingles.occurrences,
    )
    plan = plan_pairs(options, has_other=True)
    reading = replace(plan.reading, shingles=scheme.shingles)
    if reading.weighted:
        reading = replace(reading, weighted=scheme.weighted)
    return replace(plan, reading=reading)


def plan_with_index(options: PairOptions, index: OpenDocuments) -> Measure:
    """Check options other than the threshold against an index."""
    options.check_left_out(_OF_JOINS, "with an index", "choose method exact", "method")
    if options.per_document:
        message = "per_document needs top, the number of partners, which is exact; leave it out"
        raise InvalidParameterError(message, "per_document", "top")
    options.check_no_other("with an index", "name files with against", "against")
    weights_for(options, index.scheme.measure)
    check_alike(options, index.scheme)
    return index.scheme.measure_at(options.threshold)


def find_pairs_in_index(
    engine: Engine,
    sources: Sequence[Source],
    shared: SharedIndex[OpenDocuments],
    options: PairOptions,
) -> PairResult:
    """Find pairs of source and index documents in common buckets.

    Each pair is compared exactly. Time grows with the sources and the pairs, not with the index.
    Pairs that exceed the memory go to files.
    """
    index, runner = shared.opened, engine.runner
    measure = plan_with_index(options, index)
    columns = choose_id_column(columns_of(options), sources)
    counts, ngram = QueryCounts(), index.scheme.shingles.ngram
    runs = SpilledBatches("found", engine.workspace, share=ROWS_SHARE, weight_of_file=_FILE_BYTES)
    id_types: set[pa.DataType] = set()
    with runner.stage("join") as note, runs:
        look_up = partial(look_up_block, shared, columns, measure, None, options.skip_bad)
        for found in engine.stream("join", sources, look_up, each_block):
            counts.add(found.n_tokens, ngram, found.hits.queries, found.skipped)
            id_types |= {found.ids.type} if len(found.ids) else set()
            check_limit(options.limit, counts.n_results)
            if len(found.hits):
                run = _run(found, index)
                runs.append(run, None, run.nbytes)
        note(pairs=counts.n_results)
    found_counts = BucketJoinCounts(counts.n_results, counts.n_results)
    summary = {
        "documents": [counts.n_queries, index.n_documents],
        "empty_documents": counts.n_empty,
        "short_documents": counts.n_short,
        "tokens": counts.n_tokens,
        **describe_ids(columns),
        **describe_skipped(counts.skipped),
        **describe_filtered(sources),
        "passed_over": passed_over(sources),
        "pairs": counts.n_results,
        "filters": vars(found_counts),
        "method": "minhash",
        **_describe(index, measure),
        **engine.describe(),
        "seconds": runner.seconds,
        # The options that hints would name are fixed by the index.
        "hints": [],
    }
    schema = _schema(common_id_type(id_types), index).with_metadata(metadata_of(summary))

    def read() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(schema, (run.cast(schema) for run in runs))

    return PairResult(read, found_counts, summary)


def _describe(index: OpenDocuments, measure: Measure) -> dict[str, Any]:
    scheme = index.scheme
    return {
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "predicted_recall": scheme.predicted_recall(measure),
        "bands": scheme.banding.bands,
        "rows": scheme.banding.rows,
        "scheme": scheme.describe(),
        "recall": float(scheme.recall),
    }


def _run(found: LookedUp, index: OpenDocuments) -> pa.RecordBatch:
    hits = found.hits
    columns = {
        "id_a": found.ids.take(pa.array(hits.queries)),
        "id_b": index.ids_of(hits.documents),
        "similarity": hits.similarities,
    }
    # The common weight of weighted sets is not a number of shingles.
    if index.scheme.weighted is None:
        columns["overlap"] = hits.overlaps
    return pa.RecordBatch.from_pydict(columns)


def _schema(id_type: pa.DataType, index: OpenDocuments) -> pa.Schema:
    fields = [("id_a", id_type), ("id_b", index.id_type), ("similarity", pa.float64())]
    if index.scheme.weighted is None:
        fields.append(("overlap", pa.int64()))
    return pa.schema(fields)
