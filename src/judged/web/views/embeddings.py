"""Vectors: how well they search, what a temperature does to their scores, what is wrong with them,
and what they find, from the worst query to the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.embeddings.normalisation_kinds import NORMALISATIONS
from judged.embeddings.similarity.choice import SIMILARITIES
from judged.options import LEVEL
from judged.text import counted
from judged.web.asked import Command, Page
from judged.web.errors import UnpairedError
from judged.web.pages.cells import Cell as Number
from judged.web.vectors.looked import Looked, command_of, kept_of
from judged.web.vectors.parts import PARTS
from judged.web.vectors.searches import AS_THEY_ARE, EXCLUDED, NAMES, RELEVANCE, Search

if TYPE_CHECKING:
    from judged.web.asked import Asked

PARAMS = (*NAMES, "part", "temperature", "query", "from", "sort", "width")
"""What the address of this page may say, besides terms."""
NUMBERS = True


def page(asked: Asked) -> Page:
    """The numbers; or, as they take longer, one of the other parts."""
    part = asked.params.choice("part", ("all", *PARTS), "all")
    try:
        search = Search.of(asked.params, asked.workspace, asked.cache)
    except UnpairedError as error:
        return _which(asked, str(error))
    looked = Looked(asked, search)
    return PARTS[part](looked) if part in PARTS else _numbers(looked)


def _which(asked: Asked, why: str) -> Page:
    """Ask which files of vectors belong together."""
    options = {file.name: file.name for file in asked.workspace.vectors}
    selects = [
        {"name": name, "label": name, "options": options, "chosen": asked.params.text(name)}
        for name in ("queries", "items")
    ]
    context = {
        **{"line": why, "cards": [], "level": None, "notes": [], "parts": []},
        **{"selects": selects, "kept": kept_of(asked, *NAMES)},
    }
    return Page("embeddings.html", "Which vectors?", context, status=UnpairedError.status)


def _numbers(looked: Looked) -> Page:
    search, asked = looked.search, looked.asked
    evaluation, _ = looked.evaluated()
    scored = evaluation.scored()
    queries, items = looked.sides
    cards = [
        Number(
            label,
            scored.summary[measure],
            scored.intervals[measure].low,
            scored.intervals[measure].high,
        )
        for label, measure in evaluation.labels.items()
    ]
    relevant = next((each for each in scored.rankings.basis if each.startswith("relevant: ")), "")
    line = (
        f"{counted(len(queries), 'query vector')}, {counted(len(items), 'item vector')}, "
        f"{counted(items.dims, 'dimension')}. {relevant.capitalize()}. All items are ranked."
    )
    warned = [{"kind": "warn", "text": text} for text in evaluation.warnings()]
    if asked.terms.depth is not None:
        text = f"The depth of {asked.terms.depth:,} is about runs: here every item has its rank."
        warned.append({"kind": "warn", "text": text})
    return Page(
        "embeddings.html",
        f"{search.queries.name} against {search.items.name}, by {search.similarity}",
        {
            "line": line,
            "cards": cards,
            "level": evaluation.level,
            "notes": warned,
            "selects": _selects(looked),
            "kept": kept_of(asked, *NAMES),
            "parts": _parts(looked),
        },
        command=_evaluating(looked),
    )


def _evaluating(looked: Looked) -> Command:
    terms, search = looked.asked.terms, looked.search
    words = ["judged", "embeddings", *search.words(), "--interval"]
    words += [word for measure in terms.measures for word in ("-m", measure)]
    words += [word for name, value in terms.chosen.items() for word in (f"--{name}", value)]
    arguments = ["relevance", *([repr(terms.asked)] if terms.asked else []), "interval=True"]
    if terms.chosen:
        arguments.append(f"policy={dict(terms.chosen)!r}")
    if terms.convention is not None:
        words += ["--convention", terms.convention]
        arguments.append(f"convention={terms.convention!r}")
    if terms.level != LEVEL:
        words += ["--level", repr(terms.level)]
        arguments.append(f"level={terms.level!r}")
    return command_of(words, search, f"evaluation = embeddings.evaluate({', '.join(arguments)})")


def _parts(looked: Looked) -> list[list[dict[str, str]]]:
    """The parts that are loaded after the numbers, in two columns."""
    plain, studies = looked.search.plain, looked.asked.workspace.studies
    columns = [
        [("temperature", "Temperature", plain), ("gallery", "Gallery", True)],
        [
            ("scores", "Scores of relevant items and of others", plain),
            ("curves", "What temperature does", plain),
            ("study", "Studies of temperatures", bool(studies)),
        ],
    ]
    return [
        [
            {"title": title, "href": looked.asked.url(part=name)}
            for name, title, there in column
            if there
        ]
        for column in columns
    ]


def _selects(looked: Looked) -> list[dict[str, Any]]:
    """The controls: what each is called, what it may be, and what it is."""
    search, workspace = looked.search, looked.asked.workspace
    vectors = {file.name: file.name for file in workspace.vectors}
    lines = {file.name: file.name for file in workspace.labels}
    relevance = {
        name: words
        for name, words in RELEVANCE.items()
        if (name != "judgements" or workspace.judgements) and ("labels" not in name or lines)
    }
    found = [
        ("queries", "queries", vectors, search.queries.name),
        ("items", "items", vectors, search.items.name),
        ("similarity", "similarity", {name: name for name in SIMILARITIES}, search.similarity),
        (
            "normalise",
            "scores",
            {AS_THEY_ARE: "as they are", **{name: name for name in NORMALISATIONS}},
            search.normalise,
        ),
        ("relevance", "relevant", relevance, search.relevance),
        ("exclude", "left out", EXCLUDED, search.exclude),
    ]
    if "labels" in search.relevance:
        found += [
            (f"{side}_labels", f"labels of {words}", lines, file.name if file else "")
            for side, words, file in (
                ("query", "queries", search.query_labels),
                ("item", "items", search.item_labels),
            )
        ]
    return [
        {"name": name, "label": label, "options": options, "chosen": chosen}
        for name, label, options, chosen in found
    ]
