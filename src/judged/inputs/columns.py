"""Roles of the columns of a table: those that the user named first, then known names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.order import Ranked, against_ranks
from judged.inputs.tables import JUDGEMENTS, NO_GRADES, RUN, Kind
from judged.text import Warned, listed, quote

if TYPE_CHECKING:
    import polars as pl

    from judged.options import ColumnsLike

    Expression = Callable[[str, int], pl.Expr]

_THINGS = (
    *("movie", "product", "track", "song", "artist", "album", "video", "image", "photo"),
    *("article", "news", "book", "paper"),
)
"""Items of recommenders and searches."""
NAMES: dict[str, tuple[str, ...]] = {
    "query": (
        *("query_id", "qid", "query_no", "question_id", "topic_id", "query", "question", "topic"),
        *("query_text", "question_text", "user_id", "user", "uid", "customer_id"),
    ),
    "item": (
        *("item_id", "docno", "doc_id", "corpus_id", "document_id", "passage_id", "pid", "did"),
        *("chunk_id", "node_id", *(f"{thing}_id" for thing in _THINGS), "asin", "parent_asin"),
        *("iid", "item", "document", "doc", "passage", "chunk", *_THINGS, "url"),
    ),
    "score": (
        *("score", "sim", "similarity", "relevance_score", "prediction", "predicted_score"),
        *("predicted_rating", "pred", "est"),
    ),
    "grade": (
        *("grade", "relevance", "rel", "label", "judgement", "judgment", "relevance_grade"),
        *("relevance_label", "relevant", "is_relevant", "rating", "r_ui"),
    ),
    "rank": ("rank", "position", "doc_position"),
    "subtopic": ("subtopic_id", "subtopic", "aspect", "nugget", "intent", "iteration"),
}
"""Known names of columns. Case, spaces, hyphens and underscores do not matter."""
CONTENT = (*_THINGS, "chunk", "question", "query_text", "question_text", "url")
"""Names that beside vectors hold the embedded content rather than its id."""
_TEXTS = ("query", "question", "query_text", "question_text")
_RULES_OUT: tuple[tuple[Sequence[str], Sequence[str]], ...] = (
    (("query_id", "qid", "query_no", "question_id"), _TEXTS),
    (("topic_id",), ("topic",)),
    (("query",), ("query_text",)),
    (("question",), ("question_text",)),
    (("user_id",), ("user",)),
    (("docno",), ("doc_id", "document", "doc")),  # PyTerrier's `docid` is a number in an index
    (("doc_id", "document_id"), ("document", "doc")),
    (("passage_id", "pid"), ("passage",)),
    *(((f"{thing}_id",), (thing,)) for thing in ("item", "chunk", *_THINGS)),
    (NAMES["item"][:-1], ("url",)),
    (("subtopic_id",), ("subtopic",)),
    (NAMES["subtopic"][:-1], ("iteration",)),
)
"""Names of ids, and names that hold a text or a title if one of these is beside them."""
GRADES_BY_ANOTHER_NAME = ("score", "sim", "similarity", "relevance_score")
"""Names of a grade in judgements, such as BEIR's, that would be a score in a run."""
_NEVER_GRADES = frozenset(
    (
        *("timestamp", "time", "date", "datetime", "unixtimestamp", "createdat", "split", "index"),
        *("title", "text", "content", "contents", "body", "answer", "language", "lang"),
        *("", "unnamed:0"),
    )
)
_RECBOLE_TYPES = (":token", ":float", ":token_seq", ":float_seq")

LISTS = ("relevant", "retrieved")
"""Roles of columns of ids, in rows that hold a query with its relevant and retrieved ids."""
ROLES = (
    *("query", "item", "score", "grade", "rank", "subtopic", "document", "weight"),
    *(*LISTS, "scores", "grades"),
)
_IDS = ("query", "item", "document")
_NUMBERS = ("score", "grade", "rank", "weight")
_ONLY_IN = {
    **dict.fromkeys(("score", "rank", "retrieved", "scores"), RUN),
    **dict.fromkeys(("grade", "subtopic", "weight", "relevant", "grades"), JUDGEMENTS),
}
"""Roles that only tables of one kind have."""
CONSTANT = "grade=1"  # declares that there are no grades, because every listed item is relevant
_SMALLER_IS_BETTER = re.compile(r"dist|loss|error|perplexity", re.IGNORECASE)
JOINER = "#"

