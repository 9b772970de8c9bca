"""The stage components: what hangs together, whatever the passes, and whole in partitions."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.engine.engine import Partitions
from neardup.engine.threads import ThreadEngine, ThreadRead
from neardup.options.document_options import DedupOptions
from neardup.reading.sign import SignedBatches
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from neardup.stages.decide import (
    DedupContents,
    candidates_in,
    exchange_candidates,
    find_components,
    pack_components,
)
from neardup.stages.options import plan_deduplication

N_BANDS = 3
# Keys that are alike in the lower or the upper half.
KEYS = [0, 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1]


@st.composite
def signed(draw):
    """Documents with keys; which are copies, of the other collection, and in what order."""
    n = draw(st.integers(0, 25))
    key = st.sampled_from(KEYS) | st.integers(100, 100 + n)
    rows = st.lists(key, min_size=N_BANDS, max_size=N_BANDS)
    keys = np.array(draw(st.lists(rows, min_size=n, max_size=n)), np.uint64).reshape(n, N_BANDS)
    firsts = [draw(st.sampled_from([d, d, d, -1])) for d in range(n)]
    n_tokens = draw(st.lists(st.integers(1, 40), min_size=n, max_size=n))
    n_other = draw(st.integers(0, n))
    own_order = draw(st.none() | st.permutations(range(n_other, n)))
    ranks = None if own_order is None else np.array([*range(n_other), *own_order], np.int64)
    tokens = np.array(n_tokens, np.int64)
    other, own = map(Sized, np.split(tokens, [n_other]))
    return keys, DedupContents((other, own), np.array(firsts, np.int64), ranks)


class Sized:
    """As much of a catalogue as the stage looks at."""

    def __init__(self, n_tokens):
        self.n_tokens = n_tokens

    def __len__(self):
        return len(self.n_tokens)


def make_batches(keys, cut, workspace):
    batches = SignedBatches(N_BANDS)
    with SpilledBatches("sign-0", workspace, share=0.01, weight_of_file=1) as spilled:
        for start, stop in pairwise(sorted({0, cut % (len(keys) + 1), len(keys)})):
            columns = {f"key_{band}": keys[start:stop, band] for band in range(N_BANDS)}
            spilled.append(pa.RecordBatch.from_pydict(columns), None, 1)
    batches.add(spilled)
    return batches


def components_oracle(keys, contents, are_ignored):
    """Give the first document of each one's component; pairs of ignored ones do not meet."""
    n = len(keys)
    labels = list(range(n))
    is_content = [contents.firsts[d] == d for d in range(n)]
    for _ in range(n):
        for a in range(n):
            for b in range(n):
                meet = any(x == y for x, y in zip(keys[a], keys[b], strict=True))
                both = is_content[a] and is_content[b] and not (are_ignored[a] and are_ignored[b])
                if meet and both and labels[b] < labels[a]:
                    labels[a] = labels[b]
    return labels


clusters = st.sampled_from(["survivors", "components"])


@given(signed(), st.integers(0, 25), st.integers(1, 30_000), st.integers(1, 4), clusters)
def test_components_and_partitions(drawn, cut, memory, workers, kind):
    keys, contents = drawn
    options = DedupOptions(clusters=kind, bands=(N_BANDS, 2), ngram=2)
    plan, runner = plan_deduplication(options), Runner(workers)
    are_ignored = None if kind == "components" else contents.are_decided()
    nobody = [False] * len(keys)
    expected = components_oracle(
        keys.tolist(), contents, nobody if are_ignored is None else are_ignored.tolist()
    )
    with (
        tempfile.TemporaryDirectory() as parent,
        Workspace(memory, WorkFolder.temporary(Path(parent))) as workspace,
    ):
        for each in (IN_MEMORY, workspace):
            batches = make_batches(keys, cut, each)
            engine = ThreadEngine(runner, each)
            read = ThreadRead(contents.catalogues, plan.reading, None, batches, engine)
            roots = find_components(read, contents, N_BANDS, are_ignored)
            assert first_of_each(roots) == first_of_each(expected)
            room = engine.limits.partition_bytes
            partitions = pack_components(roots, contents, plan.reading, room)
            check_partitions(partitions, expected, contents, room)
            check_exchange(read, keys, partitions)


def first_of_each(labels):
    first = {}
    for d, label in enumerate(np.array(labels).tolist()):
        first.setdefault(label, d)
    return [first[label] for label in np.array(labels).tolist()]


def check_partitions(partitions, expected, contents, room):
    """Every component of two or more is in one partition, in keep order, within the capacity."""
    documents = partitions.documents.tolist()
    assert sorted(documents) == [
        d
        for d in range(len(expected))
        if contents.firsts[d] == d and expected.count(expected[d]) > 1
    ]
    ranks = range(len(expected)) if contents.ranks is None else contents.ranks.tolist()
    of_components = {}
    for number in range(len(partitions)):
        within = partitions.places(number)
        own = documents[within]
        assert own == sorted(own, key=ranks.__getitem__)
        assert own
        labels = {expected[d] for d in own}
        for label, component in zip(
            [expected[d] for d in own], partitions.components[within].tolist(), strict=True
        ):
            assert of_components.setdefault(label, (number, component)) == (number, component)
        if room is not None and len(labels) > 1:
            tokens = contents.n_tokens_of(np.array(own))
            bytes_of = 8 * np.maximum(tokens - 1, 1) + 8 * N_BANDS + 120
            assert bytes_of.sum() <= room
    assert len(set(of_components.values())) == len(of_components)
    places = np.arange(len(documents))
    of_places = [k for k in range(len(partitions)) for _ in documents[partitions.places(k)]]
    assert partitions.of_places(places).tolist() == of_places


def check_exchange(read, keys, partitions):
    """Each partition gets the keys of its documents, in keep order."""

    def look(partition):
        own_keys, filters = candidates_in(partition, N_BANDS)
        assert filters is None
        return {"number": np.array([partition.facts]), "keys": own_keys.copy()}

    exchanged = exchange_candidates(read, partitions, N_BANDS)
    for number, found in enumerate(exchanged.work("look", look, lambda number: number)):
        own = partitions.documents[partitions.places(number)]
        assert found["number"].tolist() == [number]
        assert found["keys"].tolist() == keys[own].tolist()


def test_exchange__documents_of_partitions_alternate():
    keys = np.arange(4 * N_BANDS, dtype=np.uint64).reshape(4, N_BANDS)
    batches = make_batches(keys, 4, IN_MEMORY)
    engine = ThreadEngine(Runner(1), IN_MEMORY)
    read = ThreadRead((Sized(np.ones(4)),), None, None, batches, engine)
    partitions = Partitions(np.array([0, 3, 1, 2]), np.array([0, 0, 1, 1]), np.array([0, 2, 4]))
    check_exchange(read, keys, partitions)


def test_partitions__kept_ones_are_taken(tmp_path):
    kept = Partitions(np.array([3, 1]), np.array([1, 1]), np.array([0, 2]))
    with Workspace(1, WorkFolder.temporary(tmp_path)) as workspace:
        kept.store(workspace)
        found = Partitions.load_or_find(workspace, lambda: Partitions(*[np.empty(0, np.int64)] * 3))
        assert [a.tolist() for a in vars(found).values()] == [[3, 1], [1, 1], [0, 2]]
        # A second time is none.
        kept.store(workspace)
        assert workspace.work.n_done == 1
