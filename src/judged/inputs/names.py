"""The names people give to columns: query, item, score, grade, rank and subtopic."""

from __future__ import annotations

from collections.abc import Sequence

from judged.errors import InputError
from judged.text import listed, quote

_THINGS = (
    *("movie", "product", "track", "song", "artist", "album", "video", "image", "photo"),
    *("article", "news", "book", "paper"),
)
"""What recommenders recommend, and searches find."""

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
"""Case, spaces, hyphens and underscores do not matter: "Query-ID" is "query_id"."""

CONTENT = (*_THINGS, "chunk", "question", "query_text", "question_text", "url")
"""Names that beside vectors rather hold what was embedded than its id."""

_TEXTS = ("query", "question", "query_text", "question_text")
_BESIDE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("query_id", "qid", "query_no", "question_id"), _TEXTS),
    "topic_id": ("topic",),
    "query": ("query_text",),
    "question": ("question_text",),
    "user_id": ("user",),
    # PyTerrier's `docid` is a number inside an index.
    "docno": ("doc_id", "document", "doc"),
    **dict.fromkeys(("doc_id", "document_id"), ("document", "doc")),
    "item_id": ("item",),
    **dict.fromkeys(("passage_id", "pid"), ("passage",)),
    "chunk_id": ("chunk",),
    **{f"{thing}_id": (thing,) for thing in _THINGS},
    "subtopic_id": ("subtopic",),
    **dict.fromkeys(NAMES["subtopic"][1:-1], ("iteration",)),
}
"""What a name is surely not, where another stands beside it: the text or the title of what has an
id. Of all others, two that could be meant are refused."""
_EVEN_SURER = {"subtopic_id": ("iteration",), **dict.fromkeys(NAMES["item"][:-1], ("url",))}

GRADES_BY_ANOTHER_NAME = ("score", "sim", "similarity", "relevance_score")
"""What judgements may call a grade that would be a score in a run; BEIR's do."""
_SAYS_NOTHING = frozenset(
    (
        *("timestamp", "time", "date", "datetime", "unixtimestamp", "createdat", "split", "index"),
        *("title", "text", "content", "contents", "body", "answer", "language", "lang"),
        *("", "unnamed:0"),
    )
)
"""Columns beside query and item that cannot be the grade."""


_TYPES = (":token", ":float", ":token_seq", ":float_seq")


def plain(name: str) -> str:
    """A name as names are compared; RecBole writes the type after it."""
    bare = name.removesuffix("\n")
    typed = next((ending for ending in _TYPES if bare.endswith(ending)), "")
    words = bare.removesuffix(typed).split()
    return "".join(words).replace("_", "").replace("-", "").lower()


_KNOWN = {role: {plain(name): at for at, name in enumerate(names)} for role, names in NAMES.items()}
_RULED_OUT: dict[str, set[str]] = {}
for _name, _others in (*_BESIDE.items(), *_EVEN_SURER.items()):
    _RULED_OUT.setdefault(plain(_name), set()).update(map(plain, _others))


def candidates(role: str, header: Sequence[str]) -> list[int]:
    """Positions of the columns that may play a role, the surest first."""
    known = _KNOWN[role]
    found = [(known[name], at) for at, name in enumerate(map(plain, header)) if name in known]
    return [at for _, at in sorted(found)]


def _rivals(header: Sequence[str], found: Sequence[int]) -> list[int]:
    """Those of the candidates that no other rules out."""
    names = {at: plain(header[at]) for at in found}
    ruled_out = {other for name in names.values() for other in _RULED_OUT.get(name, ())}
    return [at for at in found if names[at] not in ruled_out]


def surest(
    role: str, header: Sequence[str], source: str, found: Sequence[int] | None = None
) -> int:
    """The position of the only column that can play a role, of at least one candidate."""
    found = candidates(role, header) if found is None else found
    rivals = _rivals(header, found)
    if len(rivals) > 1:
        names = [header[at] for at in rivals]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(
                f"{source}: there are two columns {quote(twice)}; name each column once."
            )
        raise InputError(
            f"{source}: the {role} may be column {listed(list(map(quote, names)), 'or')}. Say "
            f"which: columns={{{role!r}: {names[0]!r}}} (--columns {role}={names[0]})."
        )
    return rivals[0]


def sure(role: str, header: Sequence[str]) -> str | None:
    """The name of the only column that can play a role; None where there is none, or no telling."""
    rivals = _rivals(header, candidates(role, header))
    return header[rivals[0]] if len(rivals) == 1 else None


def beside_query(
    header: Sequence[str], source: str, word: str, names: Sequence[str]
) -> tuple[int, int]:
    """The positions of the query and of what stands beside it, a `word` by one of these names; of
    two columns the other one, whatever its name. Where two may be it, neither is taken."""
    queries = candidates("query", header)
    found = [
        at
        for at, name in enumerate(header)
        if name.strip().lower() in names and [at] != queries[:1]
    ]
    if queries and not found and len(header) == 2:
        found = [1 - queries[0]]
    if not queries or not found:
        named = ", ".join(quote(name, 30) for name in header[:20])
        raise InputError(
            f"{source}: the columns query and {word} are needed; the columns are {named}. Names "
            f"understood for the {word}: {', '.join(names)}."
        )
    if len(found) > 1:
        two = " and ".join(quote(header[at], 30) for at in found[:2])
        raise InputError(f"{source}: the columns {two} may both be the {word}; leave one out.")
    return queries[0], found[0]


def may_be_grade(name: str) -> bool:
    """Whether a column that is neither query nor item could be the grade, whatever its name."""
    return plain(name) not in _SAYS_NOTHING


def is_known(name: str) -> bool:
    """Whether a text is the name of a column, for whatever role."""
    return any(plain(name) in known for known in _KNOWN.values())


def may_be_called_score(name: str) -> bool:
    """Whether judgements may have a grade of this name, which would be a score in a run."""
    return plain(name) in map(plain, GRADES_BY_ANOTHER_NAME)