_RELEVANT = "relevant|gold|golden|expected|reference|ground_?truth|positive|target|correct|true"
_RETRIEVED = "retrieved|predicted|prediction|recommended|returned|ranked|search_?result|result"
_ITEM = "doc|document|item|chunk|passage|context|node|corpus|evidence|source|page|product|article"
_TEXT = "context|text"
ROW_PATTERNS: dict[str, tuple[str, ...]] = {
    "query": (
        "(query|question|topic|user|sample)_?(id|no)|qid",
        "query|question|user_?input|input|prompt|topic|user",
        "_?id",
    ),
    "relevant": (
        f"({_RELEVANT})_?(({_ITEM})_?)?ids?",
        f"relevants?|gold|golden|ground_?truths?|positives|({_RELEVANT})_?(?!{_TEXT})({_ITEM})s?",
        f"({_RELEVANT})_?({_TEXT})s?|expected_?retrieved_?contexts?",
        "expected(_?results?)?",
    ),
    "retrieved": (
        f"({_RETRIEVED})_?(({_ITEM})_?)?ids?",
        "retrieved|predicted|predictions|recommended|recommendations|ranked|ranking|ranked_?list"
        f"|results|search_?results|hits|({_RETRIEVED})_?(?!{_TEXT})({_ITEM})s?",
        f"contexts|contexts?_?ids?|matches|top_?k|({_RETRIEVED})_?({_TEXT})s?",
    ),
    "scores": (
        f"(({_RETRIEVED})_?)?(({_ITEM})_?)?"
        "(((similarity|relevance|retrieval|rerank(er|ing)?)_?)?scores?|similarit(y|ies))",
    ),
    "grades": (
        f"(({_RELEVANT})_?)?(({_ITEM})_?)?(relevance_?)?(grades?|ratings?|gains?)"
        f"|({_RELEVANT})_?(({_ITEM})_?)?scores?",
        f"(({_RELEVANT})_?)?(({_ITEM})_?)?(relevances?|(relevance_?)?labels?)",
    ),
}
"""Patterns of names of columns that hold lists, the surest first."""


_LABELLED: dict[str, tuple[str, ...]] = {
    "query": (*NAMES["query"], "indexes"),
    "item": (*NAMES["item"], "id", "_id"),
    "grade": (
        *(*NAMES["grade"], "labels", "y_true", "true_label", "true_relevance", "ground_truth"),
        *("target", "targets", "labels_num"),
    ),
    "score": (
        *(*NAMES["score"], "scores", "y_score", "y_pred", "y_prob", "y_hat", "predict", "preds"),
        *("predictions", "predicted", "probability", "prob", "proba", "logit"),
    ),
}
"""Names of columns in a table that holds a label and a score in each row."""
_SCORE = re.compile(r".+[ _-](score|prediction|probability|prob|logit)s?|(score|pred)[ _-].+")


def plain(name: str) -> str:
    """Return a name in the form in which names are compared, without the types of RecBole."""
    bare = name.removesuffix("\n")
    typed = next((ending for ending in _RECBOLE_TYPES if bare.endswith(ending)), "")
    words = bare.removesuffix(typed).split()
    return "".join(words).replace("_", "").replace("-", "").lower()


_KNOWN = {role: {plain(name): at for at, name in enumerate(names)} for role, names in NAMES.items()}
_RULED_OUT: dict[str, set[str]] = {}
for _names, _others in _RULES_OUT:
    for _name in _names:
        _RULED_OUT.setdefault(plain(_name), set()).update(map(plain, _others))


