"""The bar of terms: the policy as a sentence, every part of which can be chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from judged.conventions import conventions, find
from judged.errors import JudgedError
from judged.policy import CHOICES, DUPLICATES, SHORT, SHORT_DUPLICATES
from judged.text import counted
from judged.web.errors import StoppedError
from judged.web.visit import DEFAULTS, SCORING_NAMES, ScoringSettings

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.web.visit import Visit


@dataclass(frozen=True)
class MenuChoice:
    """One thing that may be chosen."""

    value: str
    words: str
    title: str = ""


@dataclass(frozen=True)
class SettingsClause:
    """One part of the sentence."""

    name: str
    begins: str
    choices: tuple[MenuChoice, ...]
    chosen: str
    """What was chosen; empty where the convention or the library decides."""
    changed: bool = False
    """Whether the last change was about it."""


@dataclass(frozen=True)
class SettingsBar:
    """What the template shows."""

    path: str
    hidden: tuple[tuple[str, str], ...]
    """The other parameters of the address, and the terms before a change."""
    policy: tuple[SettingsClause, ...]
    conventions: tuple[MenuChoice, ...]
    convention: str
    depth: str
    duplicates_begin: str
    duplicates: tuple[MenuChoice, ...]
    chosen_duplicates: str
    changed: frozenset[str]
    """The names of what the last change was about."""


def bar_of(visit: Visit, scoring: ScoringSettings) -> SettingsBar:
    """The bar of a page under its terms."""
    from urllib.parse import urlencode

    own = {*CHOICES, "convention", "depth", "duplicates", "was", "from"}
    hidden = [pair for pair in visit.params.pairs if pair[0] not in own]
    hidden.append(("was", urlencode(scoring.to_params()) or DEFAULTS))
    words, choices = SHORT_DUPLICATES
    theirs = ScoringSettings(scoring.measures, {}, scoring.convention).policy.to_dict()
    was = scoring.was()
    changed = frozenset() if was is None else scoring.differing(was)
    return SettingsBar(
        visit.path,
        tuple(hidden),
        tuple(_part(name, scoring, theirs[name], name in changed) for name in CHOICES),
        (
            MenuChoice("", "judged's own"),
            *(MenuChoice(each.name, each.title) for each in conventions().values()),
        ),
        scoring.convention or "",
        "" if scoring.depth is None else str(scoring.depth),
        words,
        tuple(MenuChoice(value, choices[value], says) for value, says in DUPLICATES.items()),
        scoring.duplicates,
        changed,
    )


def _part(name: str, scoring: ScoringSettings, theirs: str, changed: bool) -> SettingsClause:
    begins, words = SHORT[name]
    # What nobody chose is the convention's, or usual: a choice without a value, that stands first.
    title = "" if scoring.convention is None else find(scoring.convention).title
    unsaid = MenuChoice("", f"{words[theirs]}, as {title} does" if title else words[theirs])
    chosen = scoring.chosen.get(name, "")
    known = tuple(
        MenuChoice(value, _sure(words[value]) if value == theirs else words[value], says)
        for value, says in CHOICES[name].items()
        # To choose the usual makes a difference where runs that lack many queries are compared.
        if value != theirs or title or value == chosen or name == "missing"
    )
    return SettingsClause(name, begins, (unsaid, *known), chosen, changed)


def _sure(words: str) -> str:
    return f"{words}, by choice"


@dataclass(frozen=True)
class ChangedSetting:
    """One thing that was changed, in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ValueMove:
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
class SettingsChange:
    """What changed, what it did, and the way back."""

    what: tuple[ChangedSetting, ...]
    moves: tuple[ValueMove, ...]
    """All numbers that are there before and after, moved or not."""
    orders: tuple[str, ...]
    """The measures by which the order of the systems changed."""
    compared: bool
    """Whether there are several systems, which have an order."""
    back: str

    @property
    def moved(self) -> tuple[ValueMove, ...]:
        """The numbers that moved."""
        return tuple(move for move in self.moves if move.moved)

    @property
    def most(self) -> ValueMove | None:
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


def change_of(visit: Visit) -> SettingsChange | None:
    """What the last change of terms did; None where nothing was changed."""
    was, then = visit.scoring.was(), evaluation_before(visit)
    if was is None or then is None:
        return None
    after = visit.calculations.evaluation(visit.scoring)
    what = tuple(
        ChangedSetting(name[:1].upper() + name[1:], old, new)
        for name, old, new in visit.scoring.changes(was)
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
            ValueMove(new.name, label, old_run.summary[known], new.summary[measure])
            for old_run, new in zip(then.runs, after.runs, strict=True)
        ]
        moves += pairs
        if _order([pair.before for pair in pairs]) != _order([pair.after for pair in pairs]):
            orders.append(label)
    several = len(after.runs) > 1
    return SettingsChange(what, tuple(moves), tuple(orders), several, _back(visit, was))


def _order(values: list[float]) -> list[tuple[int, ...]]:
    """The places of values from the greatest down, equal ones together."""
    keys = [math.inf if math.isnan(value) else -value for value in values]
    return [tuple(at for at, key in enumerate(keys) if key == level) for level in sorted(set(keys))]


def _back(visit: Visit, was: ScoringSettings) -> str:
    """The address with the terms before."""
    others = [pair for pair in visit.params.pairs if pair[0] not in SCORING_NAMES and pair[1] != ""]
    text = urlencode([*was.to_params(), *others])
    return visit.path + (f"?{text}" if text else "")


def evaluation_before(visit: Visit) -> Evaluation | None:
    """The numbers under the terms before the last change; None where nothing was changed, or where
    there were none, because these terms refuse the files."""
    was = visit.scoring.was()
    if was is None:
        return None
    try:
        return visit.calculations.evaluation(was)
    except StoppedError:
        raise
    except JudgedError:
        return None
