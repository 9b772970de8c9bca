"""The stage copies: each text's first document, whatever memory there is to look for it."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.engine.threads import ThreadEngine, ThreadRead
from neardup.reading.sign import SignedBatches
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from neardup.stages.decide import find_firsts

# Of 128 bits; some differ in one half alone, and some begin alike.
DIGESTS = [(a, b) for a in (0, 1, 2**32, 2**63, 2**64 - 1) for b in (0, 5, 2**64 - 1)]
documents = st.lists(st.none() | st.sampled_from(DIGESTS), max_size=30)


def batches_of(documents, cuts, workspace=IN_MEMORY):
    """Make batches of documents; None is one without tokens."""
    bounds = sorted({0, len(documents), *(cut % (len(documents) + 1) for cut in cuts)})
    signed = SignedBatches(0)
    with SpilledBatches("sign", workspace, share=0.1, weight_of_file=1) as spilled:
        for start, stop in pairwise(bounds):
            pairs = [digest or (7, 7) for digest in documents[start:stop]]
            columns = {
                "digest_low": np.array([low for low, _ in pairs], np.uint64),
                "digest_high": np.array([high for _, high in pairs], np.uint64),
                "n_tokens": np.array([d is not None for d in documents[start:stop]], np.int64),
            }
            spilled.append(pa.RecordBatch.from_pydict(columns), None, 1)
    signed.add(spilled)
    return signed


@given(documents, st.lists(st.integers(0, 30), max_size=3), st.integers(1, 10_000), st.data())
def test_find_firsts__as_a_dictionary_finds_them(documents, cuts, memory, data):
    n = len(documents)
    ranks = data.draw(st.none() | st.permutations(range(n)))
    order = range(n) if ranks is None else sorted(range(n), key=ranks.__getitem__)
    first_of = {}
    for d in order:
        first_of.setdefault(documents[d], d)
    expected = [-1 if digest is None else first_of[digest] for digest in documents]
    array = None if ranks is None else np.array(ranks, np.int64)
    with (
        tempfile.TemporaryDirectory() as parent,
        Workspace(memory, WorkFolder.temporary(Path(parent))) as workspace,
    ):
        for each in (IN_MEMORY, workspace):
            batches = batches_of(documents, cuts, each)
            n_tokens = np.array([digest is not None for digest in documents], np.int64)
            engine = ThreadEngine(Runner(2), each)
            read = ThreadRead((SimpleNamespace(n_tokens=n_tokens),), None, None, batches, engine)
            assert find_firsts(read, array).tolist() == expected
