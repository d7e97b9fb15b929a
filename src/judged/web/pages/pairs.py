"""Results of comparisons as pages show them: headings, and the panel of two systems."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.comparison.export import family_of, method_line
from judged.comparison.settings import TESTS
from judged.comparison.verdicts import OTHERWISE
from judged.comparison.wording import amount, percent_of, shown_margin, shown_p, with_sign
from judged.evaluation.ranges import difference_is_bounded
from judged.statistics.t import fewest_units
from judged.text import Bold, counted, listed, shown
from judged.web.pages.numbers import minus, shorten

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.settings import ComparisonSettings
    from judged.comparison.verdicts import Pair, Place
    from judged.evaluation.evaluation import Evaluation

MAX_NAMED = 3  # how many systems a heading names; more are counted
_QUERIES = ("query", "queries")


@dataclass(frozen=True)
class Heading:
    """A heading that states the result, and a line on how certain it is."""

    title: str
    parts: tuple[str, ...] = ()  # the line; parts that are `Bold` stand out

    @property
    def line(self) -> str:
        return "".join(self.parts)

    @property
    def marked(self) -> list[tuple[str, bool]]:
        """The parts of the line, and whether each stands out."""
        return [(str(part), isinstance(part, Bold)) for part in self.parts]


def without_options(text: str) -> str:
    """Return a warning without its references to options; pages have links instead."""
    return re.sub(r" \(see [\w, -]+\)", "", text)


def signed_amount(value: float) -> str:
    return with_sign(amount(value), value)


# -- who leads


def leading(evaluation: Evaluation, comparison: Comparison | None, measure: str) -> Heading:
    """State which system leads on a measure, by how much, and which ranks are uncertain."""
    if comparison is None:
        return _uncompared(evaluation, measure)
    places = comparison.leaderboard(measure)
    first, second = places[0], places[1]
    baseline = comparison.baseline
    if baseline is not None and first.run != baseline:
        second = next(place for place in places if place.run == baseline)
    if math.isnan(first.value):
        return Heading(f"No system has a value on {measure}")
    pair = _between(comparison, first.run, second.run, measure)
    higher = evaluation.labels[measure].spec.higher_is_better
    lead = _lead(pair, first.run, higher)
    name, other = shorten(first.run), shorten(second.run)
    apart = _uncertain_ranks(places)
    if baseline is not None and len(places) > 2:
        apart = f" Systems were compared with {shorten(baseline)} only."
    value = ("With ", Bold(amount(first.value)))
    line: tuple[str, ...]
    has_best = f"{name} has the {'highest' if higher else 'lowest'} {measure}"
    if lead[0] < 0:
        # Both have more queries than those they share, on which the order is another one.
        ahead = Bold(amount(-lead[0]))
        certain = f" ahead ({_certainty(pair, comparison, _turned(lead))})."
        line = (*value, f" it is first; on the queries of both {other} is ", ahead, certain, apart)
        return Heading(f"{has_best}, on other queries than {other}", line)
    if not pair.queries:
        return Heading(has_best, (*value, f"; it has no query in common with {other}.", apart))
    ahead = Bold(amount(lead[0]))
    certain = f"({_certainty(pair, comparison, lead)})."
    line = (*value, " it is ", ahead, f" ahead of {other} ", certain, apart)
    if first.rank_high == 1:
        return Heading(f"{name} leads on {measure}", line)
    if pair.verdict == "identical" and len(places) == 2:
        every = f", and the same value on all {counted(pair.queries, *_QUERIES)}."
        title = f"{name} and {other} have the same values on {measure}"
        return Heading(title, ("Both have ", Bold(amount(first.value)), every))
    title = f"{name} is first on {measure}"
    others = [place.run for place in places[1:] if place.rank_low == 1]
    if baseline is not None and first.run != baseline:
        if pair.verdict in ("better", "worse"):
            return Heading(f"{title}, significantly better than {shorten(baseline)}", line)
        others = [baseline]  # no other system was compared with the first
    if others:
        named = listed([shorten(run) for run in others])
        if len(others) > MAX_NAMED:
            named = counted(len(others), "other")
        title += f", not significantly better than {named}"
    return Heading(title, line)


Lead = tuple[float, float, float]
"""The lead of one system over another with its confidence interval; below 0 if it is worse."""


def _lead(pair: Pair, run: str, higher_is_better: bool) -> Lead:
    lead = pair.difference, pair.interval.low, pair.interval.high
    return lead if (pair.run == run) == higher_is_better else _turned(lead)


def _turned(lead: Lead) -> Lead:
    return 0.0 - lead[0], 0.0 - lead[2], 0.0 - lead[1]


def _uncompared(evaluation: Evaluation, measure: str) -> Heading:
    known = evaluation.labels[measure]
    numbers = [(run.summary[known], run) for run in evaluation.runs]
    valued = [(value, run) for value, run in numbers if not math.isnan(value)]
    if not valued:
        return Heading(f"No system has a value on {measure}")
    best = max if known.spec.higher_is_better else min
    value, run = best(valued, key=lambda pair: pair[0])
    queries = counted(len(run.rankings), *_QUERIES)
    certain = queries
    interval = run.intervals.get(known)
    if interval is not None and interval.known and evaluation.level is not None:
        certain = f"{_interval(evaluation.level, interval.low, interval.high)}, {queries}"
    if len(numbers) == 1:
        title = f"{shorten(run.name)} has {amount(value)} on {measure}"
        return Heading(title, (f"{certain[0].upper()}{certain[1:]}.",))
    if math.isinf(value):
        counts = f"{queries[0].upper()}{queries[1:]}."
        return Heading(f"No system has a finite {measure}", (counts,))
    extreme = "highest" if known.spec.higher_is_better else "lowest"
    line = ("With ", Bold(amount(value)), f" ({certain}). The lead was not tested.")
    return Heading(f"{shorten(run.name)} has the {extreme} {measure}", line)


def _interval(level: float, low: float, high: float) -> str:
    return f"{percent_of(level)} CI {amount(low)} to {amount(high)}"


def _between(comparison: Comparison, run: str, against: str, measure: str) -> Pair:
    """Return the row of two systems, whichever was compared with the other."""
    for row in comparison.rows:
        if row.measure == measure and {row.run, row.against} == {run, against}:
            return row
    return comparison.pair(run, against, measure)


def _certainty(pair: Pair, comparison: Comparison, lead: Lead) -> str:
    _, low, high = lead
    queries = counted(pair.queries, *_QUERIES)
    if math.isnan(low) or math.isnan(high):
        note = pair.interval.note
        return f"no confidence interval: {note}, {queries}" if note else queries
    text = f"{_interval(comparison.settings.level, low, high)}, {queries}"
    if low * high > 0 and pair.verdict == "not significant":
        among, _ = family_of(comparison)
        text += f"; significant on its own, but not among {among:,} comparisons"
    return text


def _uncertain_ranks(places: Sequence[Place]) -> str:
    """Name the ranks that do not differ significantly: neighbours whose ranks overlap."""
    groups: list[list[Place]] = []
    for place in places:
        if place.rank_low == place.rank_high:
            continue
        if groups and place.rank_low <= max(other.rank_high for other in groups[-1]):
            groups[-1].append(place)
        else:
            groups.append([place])
    if not groups:
        return ""
    spans = [(min(p.rank_low for p in group), max(p.rank_high for p in group)) for group in groups]
    named = listed([f"{low} to {high}" for low, high in spans])
    whole = all(
        (place.rank_low, place.rank_high) == span
        for group, span in zip(groups, spans, strict=True)
        for place in group
    )
    return f" Ranks {named} do not {'' if whole else 'all '}differ significantly."


# -- two systems


def verdict_heading(pair: Pair, settings: ComparisonSettings) -> Heading:
    """State the verdict on two systems, and how certain the difference is."""
    run, against, measure = shorten(pair.run), shorten(pair.against), pair.measure
    margin = shown_margin(settings.margin_of(measure))
    titles = {
        "better": f"{run} is significantly better than {against} on {measure}",
        "worse": f"{run} is significantly worse than {against} on {measure}",
        "equivalent": f"{run} and {against} differ by less than {margin} on {measure}",
        "not significant": f"No significant difference between {run} and {against} on {measure}",
        "too few": f"{_too_few(pair, settings)} to compare {run} with {against} on {measure}",
        "identical": f"{run} and {against} have the same values on {measure}",
    }
    queries = counted(pair.queries, *_QUERIES)
    if pair.verdict == "identical":
        return Heading(titles["identical"], (f"They have the same value on all {queries}.",))
    line: tuple[str, ...] = ("The difference is ", Bold(signed_amount(pair.difference)))
    low, high = pair.interval.low, pair.interval.high
    if math.isnan(low) or math.isnan(high):
        note = f": {pair.interval.note}" if pair.interval.note else ""
        line = (*line, f" on {queries}; it has no confidence interval{note}.")
    else:
        ends = (Bold(signed_amount(low)), " to ", Bold(signed_amount(high)))
        line = (*line, f" ({percent_of(settings.level)} CI ", *ends, f", {queries}).")
    if pair.verdict == "not significant" and pair.detectable is not None:
        power = percent_of(settings.power)
        line = (
            *line,
            f" A true difference of {amount(pair.detectable)} would be detected with {power} "
            "power.",
        )
    return Heading(titles[pair.verdict], line)


def _too_few(pair: Pair, settings: ComparisonSettings) -> str:
    units = "queries" if pair.groups is None else "groups"
    effective = pair.effective_units
    if effective is not None and effective < fewest_units(settings.level):
        return f"Too few {units} of equal weight"
    return f"Too few {units} differ"


def panel(
    comparison: Comparison,
    run: str | None = None,
    against: str | None = None,
    measure: str | None = None,
    *,
    places: Mapping[str, int] | None = None,
    unjudged: bool = False,
) -> dict[str, Any]:
    """Return the panel of two systems; `unjudged` if the comparison examined unjudged results."""
    pair = comparison.pair(run, against, measure)
    known = places or {name: at for at, name in enumerate(comparison.runs)}
    return {
        "pair": pair,
        "heading": verdict_heading(pair, comparison.settings),
        "place": known[pair.run],
        "against_place": known[pair.against],
        "facts": _facts(comparison, pair),
        "risks": _risks(comparison, pair, unjudged),
        "done": method_line(comparison),
        "notes": [without_options(text) for text in comparison._own_warnings()],
    }


def scale_of(pairs: Iterable[Pair]) -> tuple[float, float]:
    ends = [end for p in pairs for end in (p.difference, p.interval.low, p.interval.high)]
    finite = [0.0, *(end for end in ends if math.isfinite(end))]
    low, high = min(finite), max(finite)
    margin = (high - low) * 0.2 or 1.0
    return low - margin, high + margin


def _facts(comparison: Comparison, pair: Pair) -> list[tuple[str, str, str]]:
    settings = comparison.settings
    power, margin = percent_of(settings.power), settings.margin_of(pair.measure)
    facts = [
        (
            "effect size d_z",
            "–" if pair.effect is None else minus(shown(pair.effect, 2)),
            "The mean difference in standard deviations of the differences.",
        ),
        (
            f"{TESTS[pair.test]}, p",
            shown_p(pair.p),
            "The probability of a difference at least as large if there were none.",
        ),
        ("corrected p", shown_p(pair.corrected_p), "p, corrected for the number of comparisons."),
        (
            "detectable difference",
            "–" if pair.detectable is None else amount(pair.detectable),
            f"The smallest difference that would be detected with {power} power.",
        ),
    ]
    if pair.groups is not None:
        facts.append(("groups of queries", f"{pair.groups:,}", ""))
    if margin is not None:
        facts.append(("margin", f"{margin:g}", "The smallest difference that matters."))
    return facts


def _risks(
    comparison: Comparison, pair: Pair, examined: bool
) -> list[tuple[str, str, bool | None]]:
    """Return what could change the verdict: cause, sentence, and whether it could, if known."""
    if comparison.evaluation is None:
        return []
    runs = [comparison.evaluation.scored(name) for name in (pair.run, pair.against)]
    risks: list[tuple[str, str, bool | None]] = []
    if "ties" in pair.depends_on:
        risks.append(("ties", _clause(pair, "ties"), True))
    elif not any(run.audit.tied_results for run in runs):
        risks.append(("ties", "No judged result of either system is tied.", False))
    elif any("depends on ties was seen" in note for note in comparison.notes):
        says = "No order of ties that was tried changes the verdict; others may."
        risks.append(("ties", says, None))
    else:
        risks.append(("ties", "No order of ties changes the verdict.", False))
    if "missing" in pair.depends_on:
        risks.append(("missing", _clause(pair, "missing"), True))
    shares = [run.audit.judged_at_10 for run in runs]
    if "unjudged" not in pair.depends_on and all(part == 1 for part in shares):
        return risks
    percents = listed([f"{part:.0%}".replace("%", " %") for part in shares])
    judged = f"{percents} of the top-10 results are judged."
    measure = comparison.measure(pair.measure).measure
    if "unjudged" in pair.depends_on:
        risks.append(("unjudged", f"{_clause(pair, 'unjudged')} {judged}", True))
    elif not examined:
        says = f"{judged} The effect of unjudged results was not examined."
        risks.append(("unjudged", says, None))
    elif measure is None or not difference_is_bounded(measure, comparison.evaluation.policy):
        says = "Unjudged results do not change the verdict in two scenarios, which are no bounds."
        risks.append(("unjudged", f"{says} {judged}", None))
    else:
        says = f"Unjudged results cannot change the verdict. {judged}"
        risks.append(("unjudged", says, False))
    return risks


def _clause(pair: Pair, cause: str) -> str:
    """Return what the library's sentence on a pair says of one cause."""
    for sentence in pair.says.split(". "):
        if sentence.startswith(OTHERWISE[cause]):
            return f"{sentence.removesuffix('.')}."
    return ""
