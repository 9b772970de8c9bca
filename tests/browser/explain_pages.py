"""Pages that explain a document, of plain, hostile and odd texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import neardup


def explain_cases(
    texts: Mapping[str, tuple[str, str]], hostile: str, long: str
) -> dict[str, Callable[[], str]]:
    """Give pages by name, made when they are called."""
    cases: dict[str, Callable[[], str]] = {
        f"explain {name}": lambda pair=texts[name]: _of_pair(*pair)
        for name in ("plain", "hostile", "chinese", "empty")
    }
    plain = texts["plain"]
    return cases | {
        "explain hostile ids": lambda: _of_pair(*plain, names=(hostile, long)),
        "explain one document": lambda: neardup.deduplicate(plain[:1]).explain("0").html(),
        "explain what went for it": lambda: _of_cluster(plain[0]),
        "explain components": _of_components,
    }


def _of_pair(a: str, b: str, names: tuple[str, str] = ("first", "second")) -> str:
    documents = [{"id": name, "text": text} for name, text in zip(names, (a, b), strict=True)]
    documents.append({"id": "other", "text": "Nothing of it."})
    result = neardup.deduplicate(documents, ngram=1, threshold="0.3", method="exact")
    return result.explain(names[1], other="other").html()


def _of_cluster(text: str) -> str:
    texts = [text, *(f"{text} {'and so on ' * number}" for number in range(20))]
    return neardup.deduplicate(texts, threshold="0.5").explain("0", closest=9).html()


def _of_components() -> str:
    words = [f"w{number}" for number in range(20)]
    texts = [" ".join(words[start : start + 10]) for start in range(8)]
    options = {"ngram": 2, "threshold": "0.6", "clusters": "components", "method": "exact"}
    return neardup.deduplicate(texts, **options).explain("7").html()
