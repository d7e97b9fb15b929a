"""What the API reads: the same objects that commands print as JSON."""

from __future__ import annotations

from typing import Any

from judged.web.api.endpoint import (
    ASSUMED,
    FILES,
    MEASURE,
    QUERY,
    SYSTEM,
    SYSTEMS,
    TERMS,
    Endpoint,
    Param,
    flag,
)
from judged.web.asked import Asked
from judged.web.errors import RefusedError
from judged.web.workspace import System

PAGE = 100
MOST = 10_000


def files(asked: Asked) -> dict[str, Any]:
    """All files, and what each is."""
    workspace = asked.workspace
    return {
        "files": [
            {
                "name": file.name,
                "kind": file.kind,
                "format": file.format or None,
                "size": file.size,
                "sent": file.uploaded,
                "note": file.note or None,
            }
            for file in workspace.files
        ],
        "judgements": None if workspace.judgements is None else workspace.judgements.name,
        "problems": [*workspace.problems, *([workspace.undecided] if workspace.undecided else [])],
    }


def systems(asked: Asked) -> dict[str, Any]:
    """The systems, in the order of their files."""
    asked.workspace.refuse_undecided()
    return {
        "systems": [
            {"name": each.name, "file": each.file.name, "place": each.place}
            for each in asked.workspace.systems
        ]
    }


def measures(asked: Asked) -> dict[str, Any]:
    """The registry of measures and presets, or some of them."""
    from judged.measures import bind, catalogue
    from judged.measures.entries import entries, presets_in
    from judged.measures.grammar import read_all
    from judged.measures.presets import ABOUT

    name = asked.params.one("name")
    if name is None:
        labels = {bind(spec, {}): spec.name for spec in catalogue()}
        return entries(labels, dict(ABOUT), chosen=False)
    presets, rest = presets_in(name)
    return entries(read_all(rest) if rest else {}, presets, chosen=True)


def evaluate(asked: Asked) -> dict[str, Any]:
    """What `judged evaluate` gives."""
    refuse_wrong_measures(asked)
    ranged = [asked.params.flag(name) for name in ("tie_range", "unjudged_range")]
    if any(ranged):
        found = asked.calculations.ranges(asked.terms)
    else:
        found = asked.calculations.evaluation(asked.terms, interval=asked.params.flag("interval"))
    return found.to_dict(per_query=asked.params.flag("per_query"))


def compare(asked: Asked) -> dict[str, Any]:
    """What `judged compare` gives."""
    refuse_wrong_measures(asked)
    names = asked.params.all("system")
    settings: dict[str, Any] = {
        name: value
        for name in ("test", "correction")
        if (value := asked.params.one(name)) is not None
    }
    return asked.calculations.comparison(
        asked.terms, baseline=asked.params.one("baseline"), systems=names or None, **settings
    ).to_dict()


def queries(asked: Asked) -> dict[str, Any]:
    """The values of each query, some queries at a time."""
    from judged.text import plain

    refuse_wrong_measures(asked)
    found = asked.calculations.evaluation(asked.terms, interval=False)
    ids = found.runs[0].about.queries
    first = asked.params.whole("from", 0)
    size = asked.params.whole("size", PAGE, at_least=1, at_most=MOST)
    return {
        "count": len(ids),
        "from": first,
        "queries": [
            {
                "query": ids[at],
                "values": {
                    run.name: {
                        run.label(measure): plain(float(values[at]))
                        for measure, values in run.values.items()
                    }
                    for run in found.runs
                },
            }
            for at in range(first, min(first + size, len(ids)))
        ],
    }


def query(asked: Asked) -> dict[str, Any]:
    """The results of each system for one query, with their grades."""
    from judged.text import plain

    refuse_wrong_measures(asked)
    name = needed(asked, "query")
    calculations = asked.calculations
    calculations.refuse_unknown_query(asked.terms, name)
    found = calculations.evaluation(asked.terms, interval=False)
    at = found.runs[0].about.queries.index(name)
    lists = []
    for run, system in zip(found.runs, asked.workspace.systems, strict=True):
        listing = calculations.listing(asked.terms, system.name, name)
        ranked = listing.rankings
        grade = dict(zip(ranked.hit_rank.tolist(), ranked.hit_grade.tolist(), strict=True))
        lists.append(
            {
                "system": system.name,
                "values": {
                    run.label(measure): plain(float(values[at]))
                    for measure, values in run.values.items()
                },
                "results": [
                    {"rank": rank, "item": item, "grade": grade.get(rank)}
                    for rank, item in listing.items.items()
                ],
                "not_retrieved": dict(listing.lost),
            }
        )
    return {"query": name, "lists": lists}


