"""Public functions on a Spark session, with all options by their own names."""

from __future__ import annotations

from typing import Any

import neardup
from tests.calls import grouped


def deduplicate(session: Any, data: Any, **options: Any) -> neardup.types.DeduplicationResult:
    """Deduplicate on a session."""
    return neardup.deduplicate(data, **grouped(spark=session, **options))
