"""The judges of a folder: what each annotator gave, how far they agree, and what that does to the
leaderboard."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from judged.web.jobs import progress_of_this_work
from judged.web.judging.desk import home_of, log_of, measure_of

from judged.judgements.annotators import SETTLED, annotators_in
from judged.web.errors import ConflictError

if TYPE_CHECKING:
    from judged.web.asked import Asked

    from judged.judgements.agreement import Agreement
    from judged.judgements.leaderboards import Leaderboards

Grades = dict[str, dict[str, int]]
MERGED = "all, settled first"
"""What the majority of annotators is called where differences were settled; no name has spaces."""


def judges_of(asked: Asked) -> dict[str, Grades]:
    """What each annotator gave, of those who gave something."""
    logs = {name: log_of(asked, name) for name in annotators_in(home_of(asked))}
    return {name: log.grades for name, log in logs.items() if log.grades}


def settled_of(asked: Asked) -> Grades:
    """What settles differences."""
    return log_of(asked, SETTLED).grades


def agreement_of(asked: Asked) -> Agreement:
    """What `judged.agreement` gives of all annotators."""
    from judged.judgements.agreement import agreement

    judges = judges_of(asked)
    if len(judges) < 2:
        there = f"only {next(iter(judges))} has" if judges else "nobody has"
        raise ConflictError(
            f"Agreement is of two annotators or more, and {there} judged here yet. Judge under "
            "another name."
        )
    level = asked.terms.level

    def made() -> Agreement:
        progress_of_this_work().say("Comparing annotators")
        return agreement(judges, level=level)

    key = "agreement", tuple((name, _identity(given)) for name, given in judges.items()), level
    found: Agreement = asked.cache.get(key, made)
    return found


def _identity(grades: Grades) -> tuple[Any, ...]:
    return tuple((query, *each.items()) for query, each in grades.items())


def overlaid(asked: Asked, grades: Grades) -> Any:
    """The judgements of the collection with grades put over them; the grades alone where there are
    no others."""
    from judged.judgements.merge import merge_judgements

    if asked.workspace.undecided:
        return grades
    base = asked.calculations.judgements()
    if not grades:
        return base
    return merge_judgements({"grades": grades, "collection": base}, rule="first")


def leaderboards_of(asked: Asked) -> Leaderboards:
    """The systems under each annotator: with the grades of each put over the judgements of the
    collection."""

    from judged.judgements.leaderboards import leaderboards_of as found_under

    calculations, terms = asked.calculations, asked.terms
    judges, settled = judges_of(asked), settled_of(asked)

    def made() -> Leaderboards:
        runs = {each.name: calculations.run(each.name) for each in calculations.systems}
        under = {name: overlaid(asked, given) for name, given in judges.items()}
        if settled:
            under[MERGED] = merged(asked, "majority", settled=True, collection=True)
        progress_of_this_work().say("Comparing systems under each annotator")
        shared = set.intersection(*(set(each.names()) for each in under.values()))
        queries = [query for query in next(iter(under.values())).names() if query in shared]
        options = terms.options()
        comparing = {"level": terms.level}
        measure = measure_of(asked)
        return found_under(under, queries, runs, measure, comparing=comparing, scoring=options)

    given = {**judges, MERGED: settled}
    held = tuple((name, _identity(grades)) for name, grades in given.items())
    found: Leaderboards = asked.cache.get(
        ("boards", asked.workspace.identity, terms.key, held), made
    )
    return found


def merged(asked: Asked, rule: str, *, settled: bool, collection: bool) -> Any:
    """All annotators made one by a rule; what was settled counts before that, and the judgements of
    the collection after it, where they are wanted."""
    from judged.judgements.merge import merge_judgements

    judges = judges_of(asked)
    if not judges:
        raise ConflictError("Nobody has judged here yet, so there is nothing to merge.")
    found: Any = judges[next(iter(judges))]
    if len(judges) > 1:
        found = merge_judgements(judges, rule=rule)
    first = partial(merge_judgements, rule="first")
    if settled and (own := settled_of(asked)):
        found = first({SETTLED: own, "merged": found})
    if collection and not asked.workspace.undecided:
        found = first({"merged": found, "collection": asked.calculations.judgements()})
    return found
