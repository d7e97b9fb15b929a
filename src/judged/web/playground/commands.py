"""What reproduces the numbers of the playground, for a terminal and for Python; and what opens one
query's list in it."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from judged.measures import Measure
from judged.policy import Policy
from judged.rankings.relevance import RelevanceList
from judged.web.playground.state import DEEPEST, MOST, State

if TYPE_CHECKING:
    from judged.rankings.rankings import Rankings


def shell(state: State) -> str:
    """The commands that print the chosen number, and what libraries call by its name."""
    listed, measure = quote(str(state.listed)), quote(str(state.chosen))
    options = "".join(f" --{name} {quote(str(value))}" for name, value in _options(state).items())
    chosen = "".join(f" --{name} {value}" for name, value in _policy(state).items())
    lines = [f"judged conventions {listed} -m {measure}{options}"]
    if not (state.policy.ties == "expected" and state.listed.tied):
        lines.insert(0, f"judged explain {listed} -m {measure}{options}{chosen}")
    return "\n".join(lines)


def python(state: State) -> str:
    """The same in Python, with all numbers of the page."""
    options = "".join(f", {name}={value!r}" for name, value in _options(state).items())
    policy = _policy(state)
    chosen = f", policy={policy!r}" if policy else ""
    measures = [str(measure) for measure in state.measures.values()]
    pool = ", pool=[pool]" if state.pool else ""
    counted = _options(state)
    counted.pop("pool", None)
    numbers = "".join(f", {name}={value!r}" for name, value in counted.items())
    lines = [
        "import judged",
        "",
        f"grades = {list(state.listed.grades)!r}",
        *([f"pool = {_pool(state.pool)!r}"] if state.pool else []),
        "rankings = judged.Rankings.from_relevance(",
        f"    [grades]{numbers}{pool}, tied={[list(state.listed.tied)]!r}",
        ")",
        f"print(rankings.evaluate({measures!r}{chosen}))",
        f"listed = {str(state.listed)!r}",
    ]
    measure = repr(str(state.chosen))
    if not (state.policy.ties == "expected" and state.listed.tied):
        lines.append(f"print(judged.explain(listed, measure={measure}{options}{chosen}))")
    lines.append(f"print(judged.compare_conventions(listed, measures={measure}{options}))")
    return "\n".join(lines)


def _pool(text: str) -> list[Any]:
    from judged.rankings.relevance import pool_list

    return pool_list(text)


def _options(state: State) -> dict[str, Any]:
    options = {
        "relevant": state.relevant,
        "pool": state.pool or None,
        "collection": state.collection,
    }
    return {name: value for name, value in options.items() if value is not None}


def _policy(state: State) -> dict[str, str]:
    usual = Policy().to_dict()
    return {name: value for name, value in state.policy.to_dict().items() if value != usual[name]}


def link_of(rankings: Rankings, measure: Measure | None = None) -> dict[str, str] | None:
    """The parameters of the playground with the list of one query, down to the first hundred
    results.

    Parameters
    ----------
    rankings : Rankings
        Of one query.
    measure : Measure, optional
        What is looked at closely there.

    Returns
    -------
    dict or None
        None where the list is empty, or judged by subtopic.

    >>> from judged import Rankings
    >>> link_of(Rankings.from_relevance([[0, 2, None]], relevant=[3]))
    {'list': '0 2 -', 'relevant': '3'}
    """
    length = min(int(rankings.retrieved[0]), MOST)
    if not length or rankings.subtopics is not None:
        return None
    at = dict(zip(rankings.hit_rank.tolist(), rankings.hit_grade.tolist(), strict=True))
    first, last = (each.tolist() for each in rankings.spans)
    ties = {(begin, min(end, length)) for begin, end in zip(first, last, strict=True)}
    listed = RelevanceList(
        tuple(at.get(rank) for rank in range(1, length + 1)),
        tuple(sorted(tie for tie in ties if tie[0] < tie[1])),
    )
    link = {"list": str(listed)}
    left = rankings.pool_grade.tolist()
    for grade in listed.grades:
        if grade is not None:
            left.remove(grade)
    if all(grade <= 0 or grade == 1 for grade in left):
        link["relevant"] = str(int((rankings.pool_grade > 0).sum()))
    else:
        link["pool"] = " ".join(f"{grade:g}" for grade in rankings.pool_grade.tolist())
    if rankings.ties in ("best", "worst", "expected") and listed.tied:
        link["list_ties"] = rankings.ties
    if measure is not None:
        k = measure.params.get("k")
        link |= {"add": str(measure), "k": str(k) if isinstance(k, int) and k <= DEEPEST else "all"}
    return link
