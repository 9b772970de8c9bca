"""Ids that documents get where the user names none."""

from __future__ import annotations


def numbered(name: str, texts: list[str]) -> dict[str, str]:
    return {f"{name}:{i}": text for i, text in enumerate(texts, 1)}
