"""The JSON API under /api: the same results as commands with --format json, and OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from judged.text import to_json
from judged.web.errors import GoneError, RefusedError, report_crash, status_of
from judged.web.playground import EXAMPLES, POLICY_PARAMS
from judged.web.searches import SEARCH_PARAMS, VectorSearch
from judged.web.views import chart as charts
from judged.web.views.embeddings import SearchResults
from judged.web.visit import RawContent, Visit
from judged.web.workspace import EvaluatedSystem

if TYPE_CHECKING:
    from judged.web.app import Explorer
    from judged.web.files import DataFile


ApiAnswer = dict[str, Any] | list[Any] | RawContent


@dataclass(frozen=True)
class ApiParameter:
    """A parameter of an address."""

    name: str
    says: str
    kind: str = "string"
    needed: bool = False
    several: bool = False
    choices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the parameter in OpenAPI."""
        one: dict[str, Any] = {"type": self.kind}
        if self.choices:
            one["enum"] = list(self.choices)
        schema = {"type": "array", "items": one} if self.several else one
        return {
            "name": self.name,
            "in": "query",
            "description": self.says,
            "required": self.needed,
            "schema": schema,
        }


@dataclass(frozen=True)
class Endpoint:
    """An address of the API."""

    path: str
    says: str
    answer: Callable[[Visit], ApiAnswer]
    params: tuple[ApiParameter, ...] = ()
    method: str = "GET"
    gives: tuple[str, ...] = ("application/json",)
    """The media types of its answers."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(param.name for param in self.params)

    def to_dict(self) -> dict[str, Any]:
        """Return the address in OpenAPI."""
        ok: dict[str, Any] = {kind: {"schema": _schema(kind)} for kind in self.gives}
        errors = {
            str(status): {"description": says, "content": {"application/json": _ERROR}}
            for status, says in ERROR_STATUSES.items()
        }
        found: dict[str, Any] = {
            "summary": self.says,
            "operationId": self.path.removeprefix("/api/").replace("/", "_").replace(".", "_"),
            "parameters": [param.to_dict() for param in self.params],
            "responses": {"200": {"description": "done", "content": ok}, **errors},
        }
        if self.method == "POST" and self.path.endswith("upload"):
            raw = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
            found["requestBody"] = {"required": True, "content": raw}
        return found


ERROR_STATUSES = {
    400: "a parameter is wrong",
    403: "no key, a foreign page, or a foreign name of this server",
    404: "a file, a system or a query that is not there",
    409: "not possible as things are: two files of one name, no judgements",
    413: "too large",
    422: "a file that cannot be read",
}
"""HTTP statuses of errors, with their meaning."""
_ERROR = {"schema": {"$ref": "#/components/schemas/Error"}}


def _schema(kind: str) -> dict[str, Any]:
    return {} if kind == "application/json" else {"type": "string", "format": "binary"}


FILES = (
    ApiParameter("judgements", "The file of judgements, where several may be meant."),
    ApiParameter("run", "The files of runs; all of them by default.", several=True),
)
MEASURE = ApiParameter("measure", "A measure such as nDCG@10; several are allowed.", several=True)
ASSUMED = (
    *(
        ApiParameter(
            name, "; ".join(f"{key}: {says}" for key, says in known.items()), choices=tuple(known)
        )
        for name, known in CHOICES.items()
    ),
    ApiParameter("convention", "Score as another library does, such as ranx."),
    ApiParameter("depth", "Only the first results of each list count.", "integer"),
    ApiParameter("duplicates", "; ".join(DUPLICATES.values()), choices=tuple(DUPLICATES)),
)
TERMS = (MEASURE, *ASSUMED, ApiParameter("level", "The level of intervals, as 0.95.", "number"))
SYSTEM = ApiParameter("system", "The name of a system.", needed=True)
SYSTEMS = ApiParameter("system", "Names of systems; all by default.", several=True)
QUERY = ApiParameter("query", "The id of a query.", needed=True)


def flag(name: str, says: str) -> ApiParameter:
    """Return a parameter that is 0 or 1."""
    return ApiParameter(name, says, choices=("0", "1"))


QUERIES_PER_ANSWER = 100
MAX_QUERIES = 10_000


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


def systems(visit: Visit) -> dict[str, Any]:
    """Return the systems, in the order of their files."""
    visit.workspace.refuse_undecided()
    return {
        "systems": [
            {"name": each.name, "file": each.file.name, "place": each.place}
            for each in visit.workspace.systems
        ]
    }


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


def evaluate(visit: Visit) -> dict[str, Any]:
    """Return what `judged evaluate` gives."""
    refuse_wrong_measures(visit)
    ranged = [visit.params.flag(name) for name in ("tie_range", "unjudged_range")]
    if any(ranged):
        found = visit.calculations.ranges(visit.scoring)
    else:
        found = visit.calculations.evaluation(visit.scoring, interval=visit.params.flag("interval"))
    return found.to_dict(per_query=visit.params.flag("per_query"))


def compare(visit: Visit) -> dict[str, Any]:
    """Return what `judged compare` gives."""
    refuse_wrong_measures(visit)
    names = visit.params.all("system")
    settings: dict[str, Any] = {
        name: value
        for name in ("test", "correction")
        if (value := visit.params.one(name)) is not None
    }
    return visit.calculations.comparison(
        visit.scoring, baseline=visit.params.one("baseline"), systems=names or None, **settings
    ).to_dict()


def queries(visit: Visit) -> dict[str, Any]:
    """Return the values of some queries at a time."""
    from judged.text import plain

    refuse_wrong_measures(visit)
    found = visit.calculations.evaluation(visit.scoring, interval=False)
    ids = found.runs[0].rankings.queries
    first = visit.params.whole("from", 0)
    size = visit.params.whole("size", QUERIES_PER_ANSWER, at_least=1, at_most=MAX_QUERIES)
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


def query(visit: Visit) -> dict[str, Any]:
    """Return the results of each system for one query, with their grades."""
    from judged.text import plain

    refuse_wrong_measures(visit)
    name = needed(visit, "query")
    calculations = visit.calculations
    calculations.refuse_unknown_query(visit.scoring, name)
    found = calculations.evaluation(visit.scoring, interval=False)
    at = found.runs[0].rankings.queries.index(name)
    lists = []
    for run, system in zip(found.runs, visit.workspace.systems, strict=True):
        listing = calculations.listing(visit.scoring, system.name, name)
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


def explain(visit: Visit) -> dict[str, Any]:
    """Return what `judged explain` gives."""
    measure = visit.params.one("measure") or "AP"
    system, name = needed(visit, "system"), needed(visit, "query")
    return visit.calculations.explanation(visit.scoring, system, name, measure).to_dict()


def conventions(visit: Visit) -> dict[str, Any]:
    """Return what `judged conventions` gives."""
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.conventions.description import LibraryDescription, LibraryList
    from judged.conventions.disagreement import compare_conventions

    name, system = visit.params.one("name"), visit.params.one("system")
    if system is None:
        return LibraryDescription(find(name)).to_dict() if name else LibraryList(known()).to_dict()
    calculations = visit.calculations
    return compare_conventions(
        calculations.judgements(),
        calculations.run(system),
        visit.params.all("measure") or None,
        policy={"depth": visit.scoring.depth, "duplicates": _duplicates(visit)},
    ).to_dict()


def identify(visit: Visit) -> dict[str, Any]:
    """Return what `judged identify` gives."""
    from judged.conventions.identification import identify as found

    calculations = visit.calculations
    return found(
        needed(visit, "value"),
        calculations.judgements(),
        calculations.run(_named_system(visit).name),
        visit.params.all("measure") or None,
        policy={"depth": visit.scoring.depth, "duplicates": _duplicates(visit)},
    ).to_dict()


def needed(visit: Visit, name: str) -> str:
    given = visit.params.one(name)
    if given is None:
        raise RefusedError(f"{name} is missing; say which.", name)
    return given


def _named_system(visit: Visit) -> EvaluatedSystem:
    """Return the named system, or the only one."""
    given, all_ = visit.params.one("system"), visit.workspace.systems
    if given is None and len(all_) != 1:
        raise RefusedError(f"say which system: {', '.join(each.name for each in all_)}.", "system")
    return all_[0] if given is None else visit.workspace.system(given)


def _duplicates(visit: Visit) -> Any:
    return visit.scoring.duplicates


def refuse_wrong_measures(visit: Visit) -> None:
    """Raise an error for unknown measures, which pages only mark."""
    for _, message in visit.scoring.refused:
        raise RefusedError(message, "measure")


_SOME = (
    ApiParameter("from", "The number of the first query that is given, from 0.", "integer"),
    ApiParameter("size", f"How many are given, {QUERIES_PER_ANSWER} by default.", "integer"),
)
_OF_RUN = tuple(each for each in ASSUMED if each.name in ("depth", "duplicates"))

NUMBERS = (
    Endpoint("/api/files", "The files, and what each is.", files, FILES),
    Endpoint("/api/systems", "The systems, in the order of their files.", systems, FILES),
    Endpoint(
        "/api/measures",
        "The measures and presets, or some of them.",
        measures,
        (ApiParameter("name", "A measure or a preset, or several with commas."),),
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
            ApiParameter("baseline", "The system that all others are compared with."),
            ApiParameter("test", "Where p and interval come from."),
            ApiParameter("correction", "How p is corrected."),
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
        (*FILES, ApiParameter("measure", "One measure; AP by default."), *ASSUMED, SYSTEM, QUERY),
    ),
    Endpoint(
        "/api/conventions",
        "What judged conventions gives as JSON: all libraries, one of them, or all on a system.",
        conventions,
        (
            *FILES,
            ApiParameter("name", "The name of a library."),
            ApiParameter("system", "The system on which all of them are compared."),
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
            ApiParameter("value", "The number as it was printed, as 0.4433.", needed=True),
            ApiParameter("system", "The system; not needed where there is one."),
            MEASURE,
            *_OF_RUN,
        ),
    ),
)


def agreement(visit: Visit) -> dict[str, Any]:
    """Return the agreement of the folder's annotators."""
    from judged.web.judging import agreement_of

    return agreement_of(visit).to_dict()