def called(names: Sequence[str], header: Iterable[str]) -> list[str]:
    """Return the columns that have one of these names, in the order of the names."""
    order = {plain(name): at for at, name in reversed(list(enumerate(names)))}
    columns = [name for name in header if plain(name) in order]
    return sorted(columns, key=lambda name: order[plain(name)])


def candidates(role: str, header: Sequence[str]) -> list[int]:
    """Return the positions of the columns that may have a role, the surest first."""
    known = _KNOWN[role]
    places = [(known[name], at) for at, name in enumerate(map(plain, header)) if name in known]
    return [at for _, at in sorted(places)]


def _rivals(header: Sequence[str], places: Sequence[int]) -> list[int]:
    """Return the candidates that no other rules out."""
    names = {at: plain(header[at]) for at in places}
    ruled_out = {other for name in names.values() for other in _RULED_OUT.get(name, ())}
    return [at for at in places if names[at] not in ruled_out]


def surest(
    role: str, header: Sequence[str], source: str, places: Sequence[int] | None = None
) -> int:
    """Return the position of the only column that can have a role; two are an error."""
    places = candidates(role, header) if places is None else places
    rivals = _rivals(header, places)
    if len(rivals) > 1:
        names = [header[at] for at in rivals]
        refuse_two_columns(names, source)
        raise say_which(role, names, source)
    return rivals[0]


def say_which(role: str, names: Sequence[str], source: str) -> InputError:
    """Return an error about several columns that may have a role."""
    what = f"{role} ids" if role in LISTS else role
    return InputError(
        f"{source}: the {what} may be column {listed(list(map(quote, names)), 'or')}. Say which: "
        f"columns={{{role!r}: {names[0]!r}}} (--columns {role}={names[0]})."
    )


