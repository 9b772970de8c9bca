"""Rows of documents come together by groups: the same from every engine."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from neardup.engine.engine import DOCUMENT
from neardup.engine.spark.cluster import cluster_of
from neardup.engine.spark.spark_engine import SparkEngine
from neardup.engine.threads import ThreadEngine
from neardup.files.inputs import resolve_inputs
from neardup.options.document_options import PairOptions
from neardup.reading.sign import list_block
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from neardup.stages.options import reading_plan

LENGTHS = [3, 1, 8, 2, 2, 5, 9, 1, 4, 4, 7, 6]
# A document may be in several groups, or in none.
GROUPS = [[0, 2, 3, 11], [2, 3, 4], [], [6], [1, 5, 6, 7, 8, 9, 10]]


def list_lengths(block, plan):
    """List documents, with a row of its length for each."""
    lengths = [len(text) for text in block.parse(plan.columns).text.to_pylist()]
    rows = pa.record_batch({DOCUMENT: np.arange(len(block)), "length": lengths})
    return list_block(block, plan).adding({}, {}, rows)


def by_length(rows, n_partitions):
    return rows["length"].to_numpy() % n_partitions


def sum_lengths(least, group):
    """Give the lengths of the documents of a group, and their sum."""
    rows = pa.Table.from_batches(group.rows()).to_pylist() if len(group.documents) else []
    wanted = group.documents[DOCUMENT].to_pylist()
    lengths = {row[DOCUMENT]: row["length"] for row in rows if row[DOCUMENT] in wanted}
    assert sorted(lengths) == wanted
    columns = {"length": [lengths[document] + least for document in wanted]}
    yield sum(lengths.values()), pa.record_batch(columns, pa.schema({"length": pa.int64()}))


def known(number):
    documents = np.array(GROUPS[number], np.int64)
    lengths = np.array(LENGTHS)[documents]
    return pa.record_batch({DOCUMENT: documents, "length": lengths})


@pytest.fixture(params=["in memory", "in files", "spark"])
def engine(request, in_process, small_tasks, tmp_path):
    if request.param == "spark":
        yield SparkEngine(lambda: cluster_of(in_process), Runner(None), IN_MEMORY)
    elif request.param == "in memory":
        yield ThreadEngine(Runner(2), IN_MEMORY)
    else:
        with Workspace(1, WorkFolder.temporary(tmp_path)) as workspace:
            yield ThreadEngine(Runner(2), workspace)


def test_group(engine, tmp_path):
    options = PairOptions()
    paths = []
    for number, own in enumerate((LENGTHS[:5], LENGTHS[5:])):
        paths.append(tmp_path / f"{number}.csv")
        paths[-1].write_text("text\n" + "".join("x" * length + "\n" for length in own))
    collections = [(resolve_inputs(str(path), options), reading_plan(options)) for path in paths]
    read = engine.read(collections, list_lengths, "lengths", by_length)
    rows = read.rows.group(len(GROUPS), known)
    # Rows are there for one function after the other.
    for least in (0, 100):
        work = rows.work(partial(sum_lengths, least))
        found = [made for _, made in work.collect("sum")]
        sums = [[LENGTHS[document] for document in group] for group in GROUPS]
        assert [known for [(known, _)] in found] == list(map(sum, sums))
        assert [batch["length"].to_pylist() for [(_, batch)] in found] == [
            [length + least for length in group] for group in sums
        ]
