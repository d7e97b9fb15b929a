"""The settings bar above a page, and what the last change of settings did to the numbers."""

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
    """An option of a menu."""

    value: str
    words: str
    title: str = ""


@dataclass(frozen=True)
class SettingsClause:
    """One clause of the policy sentence, with its menu."""

    name: str
    begins: str
    choices: tuple[MenuChoice, ...]
    chosen: str
    """Empty if the convention or the default decides."""
    changed: bool = False


@dataclass(frozen=True)
class SettingsBar:
    """The settings bar, as its template shows it."""

    path: str
    hidden: tuple[tuple[str, str], ...]
    """The other parameters of the address, and the settings before a change."""
    policy: tuple[SettingsClause, ...]
    conventions: tuple[MenuChoice, ...]
    convention: str
    depth: str
    duplicates_begin: str
    duplicates: tuple[MenuChoice, ...]
    chosen_duplicates: str
    changed: frozenset[str]


def bar_of(visit: Visit, scoring: ScoringSettings) -> SettingsBar:
    """Return the settings bar of a page."""
    in_bar = {*CHOICES, "convention", "depth", "duplicates", "was", "from"}
    hidden = [pair for pair in visit.params.pairs if pair[0] not in in_bar]
    hidden.append(("was", urlencode(scoring.to_params()) or DEFAULTS))
    begins, words = SHORT_DUPLICATES
    defaults = ScoringSettings(scoring.measures, {}, scoring.convention).policy.to_dict()
    was = scoring.was()
    changed = frozenset() if was is None else scoring.differing(was)
    libraries = [MenuChoice(known.name, known.title) for known in conventions().values()]
    return SettingsBar(
        visit.path,
        tuple(hidden),
        tuple(_clause(name, scoring, defaults[name], name in changed) for name in CHOICES),
        (MenuChoice("", "judged's own"), *libraries),
        scoring.convention or "",
        "" if scoring.depth is None else str(scoring.depth),
        begins,
        tuple(MenuChoice(value, words[value], title) for value, title in DUPLICATES.items()),
        scoring.duplicates,
        changed,
    )


def _clause(name: str, scoring: ScoringSettings, default: str, changed: bool) -> SettingsClause:
    begins, words = SHORT[name]
    title = "" if scoring.convention is None else find(scoring.convention).title
    first = MenuChoice("", f"{words[default]}, as {title} does" if title else words[default])
    chosen = scoring.chosen.get(name, "")
    others = [
        MenuChoice(value, f"{words[value]}, by choice" if value == default else words[value], says)
        for value, says in CHOICES[name].items()
        # Choosing the default of `missing` allows comparing runs that lack many queries.
        if value != default or title or value == chosen or name == "missing"
    ]
    return SettingsClause(name, begins, (first, *others), chosen, changed)


@dataclass(frozen=True)
class ChangedSetting:
    """A setting with its old and new value, in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ValueMove:
    """A number before and after a change."""

    system: str
    measure: str
    before: float
    after: float

    @property
    def size(self) -> float:
        """The size of the change; infinite from or to an undefined value."""
        moved = abs(self.after - self.before)
        return math.inf if math.isnan(moved) else moved

    @property
    def moved(self) -> bool:
        """Whether the number changed."""
        both_undefined = math.isnan(self.before) and math.isnan(self.after)
        return not both_undefined and self.before != self.after


@dataclass(frozen=True)
class SettingsChange:
    """The last change of settings, its effect, and the way back."""

    what: tuple[ChangedSetting, ...]
    moves: tuple[ValueMove, ...]
    """All numbers that exist before and after, changed or not."""
    orders: tuple[str, ...]
    """The measures by which the order of the systems changed."""
    compared: bool
    """Whether there are several systems."""
    back: str

    @property
    def moved(self) -> tuple[ValueMove, ...]:
        """The numbers that changed."""
        return tuple(move for move in self.moves if move.moved)

    @property
    def sentences(self) -> list[str]:
        """What the change did."""
        if not self.moves:
            return ["No number exists before and after the change."]
        total = counted(len(self.moves), "number")
        if not self.moved:
            return [f"None of {total} moved."]
        most = max(self.moved, key=lambda move: move.size)
        effect = (
            f"{len(self.moved):,} of {total} moved, most of all {most.system} "
            f"{most.measure}: {most.before:.4f} → {most.after:.4f}."
        )
        if not self.compared:
            return [effect]
        if not self.orders:
            return [effect, "The order stayed as it was."]
        return [effect, f"The order changed by {', '.join(self.orders)}."]

    @property
    def way_back(self) -> str:
        """The text of the link to the settings before."""
        if len(self.what) == 1:
            return f"Back to “{self.what[0].before}”"
        return "Back to the settings before"


def change_of(visit: Visit) -> SettingsChange | None:
    """Return what the last change of settings did; None if nothing was changed."""
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
    old_measures = {str(measure): measure for measure in then.measures}
    for measure in after.measures:
        label = after.label(measure)
        known = then.labels.get(label) or old_measures.get(str(measure))
        if known is None:
            continue
        pairs = [
            ValueMove(new.name, label, old.summary[known], new.summary[measure])
            for old, new in zip(then.runs, after.runs, strict=True)
        ]
        moves += pairs
        if _order([pair.before for pair in pairs]) != _order([pair.after for pair in pairs]):
            orders.append(label)
    others = visit.params.filled_without(*SCORING_NAMES)
    address = urlencode([*was.to_params(), *others])
    back = visit.path + (f"?{address}" if address else "")
    return SettingsChange(what, tuple(moves), tuple(orders), len(after.runs) > 1, back)


def _order(values: list[float]) -> list[tuple[int, ...]]:
    """Return the places of values from the highest down, equal ones together."""
    keys = [math.inf if math.isnan(value) else -value for value in values]
    return [tuple(at for at, key in enumerate(keys) if key == level) for level in sorted(set(keys))]


def evaluation_before(visit: Visit) -> Evaluation | None:
    """Return the evaluation before the last change; None if there is none or it is an error."""
    was = visit.scoring.was()
    if was is None:
        return None
    try:
        return visit.calculations.evaluation(was)
    except StoppedError:
        raise
    except JudgedError:
        return None