def chart(visit: Visit) -> RawContent:
    """Return a chart as a file, or its data."""
    from dataclasses import replace

    refuse_wrong_measures(visit)
    form = visit.params.choice("format", tuple(charts.FORMATS), "svg")
    found = charts.page(replace(visit, params=visit.params.with_({"format": form})))
    assert isinstance(found, RawContent)
    return found


def playground(visit: Visit) -> dict[str, Any]:
    """Return one list of grades by every measure, with the values of all libraries."""
    from judged.web.playground import PlaygroundState
    from judged.web.playground_answer import PlaygroundAnswer

    state = PlaygroundState.of(visit.params)
    for _, message in state.refused:
        raise RefusedError(message, "add")
    return PlaygroundAnswer(state).to_dict()


def sweep(visit: Visit) -> dict[str, Any]:
    """Return the effect of each temperature on the scores of vectors."""
    search = VectorSearch.of(visit.params, visit.workspace, visit.cache)
    return SearchResults(visit, search).sweep(visit.params.one("query")).to_dict()


_DESIGN = (
    ApiParameter("width", "How wide the drawing is, in pixels.", "integer"),
    ApiParameter("height", "How high it is.", "integer"),
    ApiParameter("format", "What is given; svg by default.", choices=tuple(charts.FORMATS)),
)
_CHART = (
    ApiParameter("kind", "Which chart.", needed=True, choices=tuple(KINDS)),
    SYSTEMS,
    ApiParameter("against", "The system that the others are compared with."),
    ApiParameter("of", "Which relevant items, of charts that ask for it."),
    ApiParameter("file", "The study or sweep, of charts of temperatures."),
    ApiParameter("k", "How many results count.", "integer"),
    ApiParameter("rel", "The lowest grade that counts as relevant.", "number"),
    ApiParameter("query", "One query instead of all."),
    ApiParameter("bins", "How many bins scores are put into.", "integer"),
    ApiParameter("first", "How many are shown.", "integer"),
)
_LIST = (
    ApiParameter("list", 'The grades in rank order, as "0 1 0 - 1".'),
    ApiParameter("example", "One of the examples instead.", choices=tuple(EXAMPLES)),
    ApiParameter("relevant", "How many items are relevant in all.", "integer"),
    ApiParameter("pool", "The grades of all judged items, in any order."),
    ApiParameter("collection", "How many items there are to retrieve.", "integer"),
    ApiParameter("k", "How many results count, or all."),
    ApiParameter("grades", "The highest grade that can be clicked.", "integer"),
    ApiParameter("add", "Measures beside the usual ones.", several=True),
    ApiParameter("card", "The measure that libraries are compared on."),
    ApiParameter("before", "The list before the last change, as parameters."),
    *(
        ApiParameter(own, "; ".join(CHOICES[name].values()), choices=tuple(CHOICES[name]))
        for own, name in POLICY_PARAMS.items()
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
            *(
                ApiParameter(name, _SAYS.get(name, "A file of labels or ids."))
                for name in SEARCH_PARAMS
            ),
            ApiParameter("query", "One query instead of all."),
            FILES[0],
        ),
    ),
)


