"""What an address asks for, after its question mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from judged.errors import did_you_mean, quoted
from judged.web.errors import RefusedError

MOST = 1_000
"""So many parameters an address may have."""
FROM_DATA = (
    *("system", "against", "baseline", "of", "query", "item", "run", "judgements", "file", "name"),
    *("queries", "items", "query_labels", "item_labels", "query_ids", "item_ids"),
    *("slice", "slices", "sort", "range"),
)
"""Parameters that name what is in the files, where white space around a name belongs to it."""


@dataclass(frozen=True)
class Params:
    """The parameters of an address, in its order.

    >>> params = Params.read("measure=AP&measure=RR&depth=10")
    >>> params.all("measure"), params.one("depth"), params.one("sort", "name")
    (('AP', 'RR'), '10', 'name')
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, text: str) -> Params:
        """Parameters from the text of an address."""
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST)
        except ValueError:
            raise RefusedError(f"an address may have {MOST:,} parameters; this has more.") from None
        return cls(tuple((name, _clean(name, value)) for name, value in pairs))

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a parameter; empty ones are none."""
        return tuple(value for each, value in self.pairs if each == name and value != "")

    def one(self, name: str, default: str | None = None) -> str | None:
        """The value of a parameter that may stand there once."""
        values = self.all(name)
        if len(set(values)) > 1:
            raise RefusedError(f"{name} stands there {len(values)} times; give it once.", name)
        return values[0] if values else default

    def text(self, name: str, default: str = "") -> str:
        """As `one`, never None."""
        return self.one(name, default) or default

    def whole(
        self, name: str, default: int, *, at_least: int = 0, at_most: int | None = None
    ) -> int:
        """A whole number."""
        from judged.options import whole

        given = self.one(name)
        if given is None:
            return default
        digits = given.isascii() and given.isdigit() and len(given) < 20
        return whole(name, int(given) if digits else given, at_least=at_least, at_most=at_most)

    def number(self, name: str, default: float | None = None) -> float | None:
        """A finite number."""
        from judged.options import number

        given = self.one(name)
        if given is None:
            return default
        try:
            return number(name, float(given))
        except ValueError as error:
            raise RefusedError(
                f"{name} must be a finite number; got {quoted(given)}.", name
            ) from error

    def choice(self, name: str, known: Sequence[str], default: str) -> str:
        """One of a few words."""
        from judged.options import choice

        return choice(name, self.text(name, default), known)

    def flag(self, name: str) -> bool:
        """Whether a box is ticked: 1, or not there."""
        return self.choice(name, ("0", "1"), "0") == "1"

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Refuse parameters that the page does not have, with the nearest that it has."""
        names = list(known)
        for name, _ in self.pairs:
            if name not in names:
                raise RefusedError(
                    f"There is no parameter {quoted(name)} here{did_you_mean(name, names)}", name
                )

    def without(self, *names: str) -> Params:
        """The others."""
        return Params(tuple(pair for pair in self.pairs if pair[0] not in names))

    def with_(self, changes: Mapping[str, object]) -> Params:
        """Some of them changed: None takes one out, a list gives it several times."""
        pairs = list(self.pairs)
        for name, value in changes.items():
            at = next((at for at, pair in enumerate(pairs) if pair[0] == name), len(pairs))
            pairs = [pair for pair in pairs if pair[0] != name]
            if value is None:
                continue
            several = value if isinstance(value, (list, tuple)) else [value]
            pairs[at:at] = [(name, str(each)) for each in several]
        return Params(tuple(pairs))

    def __str__(self) -> str:
        return urlencode(self.pairs)


def _clean(name: str, value: str) -> str:
    """A value without half characters, and, where people type it, without white space around it."""
    whole = value.encode("utf-8", "replace").decode()
    return whole if name in FROM_DATA else whole.strip()
