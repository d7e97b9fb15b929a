"""The JSON API under /api: the same results as commands with --format json, and OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from judged import __version__
from judged.charts.kinds import KINDS
from judged.errors import JudgedError
from judged.policy import CHOICES, DUPLICATES
from judged.text import plain, to_json
from judged.web.errors import GoneError, RefusedError, report_crash, status_of
from judged.web.views import chart
from judged.web.views.embeddings import SEARCH_PARAMS, VectorSearch
from judged.web.views.playground import EXAMPLES, POLICY_PARAMS, PlaygroundAnswer, PlaygroundState
from judged.web.visit import RawContent, Visit

if TYPE_CHECKING:
    from judged.evaluation.scores import Scored
    from judged.web.app import Explorer

QUERIES_PER_ANSWER = 100
MAX_QUERIES = 10_000
ERROR_STATUSES = {
    400: "a parameter is wrong",
    403: "no key, a foreign page, or a foreign name of this server",
    404: "a file, system or query that does not exist",
    409: "not possible at present: two files of one name, no judgements",
    413: "too large",
    422: "a file that cannot be read",
}
"""HTTP statuses of errors, with their meaning."""


def parameter(
    name: str,
    says: str,
    kind: str = "string",
    *,
    needed: bool = False,
    several: bool = False,
    choices: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Describe a parameter of an address in OpenAPI."""
    schema: dict[str, Any] = {"type": kind, **({"enum": list(choices)} if choices else {})}
    if several:
        schema = {"type": "array", "items": schema}
    return {
        "name": name,
        "in": "query",
        "description": says,
        "required": needed,
        "schema": schema,
    }


@dataclass(frozen=True)
class Endpoint:
    """An address of the API; the first line of the function's docstring is its description."""

    path: str
    answer: Callable[..., Any]
    """Takes a visit and returns JSON or a file; for POST, takes the explorer and the request."""
    params: tuple[dict[str, Any], ...] = ()
    method: str = "GET"
    gives: tuple[str, ...] = ("application/json",)  # the media types of its answers

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(param["name"] for param in self.params)

    def to_dict(self) -> dict[str, Any]:
        """Describe the address in OpenAPI."""
        raw = {"type": "string", "format": "binary"}
        ok = {kind: {"schema": {} if kind == "application/json" else raw} for kind in self.gives}
        error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        described: dict[str, Any] = {
            "summary": (self.answer.__doc__ or "").partition("\n")[0],
            "operationId": self.path.removeprefix("/api/"),
            "parameters": list(self.params),
            "responses": {
                "200": {"description": "done", "content": ok},
                **{
                    str(status): {"description": says, "content": error}
                    for status, says in ERROR_STATUSES.items()
                },
            },
        }
        if self.path.endswith("upload"):
            body = {"application/octet-stream": {"schema": raw}}
            described["requestBody"] = {"required": True, "content": body}
        return described


ENDPOINTS: dict[str, Endpoint] = {}  # all addresses except the description in OpenAPI


