"""A search among vectors, as an address describes it: files, relevance, similarity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged.embeddings.normalisation import NORMALISATIONS
from judged.embeddings.similarity import SIMILARITIES
from judged.errors import InputError
from judged.options import choice
from judged.text import listed
from judged.web.commands import path_of
from judged.web.errors import UndecidedError, UnpairedError

if TYPE_CHECKING:
    from judged.embeddings.embeddings import Embeddings
    from judged.inputs.vectors.vectors import Vectors
    from judged.web.files import DataFile
    from judged.web.visit import Params
    from judged.web.work import Cache
    from judged.web.workspace import Workspace


RELEVANCE = {
    "labels": "items of the query’s own label",
    "shared-labels": "items that share a label with the query",
    "pairs": "the item in the query’s own row",
    "judgements": "what the judgements say",
}
"""Definitions of relevance, in words."""
EXCLUDED = {
    "nothing": "nothing",
    "self": "the item in the query’s own row",
    "same-id": "the item of the query’s own id",
}
"""Items that can be left out of a query's ranking, in words."""
AS_THEY_ARE = "none"
"""The choice of no normalisation."""
SEARCH_PARAMS = (
    *("queries", "items", "relevance", "query_labels", "item_labels", "query_ids", "item_ids"),
    *("similarity", "normalise", "exclude"),
)
"""Parameters of an address that describe the search."""
_ASKS = re.compile(r"quer(?:y|ies)|questions?|probes?|anchors?", re.IGNORECASE)
_QUERY_SIDE = re.compile(rf"{_ASKS.pattern}|captions?|texts?", re.IGNORECASE)
_ANSWERS = re.compile(
    r"items?|doc(?:ument)?s?|passages?|corpus|images?|pictures?|photos?|videos?|gallery|"
    r"collection|targets?|answers?|candidates?",
    re.IGNORECASE,
)
_SIDE_WORDS = re.compile(r"vec(?:tor)?s?|emb(?:edding)?s?|features?", re.IGNORECASE)
"""Words in file names that do not distinguish models."""