def _documented(visit: Visit) -> dict[str, Any]:
    raise RefusedError("this address is only written to.")


UPLOAD = Endpoint(
    "/api/upload",
    "Send a file, as the body; it belongs to the browser that sends it, until the server ends.",
    _documented,
    (ApiParameter("name", "What the file is called.", needed=True),),
    method="POST",
)
REMOVE = Endpoint(
    "/api/remove",
    "Remove a file that was sent.",
    _documented,
    (
        ApiParameter("name", "What the file is called.", needed=True),
        ApiParameter("back", "1 to be led back to the page of files.", choices=("0", "1")),
    ),
    method="POST",
)


async def upload(explorer: Explorer, request: Request) -> Response:
    """Receive a file piece by piece, identify it, and add it."""
    visit = explorer.visit(request)
    visit.params.refuse_unknown(UPLOAD.names)
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
    return JSONResponse(_file_as_dict(file))


def _file_as_dict(file: DataFile) -> dict[str, Any]:
    return {
        "name": file.name,
        "kind": file.kind,
        "says": file.says,
        "size": file.size,
        "note": file.note or None,
    }


async def remove(explorer: Explorer, request: Request) -> Response:
    """Remove an uploaded file; those of the folder stay."""
    visit = explorer.visit(request)
    visit.params.refuse_unknown(REMOVE.names)
    name = visit.params.one("name") or ""
    file = visit.session.uploads.pop(name, None)
    if file is None:
        known = ", ".join(visit.session.uploads) or "none"
        raise GoneError(f"no file {name!r} was sent from here; there is {known}.", "name")
    file.path.unlink(missing_ok=True)
    explorer.cache.forget(lambda key: str(file.path) in str(key[0]))
    if visit.params.flag("back"):
        return RedirectResponse("/files", 303)
    return JSONResponse({"removed": name})