def endpoint(*params: dict[str, Any], **options: Any) -> Callable[..., Any]:
    """Declare the address /api/NAME of a function, with its parameters."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        path = f"/api/{function.__name__}"
        ENDPOINTS[path] = Endpoint(path, function, params, **options)
        return function

    return declare


FILES = (
    parameter("judgements", "The file of judgements, if there are several."),
    parameter("run", "The files of runs; all of them by default.", several=True),
)
MEASURE = parameter("measure", "A measure such as nDCG@10; several are allowed.", several=True)
ASSUMED = (
    *(
        parameter(
            name, "; ".join(f"{key}: {says}" for key, says in known.items()), choices=tuple(known)
        )
        for name, known in CHOICES.items()
    ),
    parameter("convention", "Score as another library does, such as ranx."),
    parameter("depth", "Only the first results of each list count.", "integer"),
    parameter("duplicates", "; ".join(DUPLICATES.values()), choices=tuple(DUPLICATES)),
)
OF_RUN = ASSUMED[-2:]
LEVEL = parameter("level", "The confidence level, such as 0.95.", "number")
SETTINGS = (MEASURE, *ASSUMED, LEVEL)
SYSTEMS = parameter("system", "Names of systems; all by default.", several=True)
QUERY = parameter("query", "The id of a query.", needed=True)
FILE_NAME = parameter("name", "The name of the file.", needed=True)


def flag(name: str, says: str) -> dict[str, Any]:
    return parameter(name, says, choices=("0", "1"))


def required(visit: Visit, name: str) -> str:
    """Return the value of a parameter; an error if it is missing."""
    value = visit.params.one(name)
    if value is None:
        raise RefusedError(f"{name} is missing; say which.", name)
    return value


def refuse_wrong_measures(visit: Visit) -> None:
    """Raise an error for unknown measures, which pages only mark."""
    for _, message in visit.scoring.refused:
        raise RefusedError(message, "measure")


@endpoint(*FILES)
def files(visit: Visit) -> dict[str, Any]:
    """Return all files and their kinds."""
    workspace = visit.workspace
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


@endpoint(*FILES)
def systems(visit: Visit) -> dict[str, Any]:
    """Return the systems, in the order of their files."""
    visit.workspace.refuse_undecided()
    return {
        "systems": [
            {"name": system.name, "file": system.file.name, "place": system.place}
            for system in visit.workspace.systems
        ]
    }


@endpoint(parameter("name", "A measure or a preset, or several with commas."))
def measures(visit: Visit) -> dict[str, Any]:
    """Return the registry of measures and presets, or some of them."""
    from judged.measures import bind, catalogue
    from judged.measures.measure import entries, presets_in, read_all
    from judged.measures.reference import ABOUT

    name = visit.params.one("name")
    if name is None:
        labels = {bind(spec, {}): spec.name for spec in catalogue()}
        return entries(labels, dict(ABOUT), chosen=False)
    presets, rest = presets_in(name)
    return entries(read_all(rest) if rest else {}, presets, chosen=True)


@endpoint(
    *FILES,
    *SETTINGS,
    flag("interval", "Whether to add confidence intervals."),
    flag("tie_range", "Whether to add the ranges of ties and unjudged results."),
    flag("unjudged_range", "The same as tie_range."),
    flag("per_query", "Whether to add the values of all queries."),
)
def evaluate(visit: Visit) -> dict[str, Any]:
    """Return what `judged evaluate` gives as JSON."""
    refuse_wrong_measures(visit)
    params, calculations = visit.params, visit.calculations
    if params.flag("tie_range") or params.flag("unjudged_range"):
        evaluation = calculations.ranges(visit.scoring)
    else:
        evaluation = calculations.evaluation(visit.scoring, interval=params.flag("interval"))
    return evaluation.to_dict(per_query=params.flag("per_query"))


@endpoint(
    *FILES,
    *SETTINGS,
    SYSTEMS,
    parameter("baseline", "The system that all others are compared with."),
    parameter("test", "The significance test."),
    parameter("correction", "The correction for several comparisons."),
)
def compare(visit: Visit) -> dict[str, Any]:
    """Return what `judged compare` gives as JSON."""
    refuse_wrong_measures(visit)
    params = visit.params
    tests: dict[str, Any] = {
        name: params.one(name) for name in ("test", "correction") if params.one(name)
    }
    comparison = visit.calculations.comparison(
        visit.scoring,
        baseline=params.one("baseline"),
        systems=params.all("system") or None,
        **tests,
    )
    return comparison.to_dict()


def _values(run: Scored, at: int) -> dict[str, Any]:
    return {run.label(measure): plain(float(column[at])) for measure, column in run.values.items()}


@endpoint(
    *FILES,
    *SETTINGS,
    parameter("from", "The number of the first query, from 0.", "integer"),
    parameter("size", f"How many queries, {QUERIES_PER_ANSWER} by default.", "integer"),
)
def queries(visit: Visit) -> dict[str, Any]:
    """Return the values of some queries at a time."""
    refuse_wrong_measures(visit)
    runs = visit.calculations.evaluation(visit.scoring, interval=False).runs
    ids = runs[0].rankings.queries
    first = visit.params.whole("from", 0)
    size = visit.params.whole("size", QUERIES_PER_ANSWER, at_least=1, at_most=MAX_QUERIES)
    return {
        "count": len(ids),
        "from": first,
        "queries": [
            {"query": ids[at], "values": {run.name: _values(run, at) for run in runs}}
            for at in range(first, min(first + size, len(ids)))
        ],
    }


@endpoint(*FILES, *SETTINGS, QUERY)
def query(visit: Visit) -> dict[str, Any]:
    """Return the results of each system for one query, with grades and values."""
    refuse_wrong_measures(visit)
    name = required(visit, "query")
    calculations = visit.calculations
    calculations.refuse_unknown_query(visit.scoring, name)
    runs = calculations.evaluation(visit.scoring, interval=False).runs
    lists = []
    for run in runs:
        listing = calculations.listing(visit.scoring, run.name, name)
        ranked = listing.rankings
        grades = dict(zip(ranked.hit_rank.tolist(), ranked.hit_grade.tolist(), strict=True))
        lists.append(
            {
                "system": run.name,
                "values": _values(run, runs[0].rankings.queries.index(name)),
                "results": [
                    {"rank": rank, "item": item, "grade": grades.get(rank)}
                    for rank, item in listing.items.items()
                ],
                "not_retrieved": dict(listing.lost),
            }
        )
    return {"query": name, "lists": lists}


@endpoint(
    *FILES,
    parameter("measure", "One measure; AP by default."),
    *ASSUMED,
    parameter("system", "The name of a system.", needed=True),
    QUERY,
)
def explain(visit: Visit) -> dict[str, Any]:
    """Return what `judged explain` gives as JSON."""
    measure = visit.params.one("measure") or "AP"
    system, name = required(visit, "system"), required(visit, "query")
    return visit.calculations.explanation(visit.scoring, system, name, measure).to_dict()


@endpoint(
    *FILES,
    parameter("name", "The name of a library."),
    parameter("system", "The system on which all libraries are compared."),
    MEASURE,
    *OF_RUN,
)
def conventions(visit: Visit) -> dict[str, Any]:
    """Return what `judged conventions` gives as JSON: all libraries, one, or all on a system."""
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.conventions.description import LibraryDescription, LibraryList
    from judged.conventions.disagreement import compare_conventions

    name, system = visit.params.one("name"), visit.params.one("system")
    if system is None:
        return LibraryDescription(find(name)).to_dict() if name else LibraryList(known()).to_dict()
    tables = visit.calculations.judgements(), visit.calculations.run(system)
    named = visit.params.all("measure") or None
    return compare_conventions(*tables, named, policy=visit.scoring.of_run).to_dict()


@endpoint(
    *FILES,
    parameter("value", "The number as it was printed, such as 0.4433.", needed=True),
    parameter("system", "The system; needed if there are several."),
    MEASURE,
    *OF_RUN,
)
def identify(visit: Visit) -> dict[str, Any]:
    """Return what `judged identify` gives as JSON: the definitions that give a number."""
    from judged.conventions.identification import identify as find_definitions

    value, name = required(visit, "value"), visit.params.one("system")
    names = [system.name for system in visit.workspace.systems]
    visit.workspace.refuse_undecided()
    if name is None and len(names) != 1:
        raise RefusedError(f"say which system: {', '.join(names)}.", "system")
    tables = visit.calculations.judgements(), visit.calculations.run(name or names[0])
    named = visit.params.all("measure") or None
    return find_definitions(value, *tables, named, policy=visit.scoring.of_run).to_dict()


@endpoint(LEVEL)
def agreement(visit: Visit) -> dict[str, Any]:
    """Return what `judged agreement` gives as JSON for the annotators of the folder."""
    from judged.web.views.judge import agreement_of

    return agreement_of(visit).to_dict()


@endpoint(
    *FILES,
    *SETTINGS,
    parameter("kind", "The kind of chart.", needed=True, choices=tuple(KINDS)),
    SYSTEMS,
    parameter("against", "The system that the others are compared with."),
    parameter("of", "The measure, or which relevant items."),
    parameter("file", "The study or sweep, for charts of temperatures."),
    parameter("k", "How many results count.", "integer"),
    parameter("rel", "The lowest grade that counts as relevant.", "number"),
    parameter("query", "One query instead of all."),
    parameter("bins", "The number of bins of scores.", "integer"),
    parameter("first", "How many are shown.", "integer"),
    parameter("width", "The width in pixels.", "integer"),
    parameter("height", "The height in pixels.", "integer"),
    parameter("format", "The format; svg by default.", choices=tuple(chart.FORMATS)),
    gives=tuple(kind.partition(";")[0] for kind, _ in chart.FORMATS.values()),
)
def charts(visit: Visit) -> RawContent:
    """Return a chart as SVG or PNG, its data as CSV, or its Vega-Lite as JSON."""
    refuse_wrong_measures(visit)
    form = visit.params.choice("format", tuple(chart.FORMATS), "svg")
    content = chart.page(replace(visit, params=visit.params.with_({"format": form})))
    assert isinstance(content, RawContent)
    return content


@endpoint(
    parameter("list", 'The grades in rank order, such as "0 1 0 - 1".'),
    parameter("example", "One of the examples instead.", choices=tuple(EXAMPLES)),
    parameter("relevant", "The number of relevant items.", "integer"),
    parameter("pool", "The grades of all judged items, in any order."),
    parameter("collection", "The number of items that could be retrieved.", "integer"),
    parameter("k", "How many results count, or all."),
    parameter("grades", "The highest grade that can be clicked.", "integer"),
    parameter("add", "Further measures.", several=True),
    parameter("card", "The measure that libraries are compared on."),
    parameter("before", "The list before the last change, as parameters."),
    *(
        parameter(param, "; ".join(CHOICES[name].values()), choices=tuple(CHOICES[name]))
        for param, name in POLICY_PARAMS.items()
    ),
)
def playground(visit: Visit) -> dict[str, Any]:
    """Return one list of grades by every measure, with the values of all libraries."""
    state = PlaygroundState.of(visit.params)
    for _, message in state.refused:
        raise RefusedError(message, "add")
    return PlaygroundAnswer(state).to_dict()


_SEARCH_WORDS = {
    "queries": "The file of the vectors of queries.",
    "items": "The file of the vectors of items.",
    "relevance": "What makes an item relevant.",
    "similarity": "How a query and an item are compared.",
    "normalise": "How scores are normalised.",
    "exclude": "What is left out.",
}


@endpoint(
    *(
        parameter(name, _SEARCH_WORDS.get(name, "A file of labels or ids."))
        for name in SEARCH_PARAMS
    ),
    parameter("query", "One query instead of all."),
    FILES[0],
)
def sweep(visit: Visit) -> dict[str, Any]:
    """Return what `judged temperature` gives as JSON for vectors of the folder."""
    return VectorSearch.of(visit).sweep(visit.params.one("query")).to_dict()


@endpoint(FILE_NAME, method="POST")
async def upload(explorer: Explorer, request: Request) -> Response:
    """Receive a file as the body; only the sender sees it, until the server stops."""
    visit = explorer.visit(request)
    visit.params.refuse_unknown(("name",))
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise RefusedError("send the file itself as the body, not a form.", "Content-Type")
    received = await explorer.uploads.receive(
        visit.session,
        visit.params.one("name"),
        request.headers.get("content-length"),
        request.stream(),
    )
    try:
        file = await run_in_threadpool(explorer.uploads.looked_at, received)
        visit.session.add(file, explorer.library)
    except BaseException:
        received.path.unlink(missing_ok=True)
        raise
    finally:
        explorer.uploads.arrived(visit.session, received.size)
    shown = {"name": file.name, "kind": file.kind, "says": file.says, "size": file.size}
    return JSONResponse({**shown, "note": file.note or None})


@endpoint(FILE_NAME, flag("back", "1 to be led back to the page of files."), method="POST")
async def remove(explorer: Explorer, request: Request) -> Response:
    """Remove an uploaded file; those of the folder stay."""
    visit = explorer.visit(request)
    visit.params.refuse_unknown(("name", "back"))
    name = visit.params.text("name")
    file = visit.session.uploads.pop(name, None)
    if file is None:
        known = ", ".join(visit.session.uploads) or "none"
        raise GoneError(f"no file {name!r} was sent from here; there is {known}.", "name")
    file.path.unlink(missing_ok=True)
    explorer.cache.forget(lambda key: str(file.path) in str(key[0]))
    if visit.params.flag("back"):
        return RedirectResponse("/files", 303)
    return JSONResponse({"removed": name})


def routes(explorer: Explorer) -> list[Route]:
    known_routes = [
        Route(
            known.path,
            partial(known.answer, explorer)
            if known.method == "POST"
            else partial(read, explorer, known),
            methods=[known.method],
        )
        for known in ENDPOINTS.values()
    ]
    return [*known_routes, Route("/api/openapi.json", describe, methods=["GET"])]


async def read(explorer: Explorer, endpoint: Endpoint, request: Request) -> Response:
    """Answer a request; equal requests at the same time are answered once."""
    visit = explorer.visit(request)
    key = "api", visit.session.id, visit.path, visit.params
    job = explorer.jobs.start(key, visit.session.id, partial(answer, endpoint, visit))
    await job.wait(None)
    response: Response = explorer.jobs.finish(job)
    return response


def answer(endpoint: Endpoint, visit: Visit) -> Response:
    """Return the answer of an address, or its error."""
    try:
        visit.params.refuse_unknown(endpoint.names)
        content = endpoint.answer(visit)
    except JudgedError as error:
        return refuse(error)
    except Exception as error:
        return broken(error)
    if isinstance(content, RawContent):
        return Response(content.content, content.status, media_type=content.media_type)
    return Response(to_json(content), media_type="application/json")


def refuse(error: JudgedError) -> Response:
    where = getattr(error, "where", None)
    return JSONResponse({"error": str(error), "where": where}, status_of(error))


def broken(error: Exception) -> Response:
    return JSONResponse({"error": report_crash(error), "where": None}, 500)


async def describe(request: Request) -> Response:
    return JSONResponse(openapi())


def openapi() -> dict[str, Any]:
    """Describe the API in OpenAPI, from its addresses."""
    error = {
        "type": "object",
        "required": ["error", "where"],
        "properties": {
            "error": {"type": "string", "description": "What is wrong, and what to do."},
            "where": {
                "type": ["string", "null"],
                "description": "The parameter or header that it is about.",
            },
        },
    }
    key = {"type": "apiKey", "in": "header", "name": "X-Judged-Key"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "judged", "version": __version__},
        "paths": {
            path: {known.method.lower(): known.to_dict()} for path, known in ENDPOINTS.items()
        },
        "components": {"schemas": {"Error": error}, "securitySchemes": {"key": key}},
        "security": [{"key": []}],
    }
