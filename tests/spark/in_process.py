"""A Spark of one process: what the engine asks of one, without Java, for tests of many options.

Functions and rows are sent as Spark sends them, pickled; rows that go to other partitions come in
an order that a seed decides, and what is kept is worked out once. Only Spark itself is missing, for
which other tests have a real one.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

Rows = Iterable[Any]


class InProcess:
    """A session whose context runs ``slots`` tasks at a time, so to speak."""

    def __init__(self, slots: int = 2, seed: int = 0) -> None:
        self._sc = self
        self.defaultParallelism = slots
        self.master = "local-cluster[2,1,1024]"
        self.serializer = None
        self.random = random.Random(seed)
        # Bytes that were brought to other partitions, and kept, packed as Spark packs them.
        self.sent, self.stored = 0, 0

    def getConf(self) -> dict[str, str]:
        """Return no settings."""
        return {}

    def parallelize(self, rows: Sequence[Any], n: int) -> _Rdd:
        """Spread rows."""
        parts = [rows[k * len(rows) // n : (k + 1) * len(rows) // n] for k in range(n)]
        return _Rdd(self, [_of(pickle.dumps(list(part))) for part in parts])

    def broadcast(self, value: Any) -> _Sent:
        """Send a value to all executors."""
        return _Sent(pickle.dumps(value))

    def runJob(
        self, rdd: _Rdd, function: Callable[[Iterator[Any]], Rows], partitions: Sequence[int]
    ) -> list[Any]:
        """Work on some partitions."""
        return [row for k in partitions for row in function(iter(rdd.parts[k]()))]


class _Sent:
    def __init__(self, data: bytes) -> None:
        self.data = data

    @property
    def value(self) -> Any:
        return pickle.loads(self.data)

    def destroy(self) -> None:
        pass


def _of(data: bytes) -> Callable[[], Rows]:
    return lambda: pickle.loads(data)


def _packed(value: Any) -> int:
    return len(pa.compress(pickle.dumps(value), "lz4", asbytes=True))


class _Rdd:
    def __init__(self, context: InProcess, parts: list[Callable[[], Rows]]) -> None:
        self.context, self.parts = context, parts

    def getNumPartitions(self) -> int:
        return len(self.parts)

    def mapPartitions(
        self, function: Callable[[Iterator[Any]], Rows], preservesPartitioning: bool = False
    ) -> _Rdd:
        from pyspark import cloudpickle

        sent = cloudpickle.dumps(function)

        def made(part: Callable[[], Rows]) -> Callable[[], Rows]:
            def rows() -> Iterator[Any]:
                # Spark hands rows on in batches, each pickled.
                for row in pickle.loads(sent)(iter(part())):
                    yield pickle.loads(pickle.dumps(row))

            return rows

        return _Rdd(self.context, [made(part) for part in self.parts])

    def mapPartitionsWithIndex(
        self,
        function: Callable[[int, Iterator[Any]], Rows],
        preservesPartitioning: bool = False,
    ) -> _Rdd:
        one = [
            _Rdd(self.context, [part]).mapPartitions(partial(function, number)).parts[0]
            for number, part in enumerate(self.parts)
        ]
        return _Rdd(self.context, one)

    def partitionBy(self, n: int, function: Callable[[Any], int]) -> _Rdd:
        found: list[list[Any]] | None = None

        def bring(k: int) -> Rows:
            nonlocal found
            if found is None:
                found = [[] for _ in range(n)]
                for part in self.parts:
                    for key, value in part():
                        found[function(key) % n].append((key, value))
                        self.context.sent += _packed(value)
                for rows in found:
                    self.context.random.shuffle(rows)
            return found[k]

        return _Rdd(self.context, [lambda k=k: bring(k) for k in range(n)])

    def union(self, other: _Rdd) -> _Rdd:
        assert len(self.parts) == len(other.parts)
        pairs = zip(self.parts, other.parts, strict=True)

        def both(one: Callable[[], Rows], two: Callable[[], Rows]) -> Callable[[], Rows]:
            def rows() -> Iterator[Any]:
                yield from one()
                yield from two()

            return rows

        return _Rdd(self.context, [both(*pair) for pair in pairs])

    def persist(self, _: Any) -> _Rdd:
        kept: dict[int, bytes] = {}
        parts = list(self.parts)

        def keep(k: int) -> Rows:
            if k not in kept:
                kept[k] = pickle.dumps(list(parts[k]()))
                self.context.stored += len(pa.compress(kept[k], "lz4", asbytes=True))
            rows: Rows = pickle.loads(kept[k])
            return rows

        self.parts = [lambda k=k: keep(k) for k in range(len(parts))]
        return self

    def unpersist(self) -> None:
        pass

    def collect(self) -> list[Any]:
        return [row for part in self.parts for row in part()]
