"""What a work folder is for: the options, versions and inputs of a run, and how two runs differ.

A key is JSON: an object whose entries are objects (such as options), plain values (such as a
version), or lists of files, each an object with a ``path`` and whatever shows that it has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_LISTED = 3


def spell_key(key: Mapping[str, Any]) -> str:
    """Spell a key, always in the same way.

    Raises
    ------
    TypeError, ValueError
        If it is no JSON.
    """
    return json.dumps(key, sort_keys=True, allow_nan=False)


def digest_of(key: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a key, in hex."""
    return hashlib.sha256(spell_key(key).encode()).hexdigest()


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say in which entries two keys differ, such as ``inputs changed since: a.jsonl``.

    Empty if they are the same.
    """
    # As both are stored: a tuple is a list.
    old, new = json.loads(spell_key(old)), json.loads(spell_key(new))
    parts = []
    for name in dict.fromkeys((*new, *old)):
        before: Any = old.get(name)
        now: Any = new.get(name)
        if before == now:
            continue
        if _are_files(before or []) and _are_files(now or []):
            parts += _differing_files(name, before or [], now or [])
        elif isinstance(before, dict) and isinstance(now, dict):
            changed = [
                f"{each} was {_spelled(before.get(each))}, is {_spelled(now.get(each))}"
                for each in dict.fromkeys((*now, *before))
                if before.get(each) != now.get(each) or (each in before) != (each in now)
            ]
            parts.append(f"{name} changed since: {_listed(changed)}")
        else:
            parts.append(f"{name} was {_spelled(before)}, is {_spelled(now)}")
    return "; ".join(parts)


def only_options_differ(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two keys are alike in all files and versions."""
    old, new = json.loads(spell_key(old)), json.loads(spell_key(new))
    return all(
        old.get(name) == new.get(name)
        for name in (*old, *new)
        if name == "versions" or _are_files(old.get(name)) or _are_files(new.get(name))
    )


def _are_files(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(file, dict) and isinstance(file.get("path"), str) for file in value
    )


def _differing_files(name: str, old: list[Any], new: list[Any]) -> list[str]:
    before = {file["path"]: file for file in old}
    now = {file["path"]: file for file in new}
    found = {
        "changed since": [path for path in now if path in before and now[path] != before[path]],
        "added since": [path for path in now if path not in before],
        "no longer there": [path for path in before if path not in now],
    }
    listed = [f"{name} {what}: {_listed(paths)}" for what, paths in found.items() if paths]
    return listed or [f"{name} are in another order, or given another number of times"]


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _MOST_LISTED
    return ", ".join(words[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _spelled(value: Any) -> str:
    return "not given" if value is None else str(value)
