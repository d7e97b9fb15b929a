"""The settings bar above a page, and what the last change of settings did to the numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any
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


def bar_of(visit: Visit, scoring: ScoringSettings) -> dict[str, Any]:
    in_bar = {*CHOICES, "convention", "depth", "duplicates", "was", "from", "grader"}
    workspace = visit.workspace
    judgements = workspace.judgements.name if workspace.judgements else ""
    graders = [(name, f"{judgements} with {name}’s grades", "") for name in workspace.annotators]
    hidden = [pair for pair in visit.params.pairs if pair[0] not in in_bar]
    begins, words = SHORT_DUPLICATES
    defaults = ScoringSettings(scoring.measures, {}, scoring.convention).policy.to_dict()
    was = scoring.was()
    changed = set() if was is None else set(scoring.changes(was))
    return {
        "path": visit.path,
        "hidden": [*hidden, ("was", urlencode(scoring.to_params()) or DEFAULTS)],
        "policy": [_clause(name, scoring, defaults[name], name in changed) for name in CHOICES],
        "conventions": [
            ("", "judged's own", ""),
            *((known.name, known.title, "") for known in conventions().values()),
        ],
        "convention": scoring.convention or "",
        "depth": "" if scoring.depth is None else str(scoring.depth),
        "duplicates_begin": begins,
        "duplicates": [(value, words[value], title) for value, title in DUPLICATES.items()],
        "chosen_duplicates": scoring.duplicates,
        "changed": changed,
        "graders": [("", judgements, ""), *graders] if graders and judgements else [],
        "grader": visit.params.text("grader"),
    }


def _clause(name: str, scoring: ScoringSettings, default: str, changed: bool) -> dict[str, Any]:
    """Return a clause of the policy sentence with its menu; the first value is the default."""
    begins, words = SHORT[name]
    title = "" if scoring.convention is None else find(scoring.convention).title
    first = f"{words[default]}, as {title} does" if title else words[default]
    chosen = scoring.chosen.get(name, "")
    others = [
        (value, f"{words[value]}, by choice" if value == default else words[value], says)
        for value, says in CHOICES[name].items()
        # Choosing the default of `missing` allows comparing runs that lack many queries.
        if value != default or title or value == chosen or name == "missing"
    ]
    choices = [("", first, ""), *others]
    return {
        "name": name,
        "begins": begins,
        "choices": choices,
        "chosen": chosen,
        "changed": changed,
    }


def change_of(visit: Visit) -> dict[str, Any] | None:
    """Return what the last change of settings did, and the way back; None without a change."""
    was, then = visit.scoring.was(), evaluation_before(visit)
    if then is None:
        return None
    sentences = _effects(then, visit.calculations.evaluation(visit.scoring))
    if was is None:
        name, grader = visit.workspace.judgements, visit.params.one("grader")
        shown = "" if name is None else name.name
        return {
            "what": [("Judgements", shown, f"{shown} with {grader}’s grades")],
            "sentences": sentences,
            "back": visit.url(grader=None, was=None),
            "way_back": f"Back to {shown}",
        }
    changes = [
        (name[:1].upper() + name[1:], *values)
        for name, *values in visit.scoring.changes(was).values()
    ]
    if not changes:
        return None
    address = urlencode([*was.to_params(), *visit.params.filled_without(*SCORING_NAMES)])
    words = f"“{changes[0][1]}”" if len(changes) == 1 else "the settings before"
    return {
        "what": changes,
        "sentences": sentences,
        "back": visit.path + (f"?{address}" if address else ""),
        "way_back": f"Back to {words}",
    }


def _effects(then: Evaluation, now: Evaluation) -> list[str]:
    """Return how many numbers moved, which one most, and whether the order changed."""
    moves: list[tuple[float, str]] = []
    orders = []
    old_measures = {str(measure): measure for measure in then.measures}
    for measure in now.measures:
        label = now.label(measure)
        known = then.labels.get(label) or old_measures.get(str(measure))
        if known is None:
            continue
        before = [run.summary[known] for run in then.runs]
        after = [run.summary[measure] for run in now.runs]
        for run, old, new in zip(now.runs, before, after, strict=True):
            # From or to an undefined value it moved most of all.
            same = old == new or (math.isnan(old) and math.isnan(new))
            size = 0.0 if same else math.inf if math.isnan(new - old) else abs(new - old)
            moves.append((size, f"{run.name} {label}: {old:.4f} → {new:.4f}"))
        if _order(before) != _order(after):
            orders.append(label)
    if not moves:
        return ["No number exists before and after the change."]
    moved, total = [move for move in moves if move[0]], counted(len(moves), "number")
    if not moved:
        return [f"None of {total} moved."]
    largest = max(moved, key=lambda move: move[0])[1]
    effect = f"{len(moved):,} of {total} moved, most of all {largest}."
    if len(now.runs) == 1:
        return [effect]
    if not orders:
        return [effect, "The order stayed as it was."]
    return [effect, f"The order changed by {', '.join(orders)}."]


def _order(values: list[float]) -> list[tuple[int, ...]]:
    """Return the places of values from the highest down, equal ones together."""
    keys = [math.inf if math.isnan(value) else -value for value in values]
    return [tuple(at for at, key in enumerate(keys) if key == level) for level in sorted(set(keys))]


def evaluation_before(visit: Visit) -> Evaluation | None:
    """Return the evaluation before the last change, or None without one."""
    was = visit.scoring.was()
    if was is None and visit.workspace.grades is None:
        return None
    try:
        if was is not None:
            return visit.calculations.evaluation(was)
        alone = replace(visit, params=visit.params.without("grader"))
        return alone.calculations.evaluation(visit.scoring)
    except StoppedError:
        raise
    except JudgedError:
        return None
