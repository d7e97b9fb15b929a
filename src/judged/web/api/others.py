"""What the API reads besides the numbers of runs: annotators, charts, one list,
temperatures."""

from __future__ import annotations

from typing import Any

from judged.charts.kinds import KINDS
from judged.policy import CHOICES
from judged.web.api.endpoint import FILES, SYSTEMS, TERMS, Endpoint, Param
from judged.web.api.numbers import refuse_wrong_measures
from judged.web.asked import Asked, Raw
from judged.web.playground.examples import EXAMPLES
from judged.web.playground.state import CHOSEN
from judged.web.vectors.looked import Looked
from judged.web.vectors.searches import NAMES, Search
from judged.web.views import chart as charts


def agreement(asked: Asked) -> dict[str, Any]:
    """How far the annotators of the folder agree."""
    from judged.web.judging.judges import agreement_of

    return agreement_of(asked).to_dict()


def chart(asked: Asked) -> Raw:
    """A chart as a file: the drawing, or its data."""
    from dataclasses import replace

    refuse_wrong_measures(asked)
    form = asked.params.choice("format", tuple(charts.FORMATS), "svg")
    found = charts.page(replace(asked, params=asked.params.with_({"format": form})))
    assert isinstance(found, Raw)
    return found


def playground(asked: Asked) -> dict[str, Any]:
    """One list of grades by every measure, with the definitions of all libraries."""
    from judged.web.errors import RefusedError
    from judged.web.playground.answer import Answer
    from judged.web.playground.state import State

    state = State.of(asked.params)
    for _, message in state.refused:
        raise RefusedError(message, "add")
    return Answer(state).to_dict()


def sweep(asked: Asked) -> dict[str, Any]:
    """What each temperature makes of the scores of vectors."""
    search = Search.of(asked.params, asked.workspace, asked.cache)
    return Looked(asked, search).sweep(asked.params.one("query")).to_dict()


_DESIGN = (
    Param("width", "How wide the drawing is, in pixels.", "integer"),
    Param("height", "How high it is.", "integer"),
    Param("format", "What is given; svg by default.", choices=tuple(charts.FORMATS)),
)
_CHART = (
    Param("kind", "Which chart.", needed=True, choices=tuple(KINDS)),
    SYSTEMS,
    Param("against", "The system that the others are compared with."),
    Param("of", "Which relevant items, of charts that ask for it."),
    Param("file", "The study or sweep, of charts of temperatures."),
    Param("k", "How many results count.", "integer"),
    Param("rel", "The lowest grade that counts as relevant.", "number"),
    Param("query", "One query instead of all."),
    Param("bins", "How many bins scores are put into.", "integer"),
    Param("first", "How many are shown.", "integer"),
)
_LIST = (
    Param("list", 'The grades in rank order, as "0 1 0 - 1".'),
    Param("example", "One of the examples instead.", choices=tuple(EXAMPLES)),
    Param("relevant", "How many items are relevant in all.", "integer"),
    Param("pool", "The grades of all judged items, in any order."),
    Param("collection", "How many items there are to retrieve.", "integer"),
    Param("k", "How many results count, or all."),
    Param("grades", "The highest grade that can be clicked.", "integer"),
    Param("add", "Measures beside the usual ones.", several=True),
    Param("card", "The measure that libraries are compared on."),
    Param("before", "The list before the last change, as parameters."),
    *(
        Param(own, "; ".join(CHOICES[name].values()), choices=tuple(CHOICES[name]))
        for own, name in CHOSEN.items()
    ),
)
_SAYS = {
    "queries": "The file of the vectors of queries.",
    "items": "The file of the vectors of items.",
    "relevance": "What makes an item relevant.",
    "similarity": "How a query and an item are compared.",
    "normalise": "How scores are normalised.",
    "exclude": "What is left out.",
}

OTHERS = (
    Endpoint(
        "/api/agreement",
        "How far annotators agree: what judged agreement gives of their files.",
        agreement,
        (TERMS[-1],),
    ),
    Endpoint(
        "/api/charts",
        "A chart, as SVG or PNG, its data as CSV, or its Vega-Lite as JSON.",
        chart,
        (*FILES, *TERMS, *_CHART, *_DESIGN),
        gives=tuple(kind.partition(";")[0] for kind, _ in charts.FORMATS.values()),
    ),
    Endpoint(
        "/api/playground",
        "One list of grades by every measure, and the definitions of all libraries.",
        playground,
        _LIST,
    ),
    Endpoint(
        "/api/sweep",
        "What judged temperature gives as JSON, of vectors in the folder.",
        sweep,
        (
            *(Param(name, _SAYS.get(name, "A file of labels or ids.")) for name in NAMES),
            Param("query", "One query instead of all."),
            FILES[0],
        ),
    ),
)
"""Annotators, charts, one list, temperatures."""
