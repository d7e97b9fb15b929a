"""What to judge next: a summary for whoever organises the judging, and a file for annotators."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged.arrays import Floats, Ints
from judged.judgements.queues.bounds import Bound
from judged.judgements.queues.choices import BY, SAVED_AS
from judged.judgements.queues.sheet import is_computed, sheet_csv, sheet_frame
from judged.results import Result, Table
from judged.text import Warned, counted, few, plain, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.texts import Texts

SHOWN = 10
"""So many candidates are shown in text; JSON has all."""


@dataclass(frozen=True, eq=False, repr=False)
class Queue(Result):
    """What `queue` returns, always: which unjudged results to judge next.

    Text, JSON, Markdown and HTML are for whoever organises the judging: they tell effects and
    ranks. `to_frame` and the files that `save` writes are for annotators, and tell none of that.

    >>> from judged import queue
    >>> runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["a", "c"]}}
    >>> found = queue({"q": {"a": 1}}, runs, "P@2")
    >>> sorted(found.items), found.effects.tolist()
    (['b', 'c'], [0.5, 0.5])
    """

    SAVED_AS: ClassVar[dict[str, str]] = SAVED_AS
    BETWEEN: ClassVar[str] = "\n\n"
    WORDS: ClassVar = frozenset(("query", "item", "run", "against", "can change"))

    queries: tuple[str, ...]
    """The query of each row of the annotators' file: queries in the order of their most worthwhile
    item, the items of each shuffled."""
    items: tuple[str, ...]
    """The item of each row."""
    effects: Floats
    """By how much the difference of two runs on the query, the largest over pairs of runs, or the
    value of the only run, would change if this item alone had the top grade; NaN where the queue is
    by depth."""
    best_ranks: Ints
    """The best rank of each in any run."""
    priority: Ints
    """The rows by number, the most worthwhile first."""
    bounds: tuple[Bound, ...]
    """For each pair of runs how far judgements could still move their difference."""
    evaluation: Evaluation
    """The runs as they are judged now."""
    by: str
    """What the queue is ordered by."""
    depth: int
    """Down to which rank of each run results were looked at."""
    top_grade: float
    """The top grade."""
    seed: int
    """What the items of each query were shuffled by."""
    candidates: int
    """How many unjudged results there are within the depth, those that a budget leaves out
    included."""
    without_effect: int | None
    """How many of these would change nothing; None where the queue is by depth."""
    new_queries: tuple[str, ...] = ()
    """Queries of the runs that have no judgement at all."""
    negative: int = 0
    """How many results within the depth have a negative grade, which is not asked for again."""
    texts: Texts | None = None
    """What items say, where it was given."""
    query_texts: Texts | None = None
    """What queries say, where it was given."""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def measure(self) -> str:
        """What effects and differences are measured by."""
        return self.evaluation.label(self.evaluation.measures[0])

    def to_frame(self) -> pl.DataFrame:
        """The annotators' file as a polars table: query and item, what they say where texts were
        given, and the grade, which is empty.

        Returns
        -------
        polars.DataFrame

        >>> from judged import queue
        >>> found = queue({"q": {"a": 1}}, {"q": ["a", "b"]}, "P@2", texts={"b": "Bees."})
        >>> found.to_frame().rows()
        [('q', 'b', 'Bees.', None)]
        """
        return sheet_frame(self.queries, self.items, self.texts, self.query_texts)

    def to_csv(self) -> str:
        """The annotators' file as CSV. Before texts that a spreadsheet would take for a formula
        stands an apostrophe; ids are as they are.

        Returns
        -------
        str

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}).to_csv()
        'query,item,grade\\nq,b,\\n'
        """
        return sheet_csv(self.to_frame(), ",")

    def to_tsv(self) -> str:
        """The same with tabs between the cells.

        Returns
        -------
        str

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}).to_tsv()
        'query\\titem\\tgrade\\nq\\tb\\t\\n'
        """
        return sheet_csv(self.to_frame(), "\t")

    def to_ndjson(self) -> str:
        """The annotators' file as one JSON object per line.

        Returns
        -------
        str

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}).to_ndjson()
        '{"query":"q","item":"b","grade":null}\\n'
        """
        return self.to_frame().write_ndjson()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the annotators' file, whole or not at all: no rank, score, effect or name of a run
        is in it. With grades filled in, `read_judgements` reads it.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .csv, .tsv, .ndjson or .parquet.

        >>> import tempfile, pathlib
        >>> from judged import queue
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "to_judge.csv"
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}).save(path)
        >>> path.read_text()
        'query,item,grade\\nq,b,\\n'
        """
        self._save(path)

    def _metadata(self) -> dict[str, str]:
        return {}  # warnings name runs

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold; not for annotators.

        Returns
        -------
        dict

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}, "P@2").to_dict()["queue"]
        [{'query': 'q', 'item': 'b', 'effect': 0.5, 'best_rank': 2}]
        """
        return {
            "measure": self.measure,
            "policy": self.evaluation.policy.to_dict(),
            "runs": [run.name for run in self.evaluation.runs],
            "by": self.by,
            "depth": self.depth,
            "top_grade": self.top_grade,
            "seed": self.seed,
            "candidates": self.candidates,
            "without_effect": self.without_effect,
            "new_queries": list(self.new_queries),
            "negative_grades": self.negative,
            "bounds": [bound.to_dict() for bound in self.bounds],
            "queue": [
                {
                    "query": self.queries[at],
                    "item": self.items[at],
                    "effect": plain(float(self.effects[at])),
                    "best_rank": int(self.best_ranks[at]),
                }
                for at in self.priority.tolist()
            ],
            "sentences": self.sentences(),
        }

    def tables(self) -> list[Table]:
        """The most worthwhile results, and how far judgements could move each difference.

        Returns
        -------
        list of (header, rows)

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}, "P@2").tables()
        [(['query', 'item', 'effect', 'best rank'], [['q', 'b', '0.5000', '2']])]
        """
        effect = self.by == "effect"
        header = ["query", "item", *(["effect"] if effect else []), "best rank"]
        rows = [
            [
                self.queries[at],
                self.items[at],
                *([shown(self.effects[at])] if effect else []),
                f"{self.best_ranks[at]:,}",
            ]
            for at in self.priority[:SHOWN].tolist()
        ]
        tables: list[Table] = [(header, rows)] if rows else []
        if self.bounds:
            known = f"difference in {self.measure}"
            names = ["run", "against", known, "lowest", "highest", "can change"]
            tables.append((names, [_row(bound) for bound in self.bounds]))
        return tables

    def warnings(self) -> list[str]:
        """What could mislead whoever overlooks it.

        Returns
        -------
        list of str

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "@b"]}).warnings()
        ['1 id begins with one of = + - @, which a spreadsheet computes: edit the file in another \
program, or save it as .ndjson (@b).']
        """
        ids = list(dict.fromkeys(filter(is_computed, (*self.queries, *self.items))))
        said = self._grave()
        if ids:
            said.append(
                f"{counted(len(ids), 'id begins', 'ids begin')} with one of = + - @, which a "
                "spreadsheet computes: edit the file in another program, or save it as .ndjson "
                f"({few(ids)})."
            )
        said += self._without_text()
        return [Warned(text) for text in said]

    def _grave(self) -> list[str]:
        return [*([] if self._fresh else self.evaluation._grave()), *self._powerless()]

    @property
    def _fresh(self) -> bool:
        """Whether nobody judged anything yet."""
        return not len(self.evaluation.runs[0].rankings.grades)

    def _powerless(self) -> list[str]:
        """A top grade that is not relevant to the measure."""
        rel = self.evaluation.measures[0].params.get("rel", self.top_grade)
        if self.by != "effect" or self.top_grade >= rel:
            return []
        return [
            f"The top grade, {self.top_grade:g}, is not relevant to {self.measure}, which wants "
            f"{rel:g}: say what the top grade is (top_grade, --top-grade)."
        ]

    def _without_text(self) -> list[str]:
        """Items and queries about which a table of texts says nothing."""
        said = []
        for texts, ids, words in (
            (self.texts, self.items, ("item has", "items have")),
            (self.query_texts, self.queries, ("query has", "queries have")),
        ):
            if texts is not None:
                lost = [name for name in dict.fromkeys(ids) if name not in texts]
                if lost:
                    said.append(
                        f"{counted(len(lost), *words)} no text in {texts.source} ({few(lost)})."
                    )
        return said

    def sentences(self) -> list[str]:
        """What is in the queue, what was assumed, and what judgements could still change.

        Returns
        -------
        list of str

        >>> from judged import queue
        >>> queue({"q": {"a": 1}}, {"q": ["a", "b"]}, "P@2").sentences()[0]
        '1 unjudged result within the first 10 of any run, of 1 query.'
        """
        differences = [bound.says for bound in self.bounds]
        return [*self._warned(), *self._in_it(), *self._known(), *differences, *self._assumed()]

    def _in_it(self) -> list[str]:
        found = counted(self.candidates, "unjudged result")
        said = f"{found} within the first {self.depth:,} of any run"
        if not self.candidates:
            return [f"There is nothing to judge: no {said.partition(' ')[2]}."]
        queries = counted(len(set(self.queries)), "query", "queries")
        if len(self) < self.candidates:
            are = "is" if len(self) == 1 else "are"
            said += f"; the {len(self):,} most worthwhile {are} in the queue"
        return [f"{said}, of {queries}."]

    def _known(self) -> list[str]:
        said = []
        if self._fresh:
            said.append("Nobody judged anything yet: so far nothing is relevant for any query.")
        if self.without_effect:
            of = f"{self.without_effect:,} of {counted(self.candidates, 'result')}"
            said.append(
                f"{of} would change nothing in {self.measure}, had one of them alone the top grade."
            )
        if self.new_queries:
            said.append(
                f"{counted(len(self.new_queries), 'query has', 'queries have')} no judgement yet "
                f"({few(self.new_queries)}): so far in no number, nor in the differences."
            )
        if self.negative:
            said.append(
                f"{counted(self.negative, 'result has', 'results have')} a negative grade, and "
                f"{'is' if self.negative == 1 else 'are'} not asked for again."
            )
        return said

    def _assumed(self) -> list[str]:
        top = f"; the top grade is {self.top_grade:g}" if self.by == "effect" else ""
        return [
            f"By {self.by}: {BY[self.by]}{top}.",
            f"policy: {self.evaluation.policy}",
            f"The file for annotators is blind: queries in the order of their most worthwhile "
            f"item, the items of each shuffled by seed {self.seed}.",
        ]

    def _brief(self) -> list[str]:
        return [*self._in_it(), *self._known(), *self._settled()]

    def _settled(self) -> list[str]:
        """What the table of differences does not say by itself."""
        said = []
        settled = [bound for bound in self.bounds if bound.can_turn is False and bound.difference]
        if settled:
            leads = [f"{bound.better} stays better than {bound.worse}" for bound in settled]
            said.append(
                f"No judgement of results of judged queries can change: {'; '.join(leads)}."
            )
        if not all(bound.bounded for bound in self.bounds):
            said.append(
                f"Lowest and highest of {self.measure} are two scenarios, all unjudged results "
                "judged for one run or for the other: other judgements may go further."
            )
        return said


def _row(bound: Bound) -> list[str]:
    """A difference with its ends, and whether judgements can turn it."""
    can = {True: "yes", False: "no", None: "not in two scenarios"}[bound.can_turn]
    numbers = (bound.difference, bound.low, bound.high)
    return [bound.run, bound.against, *map(shown, numbers), can]