def refuse_two_columns(names: Sequence[str], source: str) -> None:
    """Raise an error if a name is there twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"{source}: there are two columns {quote(name)}; name each column once."
            )


def shown_header(header: Sequence[str]) -> str:
    return ", ".join(quote(name, 30) for name in header[:20])


def sure(role: str, header: Sequence[str]) -> str | None:
    """Return the name of the only column that can have a role, or None."""
    rivals = _rivals(header, candidates(role, header))
    return header[rivals[0]] if len(rivals) == 1 else None


def may_be_grade(name: str) -> bool:
    """Return whether a column that is neither query nor item could be the grade."""
    return plain(name) not in _NEVER_GRADES


def is_known(name: str) -> bool:
    return any(plain(name) in known for known in _KNOWN.values())


def matching(role: str, header: Sequence[str]) -> list[list[str]]:
    """Return the columns that may hold the lists of a role, for each pattern from the surest on."""
    plain_names = {name: re.sub(r"[\s-]", "_", name.strip()).lower() for name in header}
    return [
        [name for name in header if re.fullmatch(pattern, plain_names[name])]
        for pattern in ROW_PATTERNS[role]
    ]


def has_lists(
    header: Sequence[str],
    roles: Sequence[str],
    named: NamedColumns | None = None,
    alone: bool = False,
) -> bool:
    """Return whether a table has lists of ids in these roles, not one item per row."""
    by_user = {} if named is None else named.positions(header)
    is_sure = alone or any(role in by_user for role in LISTS)
    if not is_sure and ("item" in by_user or candidates("item", header)):
        return False
    return all(role in by_user or any(matching(role, header)) for role in roles)


def is_labelled(header: Sequence[str], named: NamedColumns | None = None) -> bool:
    """Return whether a table has columns of labels and of scores."""
    return all(label_columns(role, header, named) for role in ("grade", "score"))


def label_columns(role: str, header: Sequence[str], named: NamedColumns | None = None) -> list[str]:
    """Return the columns with a role in a table of labels and scores: the user's, or any.

    Several columns may be labels or scores. Of queries and items, the surest column is taken.
    """
    by_user = {} if named is None else named.positions(header)
    if role in by_user:
        return [header[at] for at in by_user[role]]
    used = {header[at] for places in by_user.values() for at in places}
    scores = [name for name in header if role == "score" and _SCORE.fullmatch(name.strip().lower())]
    names = dict.fromkeys([*called(_LABELLED[role], header), *scores])
    free = [name for name in names if name not in used]
    return free if role in ("grade", "score") else free[:1]


class NamedColumns(dict[str, tuple[str, ...]]):
    """The columns that the user named for each role; several make one id.

    Judgements and runs share them. A table that lacks a column falls back to known names, with a
    note. A column that none of the tables has is an error.
    """

    def __init__(self, columns: Mapping[str, tuple[str, ...]], alone: bool) -> None:
        super().__init__(columns)
        self.alone = alone  # whether they are about one table, not about judgements and runs
        self.seen: dict[Kind, tuple[str, Sequence[str] | str]] = {}
        """The first table of each kind: its source, and its columns or why they are absent."""

    def with_document(self, column: str) -> NamedColumns:
        """Return the same, with the column of the document that each item belongs to."""
        return NamedColumns({**self, **as_columns({"document": column})}, self.alone)

    @property
    def constant(self) -> bool:
        """True if every listed item is relevant."""
        return self.get("grade") == ("1",)

    def positions(self, header: Sequence[str]) -> dict[str, tuple[int, ...]]:
        places: dict[str, tuple[int, ...]] = {}
        for role, parts in self.items():
            # "file+page" may itself be the name of a column.
            if positions := _places(("+".join(parts),), header) or _places(parts, header):
                places[role] = positions
        return places

    def record(self, kind: Kind, source: str, columns: Sequence[str] | str) -> None:
        """Record the columns of a table, or the reason for their absence."""
        if not self:
            return
        self.seen.setdefault(kind, (source, columns))
        if len(self.seen) < 2 and not self.alone:
            return
        tables = {kind: self.seen[kind] for kind in (JUDGEMENTS, RUN) if kind in self.seen}
        for role in self:
            possible = [table for kind, table in tables.items() if _ONLY_IN.get(role, kind) == kind]
            headers = [columns for _, columns in possible if not isinstance(columns, str)]
            if not possible or (role == "grade" and self.constant and headers):
                continue
            if not any(role in self.positions(header) for header in headers):
                raise InputError(self.lacking(role, possible))

    def lacking(self, role: str, tables: Iterable[tuple[str, Sequence[str] | str]]) -> str:
        tables = list(tables)
        names = [name for _, columns in tables if not isinstance(columns, str) for name in columns]
        lost = [name for name in self[role] if not _places((name,), names)]
        if lost:
            what = f"there is no column {quote(lost[0])}{did_you_mean(lost[0], names)}"
        else:
            what = f"no table has columns {listed(list(map(quote, self[role])))} together."
        described = (
            f"{source} {columns}"
            if isinstance(columns, str)
            else f"{source} has the columns {shown_header(columns)}"
            for source, columns in tables
        )
        return f"columns, {role}={'+'.join(self[role])}: {what} {'; '.join(described)}."


def _places(names: Sequence[str], header: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of all these names, ignoring spaces around them, or nothing."""
    header = list(header)
    bare = [name.strip() for name in header]
    places = [
        header.index(name) if name in header else bare.index(name) if name in bare else -1
        for name in names
    ]
    return () if -1 in places else tuple(places)


def as_columns(given: ColumnsLike | None, *, alone: bool = True) -> NamedColumns:
    """Parse the columns that the user named, from a dict or a text."""
    if isinstance(given, NamedColumns):
        return given if alone else NamedColumns(given, alone)
    if given is None:
        return NamedColumns({}, alone)
    pairs: Any = given.items() if isinstance(given, Mapping) else _pairs(given)
    named: dict[str, tuple[str, ...]] = {}
    for role, columns in pairs:
        role = "grade" if role == "label" else role
        if role not in ROLES:
            near = did_you_mean(role, ROLES)
            raise InputError(
                f"columns: there is no {quoted(role)}{near} A column may be {', '.join(ROLES)}."
            )
        if role in named:
            raise InputError(f"columns: {role} is there twice; name its column once.")
        if role == "grade" and type(columns) is int and columns == 1:
            columns = "1"
        if isinstance(columns, str):
            parts = tuple(part.strip() for part in columns.split("+"))
            parts = parts if role in _IDS and all(parts) else (columns,)
        else:
            parts = tuple(columns) if isinstance(columns, Sequence) else ()
        names = [part for part in parts if isinstance(part, str) and part]
        if not names or len(set(names)) < len(parts) or (len(parts) > 1 and role not in _IDS):
            several = ", or several that make one id, each once" if role in _IDS else ""
            raise InputError(
                f"columns: {role} must name one column{several}; got {quoted(columns)}."
            )
        named[role] = parts
    return NamedColumns(named, alone)