READ_ENDPOINTS: tuple[Endpoint, ...] = (*NUMBERS, *OTHERS)
ENDPOINTS = (*READ_ENDPOINTS, UPLOAD, REMOVE)
"""All addresses except the description in OpenAPI."""


def routes(explorer: Explorer) -> list[Route]:
    """Return the routes of the API."""
    reading = [
        Route(each.path, partial(read, explorer, each), methods=["GET"]) for each in READ_ENDPOINTS
    ]
    return [
        *reading,
        Route(UPLOAD.path, partial(upload, explorer), methods=["POST"]),
        Route(REMOVE.path, partial(remove, explorer), methods=["POST"]),
        Route("/api/openapi.json", describe, methods=["GET"]),
    ]


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
        found = endpoint.answer(visit)
    except JudgedError as error:
        return refuse(error)
    except Exception as error:
        return broken(error)
    if isinstance(found, RawContent):
        return Response(found.content, found.status, media_type=found.media_type)
    return Response(to_json(found), media_type="application/json")


def refuse(error: JudgedError) -> Response:
    """Return an error as JSON."""
    where = getattr(error, "where", None)
    return JSONResponse({"error": str(error), "where": where}, status_of(error))


def broken(error: Exception) -> Response:
    """Return the id of a crash; the terminal has the details."""
    message = f"Something went wrong here ({report_crash(error)}). The terminal has the details."
    return JSONResponse({"error": message, "where": None}, 500)


async def describe(request: Request) -> Response:
    """Return the description in OpenAPI."""
    return JSONResponse(openapi())


def openapi() -> dict[str, Any]:
    """Describe the API in OpenAPI, from its addresses.

    >>> "/api/evaluate" in openapi()["paths"]
    True
    """
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
        "paths": {each.path: {each.method.lower(): each.to_dict()} for each in ENDPOINTS},
        "components": {"schemas": {"Error": error}, "securitySchemes": {"key": key}},
        "security": [{"key": []}],
    }