@dataclass(frozen=True, eq=False)
class VectorSearch:
    """The vectors of a search and all its options."""

    queries: DataFile
    items: DataFile
    relevance: str
    query_labels: DataFile | None
    item_labels: DataFile | None
    query_ids: DataFile | None
    item_ids: DataFile | None
    judgements: DataFile | None
    similarity: str = "cosine"
    normalise: str = AS_THEY_ARE
    exclude: str = "nothing"

    @classmethod
    def of(cls, params: Params, workspace: Workspace, cache: Cache) -> VectorSearch:
        """Read an address; take what it does not name from the files that fit."""
        files = workspace.vectors
        if not files:
            raise UndecidedError(
                "There are no vectors here. Add a file of query and of item vectors."
            )
        chosen = {name: params.one(name) for name in SEARCH_PARAMS}
        queries, items = _paired(
            files, _named(workspace, chosen["queries"]), _named(workspace, chosen["items"])
        )
        lines = _LabelFiles(workspace.labels, cache)
        counts = {"query": len(vectors_of(queries, cache)), "item": len(vectors_of(items, cache))}
        found: dict[str, DataFile | None] = {}
        for side, count in counts.items():
            for what in ("labels", "ids"):
                name = f"{side}_{what}"
                found[name] = _named(workspace, chosen[name]) or lines.fitting(
                    count, side, distinct=what == "ids"
                )
        judgements = workspace.judgements
        likely = (
            "labels"
            if found["query_labels"] and found["item_labels"]
            else "judgements"
            if judgements
            else "pairs"
        )
        alone = "self" if queries.identity == items.identity else "nothing"
        return cls(
            queries,
            items,
            choice("relevance", chosen["relevance"] or likely, RELEVANCE),
            judgements=judgements,
            similarity=choice("similarity", chosen["similarity"] or "cosine", SIMILARITIES),
            normalise=choice(
                "normalise", chosen["normalise"] or AS_THEY_ARE, (AS_THEY_ARE, *NORMALISATIONS)
            ),
            exclude=choice("exclude", chosen["exclude"] or alone, EXCLUDED),
            **found,
        )

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that changes with the search or one of its files."""
        values = (getattr(self, each.name) for each in fields(self))
        return tuple(getattr(value, "identity", value) for value in values)

    @cached_property
    def compared(self) -> tuple[Embeddings, Any]:
        """The embeddings and the relevance."""
        from judged.embeddings import relevance as say
        from judged.embeddings.embeddings import Embeddings
        from judged.inputs.vectors.labels import labels_from

        excluded = {"self": say.same_row(), "same-id": say.same_id()}.get(self.exclude)
        ids = [
            None if file is None else labels_from(file.path)
            for file in (self.query_ids, self.item_ids)
        ]
        embeddings = Embeddings(
            str(self.queries.path),
            str(self.items.path),
            similarity=self.similarity,
            exclude=excluded,
            query_ids=ids[0],
            item_ids=ids[1],
            normalise=None if self.normalise == AS_THEY_ARE else self.normalise,
        )
        return embeddings, self._relation()

    def _relation(self) -> Any:
        from judged.embeddings import relevance as say
        from judged.inputs import read_judgements
        from judged.inputs.vectors.labels import labels_from, labels_lists_from

        if self.relevance == "pairs":
            return say.pairs()
        if self.relevance == "judgements":
            if self.judgements is None:
                raise InputError("there are no judgements here; choose labels or pairs.")
            return read_judgements(self.judgements.path)
        if self.query_labels is None or self.item_labels is None:
            raise InputError(
                "labels are needed for the queries and for the items; choose a file for each."
            )
        paths = self.query_labels.path, self.item_labels.path
        if self.relevance == "labels":
            return say.same_label(*map(labels_from, paths))
        return say.shared_label(*map(labels_lists_from, paths))

    @property
    def plain(self) -> bool:
        """Whether scores are not normalised, as temperatures and diagnoses need them."""
        return self.normalise == AS_THEY_ARE

    def words(self) -> list[str]:
        """Return the same as arguments of `judged embeddings`."""
        said = [path_of(self.queries), path_of(self.items)]
        if self.relevance in ("labels", "shared-labels"):
            files = self.query_labels, self.item_labels
            said += [f"--{self.relevance}", *(path_of(file) for file in files if file)]
        elif self.relevance == "pairs":
            said += ["--pairs"]
        elif self.judgements is not None:
            said += ["--qrels", path_of(self.judgements)]
        for option, file in (("--query-ids", self.query_ids), ("--item-ids", self.item_ids)):
            said += [option, path_of(file)] if file is not None else []
        said += ["--similarity", self.similarity] if self.similarity != "cosine" else []
        said += ["--normalise", self.normalise] if not self.plain else []
        said += [f"--exclude-{self.exclude}"] if self.exclude != "nothing" else []
        return said

    def python(self) -> list[str]:
        """Return Python lines that make `embeddings` and `relevance`."""
        lines = ["import judged", "from judged.inputs.vectors.labels import labels_from"]
        options = [repr(path_of(self.queries)), repr(path_of(self.items))]
        if self.similarity != "cosine":
            options.append(f"similarity={self.similarity!r}")
        for name, file in (("query_ids", self.query_ids), ("item_ids", self.item_ids)):
            if file is not None:
                options.append(f"{name}=labels_from({path_of(file)!r})")
        if not self.plain:
            options.append(f"normalise={self.normalise!r}")
        if self.exclude != "nothing":
            call = {"self": "same_row", "same-id": "same_id"}[self.exclude]
            options.append(f"exclude=judged.relevance.{call}()")
        lines.append(f"embeddings = judged.Embeddings({', '.join(options)})")
        return [*lines, f"relevance = {self._relation_python()}"]

    def _relation_python(self) -> str:
        if self.relevance == "pairs":
            return "judged.relevance.pairs()"
        if self.relevance == "judgements" and self.judgements is not None:
            return f"judged.read_judgements({path_of(self.judgements)!r})"
        call, read = {
            "labels": ("same_label", "labels_from"),
            "shared-labels": ("shared_label", "labels_lists_from"),
        }[self.relevance]
        files = [path_of(file) for file in (self.query_labels, self.item_labels) if file]
        return f"judged.relevance.{call}({', '.join(f'{read}({name!r})' for name in files)})"


def vectors_of(file: DataFile, cache: Cache) -> Vectors:
    """Return the vectors of a file, read once."""
    from judged.inputs.vectors import read_vectors

    return cache.get(("vectors", file.identity), lambda: read_vectors(str(file.path)))


def _named(workspace: Workspace, name: str | None) -> DataFile | None:
    return None if name is None else workspace.file(name)


def _paired(
    files: Sequence[DataFile], queries: DataFile | None, items: DataFile | None
) -> tuple[DataFile, DataFile]:
    """Return the files of queries and items that belong together by name: models cannot be
    mixed."""
    if queries is not None and items is not None:
        return queries, items
    sides: dict[bool, list[DataFile]] = {True: [], False: []}
    for file in files:
        sides[_is_query_side(file)].append(file)
    asking = [queries] if queries is not None else sides[True] or ([items] if items else [])
    answering = [items] if items is not None else sides[False] or ([queries] if queries else [])
    if not asking or not answering:  # names that tell no sides apart: a file searches itself
        alone = (asking or answering)[0]
        return alone, alone
    pairs = [(one, other) for one in asking for other in answering]
    alike = [(one, other) for one, other in pairs if _model(one) == _model(other)]
    first = [other for one, other in alike if one is alike[0][0]]
    if len(pairs) == 1:
        return pairs[0]
    if len(first) != 1:
        names = listed([file.name for file in files])
        raise UnpairedError(
            f"Which of these belong together: {names}? Vectors of one model cannot search among "
            "those of another. Choose the queries and the items, or name the files of a model "
            "alike, such as bert-queries.npy and bert-items.npy."
        )
    return alike[0]


def _is_query_side(file: DataFile) -> bool:
    """Return whether a file holds queries, by its name."""
    if _ASKS.search(file.name):
        return True
    return bool(_QUERY_SIDE.search(file.name)) and not _ANSWERS.search(file.name)


def _model(file: DataFile) -> str:
    """Return the words of a file name that may name the model."""
    stem = re.sub(r"\.[^/]*$", "", file.name)
    bare = _SIDE_WORDS.sub(" ", _ANSWERS.sub(" ", _QUERY_SIDE.sub(" ", stem)))
    return " ".join(re.findall(r"[^\W_]+", bare.lower()))


@dataclass(frozen=True, eq=False)
class _LabelFiles:
    """Files with one label or id per vector."""

    files: Sequence[DataFile]
    cache: Cache

    def fitting(self, count: int, side: str, *, distinct: bool) -> DataFile | None:
        """Return the file with one line per vector: ids are distinct, labels are not."""
        fitting = [file for file in self.files if self._shape(file) == (count, distinct)]
        named = [file for file in fitting if _is_query_side(file) is (side == "query")]
        return next(iter(named or fitting), None)

    def _shape(self, file: DataFile) -> tuple[int, bool]:
        """Return the number of lines, and whether they are distinct."""
        from judged.inputs.vectors.labels import labels_from

        def shape() -> tuple[int, bool]:
            try:
                labels = [str(each) for each in labels_from(file.path)]
            except InputError:
                return 0, False
            return len(labels), len(set(labels)) == len(labels)

        return self.cache.get(("lines", file.identity), shape)
