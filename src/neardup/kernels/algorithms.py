"""Codes of the algorithms of exact joins, which differ in their filters."""

from __future__ import annotations

ALL_PAIRS, PPJOIN, PPJOIN_PLUS = range(3)
