"""Completeness checks as loops: one test runs every case and reports all failures together."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

MAX_SHOWN = 25


def for_each(
    names: str | Sequence[str],
    cases: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    ids: Callable[[Any], object] = repr,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once per case, as `pytest.mark.parametrize` does, but as a single test.

    Cases that are expensive to make are given as a function, which runs with the test and not
    while tests are collected. A case may be a `pytest.param` with an id. Fixtures are shared by
    all cases. Applied twice, all combinations are run.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            failures, skipped, count = [], [], 0
            for case in cases() if callable(cases) else cases:
                values, label = _split(case, len(keys), ids)
                count += 1
                try:
                    test(**dict(zip(keys, values, strict=True)), **fixtures)
                except pytest.skip.Exception as error:
                    skipped.append(error)
                except (Exception, pytest.fail.Exception) as error:
                    notes = getattr(error, "__notes__", ())  # hypothesis adds its example here
                    text = "\n".join([str(error), *notes])
                    failures.append(f"{label}: {type(error).__name__}: {text}")
            assert count, "there is no case to run"
            if len(skipped) == count:
                raise skipped[-1]
            if failures:
                shown = "\n".join(failures[:MAX_SHOWN])
                pytest.fail(f"{len(failures)} of {count} cases failed:\n{shown}", pytrace=False)

        left = [value for name, value in signature.parameters.items() if name not in keys]
        run_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate


def _split(case: Any, count: int, ids: Callable[[Any], object]) -> tuple[Sequence[Any], str]:
    if type(case).__name__ == "ParameterSet":  # made by pytest.param, and not public
        assert not case.marks, "a case of a loop has no marks of its own"
        values, label = case.values, case.id
    else:
        values, label = (case,) if count == 1 else case, None
    return values, label or ", ".join(str(ids(value)) for value in values)


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Return parameters of which every n-th runs by default; the others are marked `full`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.full if place % every else (),
        )
        for place, case in enumerate(cases)
    ]


def told(text: str, names: Mapping[str, Any] | None = None) -> list[tuple[dict[str, Any], str]]:
    """Read options and what is said of them: a line of options, and below it the indented text.

    >>> told("a=1, b='x'\\n    One sentence,\\n    wrapped.")
    [({'a': 1, 'b': 'x'}, 'One sentence, wrapped.')]
    """
    cases: list[tuple[dict[str, Any], list[str]]] = []
    for line in textwrap.dedent(text).strip().splitlines():
        if line.startswith(" "):
            cases[-1][1].append(line.strip())
        else:
            cases.append((eval(f"dict({line.strip('-')})", dict(names or {})), []))
    return [(options, " ".join(lines)) for options, lines in cases]
