"""The result of a deduplication whose rows executors write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.engines.spark.cluster import Cluster
from neardup.engines.spark.write import write_on_executors
from neardup.jobs.dedup.result import DeduplicationResult

if TYPE_CHECKING:
    from neardup.files.destinations import Destination
    from neardup.options.choices import OutputFormat
    from neardup.runtime.runner import Runner


class SparkResult(DeduplicationResult):
    """As ``DeduplicationResult``; the session has to run while the result is written."""

    cluster: Cluster

    def __reduce__(self) -> tuple[Any, ...]:
        """Be copied as a result of threads: a session is of its process alone."""
        state = {name: value for name, value in vars(self).items() if name != "cluster"}
        return DeduplicationResult.__new__, (DeduplicationResult,), state

    def write_documents(
        self, folder: Destination, output_format: OutputFormat, runner: Runner
    ) -> None:
        """Have executors write the rows to a folder that they reach under the same path or URL."""
        write_on_executors(self._documents, self._sides(), folder, output_format, self.cluster)
        runner.report("write", len(self._stays), len(self._stays))