def _pairs(given: Any) -> list[tuple[str, str]]:
    parts = given.split(",") if isinstance(given, str) else [""]
    split = (part.partition("=") for part in parts)
    pairs = [(role.strip(), column.strip()) for role, _, column in split]
    if not all(role and column for role, column in pairs):
        raise InputError(
            "columns must be a dict such as {'query': 'question_id', 'item': 'chunk_id'}, or a "
            f"text such as 'query=question_id,item=chunk_id'; got {quoted(given)}."
        )
    return pairs


@dataclass(frozen=True)
class TableColumns:
    """Positions of the needed columns; several make one id."""

    query: tuple[int, ...]
    item: tuple[int, ...]
    value: int | None  # the score, grade or rank; None if every item of judgements is relevant
    is_rank: bool
    notes: tuple[str, ...]
    subtopic: int | None = None
    subtopic_role: str = "subtopic"
    """The name of the subtopic column; TREC's `iteration` may hold a filler."""
    rank: int | None = None
    """A rank beside the score, which may contradict it."""
    extra: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """`document` and `weight`, if the user named them."""
    may_be_run: bool = False  # whether these are judgements whose grade is called a score

    @property
    def ids(self) -> dict[str, tuple[int, ...]]:
        subtopic = {} if self.subtopic is None else {self.subtopic_role: (self.subtopic,)}
        document = {role: at for role, at in self.extra.items() if role not in _NUMBERS}
        return {"query": self.query, "item": self.item, **subtopic, **document}

    def with_ranks(self, rows: Iterable[Sequence[Any]]) -> TableColumns:
        """Return the same, with a warning if ranks and scores of these rows contradict."""
        if self.rank is None or self.value is None:
            return self
        query, rank, value = self.query, self.rank, self.value
        most = max(*query, rank, value)
        sample = (
            (tuple(row[at] for at in query), row[rank], row[value])
            for row in rows
            if len(row) > most
        )
        return replace(self, notes=(*self.notes, *against_ranks(sample)))

    @property
    def weight(self) -> int | None:
        return self.extra["weight"][0] if "weight" in self.extra else None

    def select(self, value_name: str, text: Expression, number: Expression) -> list[pl.Expr]:
        """Return the columns of a tidy table, made by functions of a role and a position."""
        import polars as pl

        texts = {
            role: joined_columns([text(role, at) for at in positions]).alias(role)
            for role, positions in self.ids.items()
        }
        query, item, *others = texts.values()
        value: pl.Expr = pl.when(item.is_not_null()).then(1.0)
        if self.value is not None:
            value = number(value_name, self.value)
        if self.weight is not None:
            others.append(number("weight", self.weight).alias("weight"))
        return [query, item, (-value if self.is_rank else value).alias(value_name), *others]

    @property
    def needed(self) -> list[int]:
        numbers = [at for at in (self.value, self.weight) if at is not None]
        ids = (at for positions in self.ids.values() for at in positions)
        return list(dict.fromkeys([*ids, *numbers]))