def explain(asked: Asked) -> dict[str, Any]:
    """What `judged explain` gives."""
    measure = asked.params.one("measure") or "AP"
    system, name = needed(asked, "system"), needed(asked, "query")
    return asked.calculations.explanation(asked.terms, system, name, measure).to_dict()


def conventions(asked: Asked) -> dict[str, Any]:
    """What `judged conventions` gives: of one library, of all, or all of them on a system."""
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.conventions.disagreement import compare_conventions
    from judged.conventions.disagreement.libraries import Libraries, Library

    name, system = asked.params.one("name"), asked.params.one("system")
    if system is None:
        return Library(find(name)).to_dict() if name else Libraries(known()).to_dict()
    calculations = asked.calculations
    return compare_conventions(
        calculations.judgements(),
        calculations.run(system),
        asked.params.all("measure") or None,
        depth=asked.terms.depth,
        duplicates=_duplicates(asked),
    ).to_dict()


def identify(asked: Asked) -> dict[str, Any]:
    """What `judged identify` gives."""
    from judged.conventions.identification import identify as found

    calculations = asked.calculations
    return found(
        needed(asked, "value"),
        calculations.judgements(),
        calculations.run(_system(asked).name),
        asked.params.all("measure") or None,
        depth=asked.terms.depth,
        duplicates=_duplicates(asked),
    ).to_dict()


def needed(asked: Asked, name: str) -> str:
    given = asked.params.one(name)
    if given is None:
        raise RefusedError(f"{name} is missing; say which.", name)
    return given


def _system(asked: Asked) -> System:
    """The system that is named, or the only one."""
    given, all_ = asked.params.one("system"), asked.workspace.systems
    if given is None and len(all_) != 1:
        raise RefusedError(f"say which system: {', '.join(each.name for each in all_)}.", "system")
    return all_[0] if given is None else asked.workspace.system(given)


def _duplicates(asked: Asked) -> Any:
    return asked.terms.duplicates


def refuse_wrong_measures(asked: Asked) -> None:
    """A page shows a wrong measure and goes on; a program is told."""
    for _, message in asked.terms.refused:
        raise RefusedError(message, "measure")


_SOME = (
    Param("from", "The number of the first query that is given, from 0.", "integer"),
    Param("size", f"How many are given, {PAGE} by default.", "integer"),
)
_OF_RUN = tuple(each for each in ASSUMED if each.name in ("depth", "duplicates"))

NUMBERS = (
    Endpoint("/api/files", "The files, and what each is.", files, FILES),
    Endpoint("/api/systems", "The systems, in the order of their files.", systems, FILES),
    Endpoint(
        "/api/measures",
        "The measures and presets, or some of them.",
        measures,
        (Param("name", "A measure or a preset, or several with commas."),),
    ),
    Endpoint(
        "/api/evaluate",
        "What judged evaluate gives as JSON.",
        evaluate,
        (
            *FILES,
            *TERMS,
            flag("interval", "Whether each number has its interval."),
            flag("tie_range", "Whether each number has its ranges of ties and unjudged results."),
            flag("unjudged_range", "The same."),
            flag("per_query", "Whether the values of all queries are there."),
        ),
    ),
    Endpoint(
        "/api/compare",
        "What judged compare gives as JSON.",
        compare,
        (
            *FILES,
            *TERMS,
            SYSTEMS,
            Param("baseline", "The system that all others are compared with."),
            Param("test", "Where p and interval come from."),
            Param("correction", "How p is corrected."),
        ),
    ),
    Endpoint("/api/queries", "The values of each query.", queries, (*FILES, *TERMS, *_SOME)),
    Endpoint(
        "/api/query",
        "The results of each system for one query, with grades and values.",
        query,
        (*FILES, *TERMS, QUERY),
    ),
    Endpoint(
        "/api/explain",
        "What judged explain gives as JSON.",
        explain,
        (*FILES, Param("measure", "One measure; AP by default."), *ASSUMED, SYSTEM, QUERY),
    ),
    Endpoint(
        "/api/conventions",
        "What judged conventions gives as JSON: all libraries, one of them, or all on a system.",
        conventions,
        (
            *FILES,
            Param("name", "The name of a library."),
            Param("system", "The system on which all of them are compared."),
            MEASURE,
            *_OF_RUN,
        ),
    ),
    Endpoint(
        "/api/identify",
        "What judged identify gives as JSON: which definitions give a number.",
        identify,
        (
            *FILES,
            Param("value", "The number as it was printed, as 0.4433.", needed=True),
            Param("system", "The system; not needed where there is one."),
            MEASURE,
            *_OF_RUN,
        ),
    ),
)
"""The numbers of runs."""
