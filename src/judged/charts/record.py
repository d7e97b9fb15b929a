"""Results of other rooms as the JSON that they write: read by name, and refused in words where
something is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from judged.errors import InputError, quoted
from judged.options import real


@dataclass(frozen=True)
class Record:
    """An object of a JSON file, and what it is called in messages.

    >>> Record("the sweep", {"loss": 1.5}).number("loss")
    1.5
    """

    called: str
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, given: Any, *, what: str, how: str) -> Record:
        """A result that has `to_dict`, or the dict itself; its "what" says which one it is."""
        found = given.to_dict() if hasattr(given, "to_dict") else given
        kind = found.get("what") if isinstance(found, Mapping) else None
        if kind != what:
            named = (
                f"this is a {kind}, not a {what}" if isinstance(kind, str) else f"this is no {what}"
            )
            raise InputError(f"{named}; make one with {how}.")
        return cls(f"the {what}", found)

    def _get(self, name: str) -> Any:
        if name not in self.fields:
            raise InputError(f"{self.called} has no {name!r}; make it again.")
        return self.fields[name]

    def _refuse(self, name: str, wanted: str, found: Any) -> InputError:
        return InputError(f"{self.called}: {name!r} must be {wanted}; got {quoted(found)}.")

    def number_or_none(self, name: str) -> float | None:
        """A number; None, and what is not finite, for one that there is not."""
        found = self._get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, Real):
            raise self._refuse(name, "a number", found)
        return real(found)

    def number(self, name: str) -> float:
        found = self.number_or_none(name)
        if found is None:
            raise self._refuse(name, "a number", self._get(name))
        return found

    def count(self, name: str) -> int:
        return round(self.number(name))

    def flag(self, name: str) -> bool:
        found = self._get(name)
        if not isinstance(found, bool):
            raise self._refuse(name, "true or false", found)
        return found

    def text(self, name: str) -> str:
        found = self._get(name)
        if not isinstance(found, str):
            raise self._refuse(name, "a text", found)
        return found

    def texts(self, name: str) -> list[str]:
        return [str(each) for each in self._list(name)]

    def numbers(self, name: str) -> list[float]:
        listed = self._list(name)
        every = Record(
            f"{self.called}, {name}", {f"number {at}": each for at, each in enumerate(listed, 1)}
        )
        return [every.number(key) for key in every.fields]

    def record_or_none(self, name: str) -> Record | None:
        return None if self._get(name) is None else self.record(name)

    def record(self, name: str) -> Record:
        found = self._get(name)
        if not isinstance(found, Mapping):
            raise self._refuse(name, "an object", found)
        return Record(f"{self.called}, {name}", found)

    def records(self, name: str) -> list[Record]:
        listed = self._list(name)
        every = Record(self.called, {f"{name} {at}": each for at, each in enumerate(listed, 1)})
        return [every.record(key) for key in every.fields]

    def _list(self, name: str) -> list[Any]:
        found = self._get(name)
        if not isinstance(found, (list, tuple)):
            raise self._refuse(name, "a list", found)
        return list(found)
