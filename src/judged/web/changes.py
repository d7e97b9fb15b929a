"""What a change of terms did to the numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from judged.errors import JudgedError
from judged.text import counted
from judged.web.errors import StoppedError
from judged.web.terms import NAMES, Terms

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.web.asked import Asked


@dataclass(frozen=True)
class Changed:
    """One thing that was changed, in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Move:
    """A number before and after."""

    system: str
    measure: str
    before: float
    after: float

    @property
    def size(self) -> float:
        """By how much it moved; what became or was no number moved furthest."""
        moved = abs(self.after - self.before)
        return math.inf if math.isnan(moved) else moved

    @property
    def moved(self) -> bool:
        """Whether it is another number now."""
        both = math.isnan(self.before) and math.isnan(self.after)
        return not both and self.before != self.after


@dataclass(frozen=True)
class Change:
    """What changed, what it did, and the way back."""

    what: tuple[Changed, ...]
    moves: tuple[Move, ...]
    """All numbers that are there before and after, moved or not."""
    orders: tuple[str, ...]
    """The measures by which the order of the systems changed."""
    compared: bool
    """Whether there are several systems, which have an order."""
    back: str

    @property
    def moved(self) -> tuple[Move, ...]:
        """The numbers that moved."""
        return tuple(move for move in self.moves if move.moved)

    @property
    def most(self) -> Move | None:
        """The number that moved most."""
        return max(self.moved, key=lambda move: move.size, default=None)

    @property
    def sentences(self) -> list[str]:
        """What the change did."""
        if not self.moves:
            return ["No number is there before and after."]
        number = len(self.moved)
        if not number:
            return [f"None of {counted(len(self.moves), 'number')} moved."]
        most = self.most
        assert most is not None
        said = [
            f"{number:,} of {counted(len(self.moves), 'number')} moved, most of all {most.system} "
            f"{most.measure}: {most.before:.4f} → {most.after:.4f}."
        ]
        if self.compared:
            by = f"The order changed by {', '.join(self.orders)}."
            said.append(by if self.orders else "The order stayed as it was.")
        return said

    @property
    def way_back(self) -> str:
        """What the link to the terms before is called."""
        one = self.what[0] if len(self.what) == 1 else None
        return "Back to the terms before" if one is None else f"Back to “{one.before}”"


def change_of(asked: Asked) -> Change | None:
    """What the last change of terms did; None where nothing was changed."""
    was, then = asked.terms.was(), before(asked)
    if was is None or then is None:
        return None
    after = asked.calculations.evaluation(asked.terms)
    what = tuple(
        Changed(name[:1].upper() + name[1:], old, new)
        for name, old, new in asked.terms.changes(was)
    )
    if not what:
        return None
    moves, orders = [], []
    old = {str(measure): measure for measure in then.measures}
    for measure in after.measures:
        known = then.labels.get(after.label(measure)) or old.get(str(measure))
        if known is None:
            continue
        label = after.label(measure)
        pairs = [
            Move(new.name, label, old_run.summary[known], new.summary[measure])
            for old_run, new in zip(then.runs, after.runs, strict=True)
        ]
        moves += pairs
        if _order([pair.before for pair in pairs]) != _order([pair.after for pair in pairs]):
            orders.append(label)
    several = len(after.runs) > 1
    return Change(what, tuple(moves), tuple(orders), several, _back(asked, was))


def _order(values: list[float]) -> list[tuple[int, ...]]:
    """The places of values from the greatest down, equal ones together."""
    keys = [math.inf if math.isnan(value) else -value for value in values]
    return [tuple(at for at, key in enumerate(keys) if key == level) for level in sorted(set(keys))]


def _back(asked: Asked, was: Terms) -> str:
    """The address with the terms before."""
    others = [pair for pair in asked.params.pairs if pair[0] not in NAMES and pair[1] != ""]
    text = urlencode([*was.to_params(), *others])
    return asked.path + (f"?{text}" if text else "")


def before(asked: Asked) -> Evaluation | None:
    """The numbers under the terms before the last change; None where nothing was changed, or where
    there were none, because these terms refuse the files."""
    was = asked.terms.was()
    if was is None:
        return None
    try:
        return asked.calculations.evaluation(was)
    except StoppedError:
        raise
    except JudgedError:
        return None
