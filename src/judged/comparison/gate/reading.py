"""A baseline as it was given: a file of its own kind, told by its content, or a run."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judged.comparison.gate.baseline import MARK, VERSION, Baseline, Kept
from judged.comparison.gate.conditions import Conditions
from judged.comparison.gate.fingerprints import combined
from judged.errors import InputError, quoted
from judged.inputs.formats import named_file, printable

RESTORE = "it is left as it is: restore it, or delete it and make a new one."


class NoBaselineError(InputError):
    """There is none yet."""


@dataclass(frozen=True, eq=False)
class Given:
    """What was given as the baseline."""

    source: str
    """What messages call it."""
    path: str | None = None
    """Where it is, or is to be, if it is a file."""
    file: Baseline | None = None
    """What the file holds, if it is a baseline file."""
    run: Any = None
    """The run, if it is one; a file of one, with its name."""
    name: str | None = None
    """What the run is called, where somebody said so."""

    @property
    def absent(self) -> bool:
        """Whether no baseline was named."""
        return self.path is None and not self.exists

    @property
    def exists(self) -> bool:
        """Whether there is anything to hold a run against."""
        return self.file is not None or self.run is not None


def given(baseline: Any) -> Given:
    """A baseline from what a caller may pass; a file that is not there yet has nothing in it."""
    if baseline is None:
        return Given("no baseline")
    if not isinstance(baseline, (str, os.PathLike)):
        return Given("the baseline", run=baseline)
    named = os.fspath(baseline)
    if not isinstance(named, str) or not named:
        raise InputError(f"a baseline is a file or a run; got {quoted(baseline)}.")
    name, path = named_file(named)
    if path == "-":
        return Given("standard input", run=path, name=name)
    label = printable(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Given(label, path)
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: cannot be read ({_reason(error)}).") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{label}: a baseline is a regular file, which this is not.")
    text = _text_of_baseline(path, label)
    if text is None:
        return Given(label, path, run=path, name=name)
    return Given(label, path, read(text, label))


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _text_of_baseline(path: str, label: str) -> bytes | None:
    """The content of a file that has the mark of baselines; None of any other file."""
    try:
        with open(path, "rb") as handle:
            start = handle.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start.startswith(b"{"):
                return None
            handle.seek(0)
            whole = handle.read()
    except OSError as error:
        raise InputError(f"{label}: cannot be read ({_reason(error)}).") from None
    return whole if f'"{MARK}"'.encode() in whole and _is_marked(whole) else None


def _is_marked(whole: bytes) -> bool:
    """Whether the mark stands where it belongs, with a number; in a damaged file, anywhere."""
    import json

    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):
        return True
    return isinstance(found, dict) and MARK in found and not isinstance(found[MARK], (dict, list))


def read(text: bytes, label: str) -> Baseline:
    """What a baseline file holds; anything that is not as `Baseline.to_json` writes it is
    refused."""
    import json

    def damaged(what: str) -> InputError:
        return InputError(f"{label}: this baseline file is damaged ({what}); {RESTORE}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name is there twice")
        return found

    def no_constant(name: str) -> float:
        raise ValueError(f"{name} is no number")

    try:
        whole = json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise damaged(str(error).partition("\n")[0]) from None
    if not isinstance(whole, dict):
        raise damaged("it is no object")
    version = whole.get(MARK)
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"{label}: this baseline file has version {quoted(version)}, and this judged reads "
            f"version {VERSION}; use the judged that wrote it, or a later one. It is left as it is."
        )
    try:
        return _baseline(whole)
    except _OddError as odd:
        raise damaged(str(odd)) from None


class _OddError(Exception):
    """Something in a file that no baseline has."""


def _baseline(whole: dict[str, Any]) -> Baseline:
    measures = _field(whole, "measures", _objects)
    lines = _field(whole, "queries", _objects)
    if not measures or not lines:
        raise _OddError("it has no measures or no queries")
    judgements = {
        query: _field(own, "judgements", _text, f"query {query!r}") for query, own in lines.items()
    }
    if combined(judgements) != _field(whole, "judgements", _text):
        raise _OddError("queries are missing or were changed")
    repeats = _field(whole, "repeats", _count)
    kept = {}
    for name, own in measures.items():
        for part in ("label", "definition"):
            _field(own, part, _text, f"measure {name!r}")
        _field(own, "parameters", _texts, f"measure {name!r}")
        error = _number(own.get("error", 0.0))
        if not 0 <= error < math.inf:
            raise _OddError(f"measure {name!r} has no error that could be one")
        kept[name] = _kept(name, lines, repeats, error)
    conditions = Conditions(
        {
            name: {key: own[key] for key in ("label", "parameters", "definition")}
            for name, own in measures.items()
        },
        _field(whole, "policy", _texts),
        _field(whole, "convention", _optional(_text)),
        _field(whole, "depth", _optional(_count)),
        _field(whole, "collection", _optional(_collection)),
        _field(whole, "ranked", _list_of(_text)),
        judgements,
    )
    return Baseline(
        _field(whole, "run", _text),
        conditions,
        kept,
        frozenset(_field(whole, "missing", _list_of(_text))),
        repeats,
        _field(whole, "weights", _optional(_numbers)),
        _field(whole, "groups", _optional(_texts)),
        _field(whole, "judged", _text),
    )


def _kept(name: str, lines: Mapping[str, Any], repeats: int, error: float) -> Kept:
    """What the file has on a measure, of all queries."""
    values: dict[str, float | None] = {}
    parts: dict[str, dict[str, list[float]]] = {"made_of": {}, "repeats": {}}
    for query, own in lines.items():
        found = _field(own, "values", _object, f"query {query!r}")
        if name not in found:
            raise _OddError(f"query {query!r} has no value of {name}")
        values[query] = None if found[name] is None else _number(found[name])
        for part, by_query in parts.items():
            numbers = _object(own.get(part, {})).get(name)
            if numbers is not None:
                by_query[query] = [_number(each) for each in _list_of(_same)(numbers)]
    counted = {query for query, value in values.items() if value is not None}
    for part, by_query in parts.items():
        if by_query and set(by_query) != counted:
            raise _OddError(f"{part} of {name} is not there for all queries")
    if any(len(each) != repeats for each in parts["repeats"].values()) or (
        (repeats > 1) != bool(parts["repeats"]) and counted
    ):
        raise _OddError(f"it does not have {repeats} repeats of {name}")
    return Kept(values, parts["made_of"] or None, parts["repeats"] or None, error)


def _field(own: Mapping[str, Any], name: str, check: Callable[[Any], Any], of: str = "it") -> Any:
    if name not in own:
        raise _OddError(f"{of} has no {name!r}")
    try:
        return check(own[name])
    except _OddError as odd:
        raise _OddError(f"{name!r} of {of}: {odd}" if of != "it" else f"{name!r}: {odd}") from None


def _same(given: Any) -> Any:
    return given


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise _OddError("no text")
    return given


def _count(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 2**53:
        raise _OddError("no whole number from 1")
    return given


def _number(given: Any) -> float:
    """A number as `text.plain` writes it."""
    if given in ("Infinity", "-Infinity"):
        return math.inf if given == "Infinity" else -math.inf
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise _OddError(f"{quoted(given)} is no number")
    try:
        found = float(given)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _OddError("a number is too large")
    return found


def _object(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _OddError("no object")
    return given


def _objects(given: Any) -> dict[str, dict[str, Any]]:
    return {name: _object(own) for name, own in _object(given).items()}


def _texts(given: Any) -> dict[str, str]:
    return {name: _text(own) for name, own in _object(given).items()}


def _numbers(given: Any) -> dict[str, float]:
    return {name: _number(own) for name, own in _object(given).items()}


def _list_of(check: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def all_of(given: Any) -> list[Any]:
        if not isinstance(given, list):
            raise _OddError("no list")
        return [check(each) for each in given]

    return all_of


def _optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else check(given)


def _collection(given: Any) -> int | dict[str, int]:
    if isinstance(given, dict):
        return {query: int(_number(size)) for query, size in given.items()}
    found = _number(given)
    return int(found)
