"""The judged results of a table and the ranks that their ties span, found where the table is; and
the items of those ties, which are ordered here, by bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.arrays import Floats, Ints
from judged.engines.tables.backends import Backend
from judged.engines.tables.faults import refuse_collation
from judged.errors import EngineError, PolicyError
from judged.matching.join import Reduced, Tied
from judged.text import Warned

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from judged.matching.pool import Pool

_UNORDERED = (
    "Ties hold too many results to bring them here: judged@10 counts the judged ones as the first "
    "of their tie."
)
MOST_TIED = 5_000_000
"""So many items of ties are fetched at most."""


@dataclass(frozen=True, eq=False)
class Hits:
    """Judged results, with the ranks that their ties span."""

    backend: Backend
    source: str
    ranked: nw.LazyFrame[Any]
    """All rows of judged queries, each with the `first` and `last` rank of its tie."""
    found: pl.DataFrame
    """Judged results: `number` of the judgement, `query`, `item`, `score`, `first`, `last`."""
    own: pl.DataFrame
    """Results with the id of their query: its `number`, `score` and `first`."""

    @property
    def judgement(self) -> Ints:
        return self.found["number"].to_numpy()

    @property
    def score(self) -> Floats:
        return self.found["score"].to_numpy()

    @property
    def own_query(self) -> Ints:
        return self.own["number"].to_numpy()

    @property
    def own_score(self) -> Floats:
        return self.own["score"].to_numpy()

    def reduced(self, best: Floats) -> Reduced:
        """What judging needs to know of lists that it cannot look into."""
        return Reduced(
            first=self.found["first"].to_numpy(),
            last=self.found["last"].to_numpy(),
            own_above=self.own["first"].to_numpy() - 1,
            best=best,
            tied=self.tied,
            first_items=self.first_items,
        )

    def tied(self, hits: Ints, ties: str) -> Tied:
        """The items of the ties that some hits are in; only the hits among them, where no number
        depends on the others and they are very many."""
        import polars as pl

        asked = self.found[hits]
        each = asked.select("query", "first", "last").unique(maintain_order=True)
        each = each.with_columns(tie=pl.int_range(pl.len(), dtype=pl.Int64))
        at = asked.join(each, on=["query", "first"], maintain_order="left")["tie"].to_numpy()
        if ties == "input":
            raise PolicyError(
                f"{self.source}: query {asked['query'].min()!r} has results of the same rank, and "
                "a table has no order that ties=input could take; choose ties=id, expected, best "
                "or worst."
            )
        number = int((each["last"] - each["first"] + 1).sum())
        if number > MOST_TIED:
            if ties != "expected":
                raise EngineError(
                    f"{self.source}: {number:,} results tie with judged ones, too many to be "
                    "brought here and ordered by id; choose ties=expected, best or worst, which "
                    "need no order."
                )
            return Tied(at, asked["item"].to_list(), at, note=Warned(_UNORDERED))
        wanted = self.backend.uploaded(each.select("query", "first", "tie"))
        rows = self.ranked.join(wanted, on=["query", "first"], how="inner").select("tie", "item")
        fetched = self.backend.fetched(rows)
        return Tied(fetched["tie"].cast(pl.Int64).to_numpy(), fetched["item"].to_list(), at)

    def first_items(self, queries: list[str], most: int) -> list[list[str]]:
        """The best items of some queries."""
        import narwhals as nw
        import polars as pl

        wanted = pl.DataFrame({"query": pl.Series(queries, dtype=pl.String)})
        best = self.ranked.filter(nw.col("first") <= most).join(
            self.backend.uploaded(wanted), on="query", how="semi"
        )
        rows = self.backend.fetched(best.select("query", "item", "first"))
        rows = rows.sort(["first", "item"], descending=[False, True])
        lists = dict(rows.group_by("query").agg(pl.col("item").head(most)).iter_rows())
        return [lists.get(query, []) for query in queries]


def hits_of(backend: Backend, rows: nw.LazyFrame[Any], pool: Pool, source: str) -> Hits:
    """Rank all rows where they are, and bring those that are judged."""
    import narwhals as nw
    import polars as pl

    score = nw.col("score")
    ranked = rows.with_columns(
        first=score.rank("min", descending=True).over("query"),
        last=score.rank("max", descending=True).over("query"),
    )
    pairs = pool.frame.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    found = backend.fetched(
        ranked.join(backend.uploaded(pairs), on=["query", "item"], how="left")
        .filter(~nw.col("number").is_null() | (nw.col("item") == nw.col("query")))
        .select("number", "query", "item", "score", "first", "last")
    ).with_columns(pl.col("number", "first", "last").cast(pl.Int64))
    hits = found.filter(pl.col("number").is_not_null()).sort("number")
    judged = pairs[hits["number"]]
    for name in ("query", "item"):
        refuse_collation(hits[name], judged[name], source)
    queries = pl.DataFrame({"query": pl.Series(pool.queries, dtype=pl.String)})
    own = (
        queries.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
        .join(found.filter(pl.col("query") == pl.col("item")).drop("number"), on="query")
        .sort("number")
    )
    return Hits(backend, source, ranked, hits, own)
