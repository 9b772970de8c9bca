"""How many examples Hypothesis tries: all in the thorough profile, a share in the quick one."""

from __future__ import annotations

from hypothesis import settings

# What a test tries that does not say how many.
THOROUGH = 60


def examples(n: int) -> settings:
    """Settings for a test that tries ``n`` examples in the thorough profile."""
    return settings(max_examples=max(1, n * settings.default.max_examples // THOROUGH))
