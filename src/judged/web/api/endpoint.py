"""What an address of the API is: its parameters, its function, and what OpenAPI says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judged.policy import CHOICES, DUPLICATES
from judged.web.asked import Asked, Raw

Answer = dict[str, Any] | list[Any] | Raw


@dataclass(frozen=True)
class Param:
    """A parameter of an address."""

    name: str
    says: str
    kind: str = "string"
    needed: bool = False
    several: bool = False
    choices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The parameter in OpenAPI."""
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
    answer: Callable[[Asked], Answer]
    params: tuple[Param, ...] = ()
    method: str = "GET"
    gives: tuple[str, ...] = ("application/json",)
    """The kinds of what it answers."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(param.name for param in self.params)

    def to_dict(self) -> dict[str, Any]:
        """The address in OpenAPI."""
        ok: dict[str, Any] = {kind: {"schema": _schema(kind)} for kind in self.gives}
        errors = {
            str(status): {"description": says, "content": {"application/json": _ERROR}}
            for status, says in ERRORS.items()
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


ERRORS = {
    400: "a parameter is wrong",
    403: "no key, a foreign page, or a foreign name of this server",
    404: "a file, a system or a query that is not there",
    409: "not possible as things are: two files of one name, no judgements",
    413: "too large",
    422: "a file that cannot be read",
}
"""What may be refused, and why."""
_ERROR = {"schema": {"$ref": "#/components/schemas/Error"}}


def _schema(kind: str) -> dict[str, Any]:
    return {} if kind == "application/json" else {"type": "string", "format": "binary"}


FILES = (
    Param("judgements", "The file of judgements, where several may be meant."),
    Param("run", "The files of runs; all of them by default.", several=True),
)
"""Which files are meant."""
MEASURE = Param("measure", "A measure such as nDCG@10; several are allowed.", several=True)
ASSUMED = (
    *(
        Param(
            name, "; ".join(f"{key}: {says}" for key, says in known.items()), choices=tuple(known)
        )
        for name, known in CHOICES.items()
    ),
    Param("convention", "Score as another library does, such as ranx."),
    Param("depth", "Only the first results of each list count.", "integer"),
    Param("duplicates", "; ".join(DUPLICATES.values()), choices=tuple(DUPLICATES)),
)
"""What is assumed."""
TERMS = (MEASURE, *ASSUMED, Param("level", "The level of intervals, as 0.95.", "number"))
SYSTEM = Param("system", "The name of a system.", needed=True)
SYSTEMS = Param("system", "Names of systems; all by default.", several=True)
QUERY = Param("query", "The id of a query.", needed=True)


def flag(name: str, says: str) -> Param:
    """A parameter that is 1 or not there."""
    return Param(name, says, choices=("0", "1"))
