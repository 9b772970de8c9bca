"""What decides what a report shows."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.jobs.document_options import AgainstOptions
from neardup.options.jobs import COMMANDS


@dataclass(frozen=True, kw_only=True)
class ReportOptions(AgainstOptions):
    """Which column counts are made by, and how the result and the documents it names are read."""

    known = COMMANDS["report"]

    by: str | None = None
    trust: bool = False
