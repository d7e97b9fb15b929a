"""For tests: a gate that fails as an assertion does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judged.comparison.gate.result import Gate
    from judged.options import JudgementsLike, MeasuresLike, Path, RunLike, RunsLike

__all__ = ["assert_no_regression"]


def assert_no_regression(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: Path | RunLike,
    **options: Any,
) -> Gate:
    """Fail where `gate` does, with its text.

    Parameters
    ----------
    judgements, run, measures, baseline
        As for `gate`.
    **options
        All others of its options, such as `rule`, `max_drop`, `golden` and `policy`.

    Returns
    -------
    Gate
        Where every rule holds.

    Raises
    ------
    AssertionError
        Where one does not. What cannot be decided is a `JudgedError`, as everywhere.

    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": ["a"], "q2": ["c", "b"]}
    >>> assert_no_regression(judgements, run, "RR", baseline=run).passed
    True
    """
    from inspect import signature

    from judged.comparison.gate import gate
    from judged.errors import InputError, did_you_mean

    known = [name for name, p in signature(gate).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise InputError(f"a gate has no option {name!r}{did_you_mean(name, known)}")
    found = gate(judgements, run, measures, baseline=baseline, **options)
    if not found.decided:
        raise InputError(f"the gate cannot decide:\n{found.to_text()}")
    if not found.passed:
        raise AssertionError(f"\n{found.to_text()}")
    return found
