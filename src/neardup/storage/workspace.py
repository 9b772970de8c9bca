"""What a job may use: so much memory, and a folder for what does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.storage.work import WorkFolder


@dataclass(frozen=True)
class Workspace:
    """Memory and work folder of a job.

    ``memory`` is in bytes, beyond what the interpreter and the libraries take. Without ``work``
    everything stays in memory, whatever it takes.
    """

    memory: int
    work: WorkFolder | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.work is None:
            return
        if isinstance(error, InvalidParameterError | InvalidInputError):
            # Whoever mends that has other options or inputs, and cannot go on from here.
            self.work.remove()
        else:
            self.work.__exit__(kind, error, traceback)

    def share(self, share: float) -> int:
        """Return a share of the memory, in bytes, at least one."""
        return max(1, int(self.memory * share))

    def fits(self, n_bytes: int, share: float) -> bool:
        """Return whether so many bytes stay in memory, if they may take a share of it."""
        return self.work is None or n_bytes <= self.share(share)

    def passes(self, n_bytes: int, share: float) -> int:
        """Return in how many parts so many bytes have to be worked on."""
        return 1 if self.work is None else -(-n_bytes // self.share(share)) or 1

    def require_disk(self, n_bytes: int) -> None:
        """Check that the work folder's disk has room for so many bytes more.

        Raises
        ------
        WriteError
            If it has not; says how much is needed and how much is free.
        """
        if self.work is not None:
            self.work.require_disk(self.work.size_bytes + n_bytes)


IN_MEMORY = Workspace(0)
"""That of jobs which keep everything in memory, whatever it takes."""
