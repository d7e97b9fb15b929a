"""Records of other results, such as sweeps of a temperature, as charts read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

from judged.errors import InputError, quoted
from judged.options import real
from judged.options import temperature as checked_temperature
from judged.text import counted, listed


@dataclass(frozen=True)
class Record:
    """An object of a JSON file, and its name in messages."""

    called: str
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, result: Any, *, what: str, how: str) -> Record:
        """Read a result that has `to_dict`, or its dict, and check its kind."""
        fields = result.to_dict() if hasattr(result, "to_dict") else result
        kind = fields.get("what") if isinstance(fields, Mapping) else None
        if kind != what:
            named = (
                f"this is a {kind}, not a {what}" if isinstance(kind, str) else f"this is no {what}"
            )
            raise InputError(f"{named}; make one with {how}.")
        return cls(f"the {what}", fields)

    def _get(self, name: str) -> Any:
        if name not in self.fields:
            raise InputError(f"{self.called} has no {name!r}; make it again.")
        return self.fields[name]

    def _typed(self, name: str, kinds: Any, wanted: str) -> Any:
        value = self._get(name)
        if not isinstance(value, kinds):
            raise self._refuse(name, wanted)
        return value

    def _refuse(self, name: str, wanted: str) -> InputError:
        value = quoted(self._get(name))
        return InputError(f"{self.called}: {name!r} must be {wanted}; got {value}.")

    def number_or_none(self, name: str) -> float | None:
        value = self._get(name)
        if isinstance(value, bool) or not isinstance(value, Real | None):
            raise self._refuse(name, "a number")
        return real(value)

    def number(self, name: str) -> float:
        value = self.number_or_none(name)
        if value is None:
            raise self._refuse(name, "a number")
        return value

    def count(self, name: str) -> int:
        return round(self.number(name))

    def flag(self, name: str) -> bool:
        return bool(self._typed(name, bool, "true or false"))

    def text(self, name: str) -> str:
        return str(self._typed(name, str, "a text"))

    def texts(self, name: str) -> list[str]:
        return [str(text) for text in self._list(name)]

    def numbers(self, name: str) -> list[float]:
        numbered = {f"number {at}": value for at, value in enumerate(self._list(name), 1)}
        every = Record(f"{self.called}, {name}", numbered)
        return [every.number(key) for key in numbered]

    def record_or_none(self, name: str) -> Record | None:
        return None if self._get(name) is None else self.record(name)

    def record(self, name: str) -> Record:
        return Record(f"{self.called}, {name}", self._typed(name, Mapping, "an object"))

    def records(self, name: str) -> list[Record]:
        numbered = {f"{name} {at}": value for at, value in enumerate(self._list(name), 1)}
        every = Record(self.called, numbered)
        return [every.record(key) for key in numbered]

    def _list(self, name: str) -> list[Any]:
        return list(self._typed(name, (list, tuple), "a list"))


NAMES = ("sharp", "medium", "smooth")  # of three temperatures, the lowest first
APART = 4.0
"""The sharp and the smooth temperature lie by this factor from the medium one."""


def read_sweep(given: Any) -> Record:
    """Read a sweep, or its JSON, with at least one temperature, ascending."""
    found = Record.of(
        given,
        what="temperature sweep",
        how="judged.temperature.sweep or `judged temperature … -o FILE.json`",
    )
    at = [temperature_of(row) for row in found.records("temperatures")]
    if not at or any(left >= right for left, right in pairwise(at)):
        raise InputError(
            "the temperature sweep must have temperatures, each above the one before; make it "
            "again."
        )
    return found


def temperature_of(row: Record) -> float:
    return checked_temperature(row.number("temperature"))


def softmax_said(sweep: Record) -> str:
    kind, candidates = sweep.text("softmax"), sweep.count("candidates")
    queries = counted(sweep.count("queries"), "query", "queries")
    among = {
        "corpus": f"Full-corpus softmax: each query against all {counted(candidates, 'item')}",
        "batch": (
            f"In-batch softmax: each query against the {counted(candidates, 'item')} of its batch"
        ),
    }
    if kind not in among:
        raise InputError(
            f"the temperature sweep: 'softmax' must be {listed(list(among), 'or')}; got {kind!r}."
        )
    return f"{among[kind]}. {queries}, similarity {sweep.text('similarity')}."


def written(temperature: float) -> str:
    """Write a temperature with three digits, such as 0.00215 or 1,000."""
    return f"{float(f'{temperature:.3g}'):,.12g}"


def three(sweep: Record) -> tuple[dict[str, Record], str]:
    """Return the rows nearest to the best temperature, and to 1/4 and 4 times of it, by name."""
    rows = sweep.records("temperatures")
    searched = sweep.record_or_none("best_loss")
    best = temperature_of(searched or min(rows, key=_objective))
    medium = _nearest(rows, best)
    found = {"medium": rows[medium]}
    for name, side, target in (
        ("sharp", rows[:medium], best / APART),
        ("smooth", rows[medium + 1 :], best * APART),
    ):
        if side:
            found[name] = side[_nearest(side, target)]
    lost = [f"{name}er" for name in NAMES if name not in found]
    others = (
        f"no {' or '.join(lost)} one was swept"
        if lost
        else "the others to a quarter and to four times of it"
    )
    note = f"Medium is the temperature nearest to the lowest loss, at {written(best)}; {others}."
    return {name: found[name] for name in NAMES if name in found}, note


def _objective(row: Record) -> float:
    """Return the loss that was minimised: the mean of both directions, if there are both."""
    both = row.number_or_none("loss_both")
    return row.number("loss") if both is None else both


def _nearest(rows: Sequence[Record], target: float) -> int:
    """Return the place of the row with the nearest temperature, by ratio."""
    return min(range(len(rows)), key=lambda at: abs(math.log(temperature_of(rows[at]) / target)))
