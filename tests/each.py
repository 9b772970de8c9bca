"""Laws over many small cases in one test each: every case is run, and those that fail are named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, get_args

import pytest

from neardup.options.choices import InverseFrequency, TermFrequency

_PARAMETERS = type(pytest.param())

TERM_FREQUENCIES, INVERSE_FREQUENCIES = get_args(TermFrequency), get_args(InverseFrequency)


def each_of(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Any = None
) -> Callable[..., Any]:
    """Call a test with each case; as ``parametrize``, but all of them are one test.

    Fixtures that the test asks for are the same for all cases, but for its folder, its patches and
    what it captures: each case has its own. One decorator upon another is their product.
    """
    given = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    labelled = []
    cases = list(cases)
    names_of_cases = [None] * len(cases) if ids is None or callable(ids) else list(ids)
    for case, label in zip(cases, names_of_cases, strict=True):
        if callable(ids):
            label = ids(case)
        values = case if len(given) > 1 else (case,)
        if isinstance(case, _PARAMETERS):
            assert not case.marks, "marks are of a whole test"
            values, label = case.values, case.id
        labelled.append((str(label or ", ".join(map(_short, values))), values))

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failures, n_skipped, reason = [], 0, ""
            for number, (label, values) in enumerate(labelled):
                try:
                    with _own(fixtures, number) as own:
                        test(**dict(zip(given, values, strict=True)), **own)
                except pytest.skip.Exception as skipped:
                    n_skipped, reason = n_skipped + 1, str(skipped)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"case: {label}")
                    failures.append(error)
            if failures:
                message = f"{len(failures)} of {len(labelled)} cases fail"
                raise BaseExceptionGroup(message, failures)
            if labelled and n_skipped == len(labelled):
                pytest.skip(reason)

        wanted = inspect.signature(test).parameters.values()
        rest = [each for each in wanted if each.name not in given]
        run.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
        # Hypothesis looks for its own tests: this one only calls one.
        if run.__dict__.pop("is_hypothesis_test", False):
            for name in ("hypothesis", "_hypothesis_internal_settings_applied"):
                run.__dict__.pop(name, None)
            return pytest.mark.hypothesis(run)
        return run

    return decorate


@contextmanager
def _own(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Give each case a folder of its own, and take back what it has patched and printed."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] /= f"case-{number}"
        own["tmp_path"].mkdir()
    if "capsys" in own:
        own["capsys"].readouterr()
    with own["monkeypatch"].context() if "monkeypatch" in own else nullcontext() as patch:
        if patch is not None:
            own["monkeypatch"] = patch
        yield own


def _short(value: object) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
