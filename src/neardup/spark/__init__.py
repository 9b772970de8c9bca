"""Deduplication on a Spark session: the stages of ``neardup.deduplicate``, on its executors.

Executors read, sign and decide; Spark shuffles and schedules, and no more. What a task does is what
a thread does, by the same functions. Rows travel in blocks of Arrow, each to a partition that we
number ourselves: a key never decides by its hash, and nothing depends on the order in which Spark
brings rows, so that a task that is run again has the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.spark.dedup import deduplicate

__all__ = ["deduplicate"]


def __getattr__(name: str) -> Any:
    # Executors load this room for each of their tasks, and need nothing of the call itself.
    if name == "deduplicate":
        from neardup.spark.dedup import deduplicate

        return deduplicate
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
