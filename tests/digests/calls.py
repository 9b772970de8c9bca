"""Run all snippets, each in a folder of its own, and print what they gave as one JSON object.

Usage: python -m tests.digests.calls INPUTS FOLDER; any interpreter that has neardup.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import neardup
from tests.digests.canonical import canonical_terminal, canonical_value, digest_text
from tests.digests.snippets import SETUP, SNIPPETS


def main(inputs: Path, folder: Path) -> None:
    """Run and print."""
    calls = {}
    for number, snippet in enumerate(SNIPPETS):
        place = folder / str(number)
        shutil.copytree(inputs, place)
        os.chdir(place)
        calls[snippet] = run_snippet(snippet, place)
        os.chdir(inputs)
        shutil.rmtree(place)
    package = str(Path(neardup.__file__).parent)
    json.dump({"package": package, "calls": calls}, sys.stdout)


def run_snippet(snippet: str, folder: Path) -> Any:
    """Return the canonical value of the last expression, or the error that a snippet raises."""
    names: dict[str, Any] = {"neardup": neardup}
    *body, last = ast.parse(snippet.strip()).body
    if not isinstance(last, ast.Expr):
        raise TypeError(f"a snippet ends in an expression: {snippet}")
    exec(SETUP, names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(ast.Module(body, []), "<snippet>", "exec"), names)
            found = canonical_value(
                eval(compile(ast.Expression(last.value), "<snippet>", "eval"), names)
            )
        except Exception as error:
            found = {"error": type(error).__qualname__, "message": _mask(str(error), folder)}
    texts = [f"{w.category.__name__}: {_mask(str(w.message), folder)}" for w in caught]
    return {"value": _digest(found, folder), "warnings": texts}


def _digest(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        return {key: _digest(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [_digest(item, folder) for item in value]
    return digest_text(_mask(value, folder)) if isinstance(value, str) else value


def _mask(text: str, folder: Path) -> str:
    return text if text.startswith("{") else canonical_terminal(text, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