def joined_columns(parts: Sequence[pl.Expr]) -> pl.Expr:
    """Join columns to one id; different texts never make the same id.

    It is null if all parts are null, and empty if only some are there.
    """
    import polars as pl

    if len(parts) == 1:
        return parts[0]
    escaped = [
        part.str.replace_all("\\", "\\\\", literal=True).str.replace_all(
            JOINER, f"\\{JOINER}", literal=True
        )
        for part in parts
    ]
    lost = pl.any_horizontal((part.is_null() | (part == "")) for part in parts)
    whole = pl.when(lost).then(pl.lit("")).otherwise(pl.concat_str(escaped, separator=JOINER))
    return pl.when(pl.any_horizontal(part.is_not_null() for part in parts)).then(whole)


def choose_columns(
    header: Sequence[str],
    kind: Kind,
    source: str,
    named: Mapping[str, tuple[str, ...]] | None = None,
) -> TableColumns:
    """Choose the needed columns, those that the user named first; a missing one is an error."""
    named = as_columns(named)
    choice = _Choice(header, kind, source, named)
    query, item = choice.ids("query"), choice.ids("item")
    value_role = choice.value_role()
    value = None if value_role is None else choice.one(value_role)
    subtopic = choice.one("subtopic") if kind is JUDGEMENTS and choice.has("subtopic") else None
    if value is None:
        choice.notes.append(NO_GRADES)
    may_be_filler = "subtopic" not in choice.by_user and subtopic is not None
    columns = TableColumns(
        query=query,
        item=item,
        value=value,
        is_rank=value_role == "rank",
        notes=tuple(choice.notes),
        subtopic=subtopic,
        subtopic_role="iteration"
        if may_be_filler and plain(header[subtopic or 0]) == "iteration"
        else "subtopic",
        rank=choice.rank_beside_score() if kind is RUN and value_role == "score" else None,
        extra={role: at for role, at in choice.by_user.items() if role in ("document", "weight")},
        may_be_run=kind is JUDGEMENTS
        and value is not None
        and (bool(candidates("score", [header[value]])) or choice.by_user.get("score") == (value,)),
    )
    named.record(kind, source, header)
    return columns


