"""Sketches of odd rows and of normalised texts."""

from __future__ import annotations