class _Choice:
    def __init__(self, header: Sequence[str], kind: Kind, source: str, named: NamedColumns) -> None:
        self.header, self.kind, self.source, self.named = header, kind, source, named
        # Roles of judgements mean nothing in a run, but a grade shows that it is none.
        skipped = ("subtopic", "weight") if kind is RUN else ()
        positions = named.positions(header).items()
        self.by_user = {role: places for role, places in positions if role not in skipped}
        for name in (header[at] for places in self.by_user.values() for at in places):
            refuse_two_columns([other for other in header if other == name], source)
        self.notes: list[str] = []
        self.by_name = {role: self._free(role) for role in NAMES}

    def _free(self, role: str) -> list[int]:
        """Return candidates without another role; a run's score may be a grade of judgements."""
        taken = {
            at
            for other, positions in self.by_user.items()
            if other != role and not (role in _NUMBERS and other in _NUMBERS and other != "weight")
            for at in positions
        }
        return [at for at in candidates(role, self.header) if at not in taken]

    def has(self, role: str) -> bool:
        return role in self.by_user or bool(self.by_name[role])

    def value_role(self) -> str | None:
        """Return the role of the value; None if every item of judgements is relevant."""
        if self.kind is RUN:
            return self._value_of_run()
        if "grade" in self.by_user:
            return "grade"
        if self.named.constant:
            return None
        if self.by_name["grade"]:
            return "grade"
        for role in ("rank", "score"):
            # BEIR calls the grade "score". A run has that too, but a rank beside it gives it away.
            for at in self.by_user.get(role, self.by_name[role]):
                name = self.header[at]
                if role == "rank" or plain(name) not in map(plain, GRADES_BY_ANOTHER_NAME):
                    why = f"column {quote(name)} is a {role}"
                    raise InputError(RUN.mistaken_for(self.kind, self.source, why))
        if self.has("score"):
            return "score"
        if "grade" in self.named or self._may_hold_a_grade():
            self._need("grade")
        return None

    def _value_of_run(self) -> str:
        if role := next((role for role in ("score", "rank") if role in self.by_user), None):
            return role
        role = "score" if self.by_name["score"] else "rank"
        if not self.by_name[role] and self.has("grade"):
            name = self.header[self.by_user.get("grade", self.by_name["grade"])[0]]
            why = f"column {quote(name)} is a grade"
            raise InputError(
                f"{JUDGEMENTS.mistaken_for(self.kind, self.source, why)} If it is what orders the "
                f"run, say so: columns={{'score': {name!r}}} (--columns score={name})."
            )
        return role

    def rank_beside_score(self) -> int | None:
        """Return the column of ranks beside the scores, which may be the scores themselves."""
        if "rank" in self.by_user:
            return self.by_user["rank"][0]
        score = self.by_user.get("score", ())
        if score and candidates("rank", [self.header[score[0]]]):
            return score[0]
        name = sure("rank", self.header)
        at = None if name is None else list(self.header).index(name)
        return at if at in self.by_name["rank"] else None

    def _may_hold_a_grade(self) -> bool:
        known = {at for positions in self.by_user.values() for at in positions}
        known.update(at for role in ("query", "item", "subtopic") for at in self.by_name[role])
        return any(may_be_grade(name) for at, name in enumerate(self.header) if at not in known)

    def ids(self, role: str) -> tuple[int, ...]:
        if role not in self.by_user:
            return (self.one(role),)
        positions = self.by_user[role]
        if len(positions) > 1:
            names = listed([quote(self.header[at]) for at in positions])
            self.notes.append(f"The {role} is made of columns {names}, joined by {quote(JOINER)}.")
        return positions

    def one(self, role: str) -> int:
        if role in self.by_user:
            at = self.by_user[role][0]
            if role == "score" and _SMALLER_IS_BETTER.search(self.header[at]):
                self.notes.append(
                    Warned(
                        f"Column {quote(self.header[at])} was taken for the score, the greatest "
                        "the best; if the smallest is the best, give it another sign."
                    )
                )
        else:
            self._need(role)
            at = surest(role, self.header, self.source, self.by_name[role])
            self._note(role, at)
        if role == "rank":
            lacking = "" if self.by_name["score"] else "There is no score: "
            column = f"{'column' if lacking else 'Column'} {quote(self.header[at])}"
            self.notes.append(Ranked(f"{lacking}{column} gives the order."))
        return at

    def _note(self, role: str, at: int) -> None:
        taken = quote(self.header[at])
        wanted = role if role in self.named else "score" if role == "rank" else role
        if wanted in self.named:
            lacks = listed([quote(name) for name in self.named[wanted] if name not in self.header])
            note = f"{self.source} has no column {lacks}: column {taken} was taken for the {role}."
            self.notes.append(Warned(note) if wanted in ("score", "rank") else note)
        elif len(self.by_name[role]) > 1:
            other = next(place for place in self.by_name[role] if place != at)
            self.notes.append(
                f"Column {taken} was taken for the {role}, not {quote(self.header[other])}."
            )

    def _need(self, role: str) -> None:
        if self.has(role):
            return
        value = ("score", "rank") if self.kind is RUN else ("grade",)
        for wanted in dict.fromkeys((*(value if role in value else ()), role)):
            if wanted in self.named:
                raise InputError(self.named.lacking(wanted, [(self.source, self.header)]))
        raise InputError(_missing(role, self.header, self.kind, self.source))


def _missing(role: str, header: Sequence[str], kind: Kind, source: str) -> str:
    roles = ("score", "rank") if role in ("score", "rank") else (role,)
    names = "; ".join(f"{name}: {', '.join(NAMES[name])}" for name in roles)
    article = "an" if role == "item" else "a"
    every = ""
    if kind is JUDGEMENTS and role == "grade":
        every = (
            " If every item that is listed is relevant, say so: columns={'grade': 1} "
            f"(--columns {CONSTANT})."
        )
    return (
        f"{source}: no column with {article} {' or a '.join(roles)}; the columns are "
        f"{shown_header(header)}. Say which it is: columns={{{roles[0]!r}: COLUMN}} "
        f"(--columns {roles[0]}=COLUMN). Or use a name that is understood: {names}.{every}"
    )
