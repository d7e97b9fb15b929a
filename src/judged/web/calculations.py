"""Every number of the explorer: what the library computes of the same files with the same options,
kept as long as there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError, did_you_mean, quoted
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.request import Request
from judged.inputs.data import Data
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching import judging
from judged.matching.variants import ONE_ORDER, restated
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.web.cache import Cache
from judged.web.errors import GoneError, StoppedError, UnreadableError
from judged.web.jobs import progress_of_this_work
from judged.web.parts import part_of
from judged.web.terms import Terms
from judged.web.workspace import System, Workspace

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.explanation.explanation import Explanation
    from judged.explanation.source import Read
    from judged.matching.joint import Joint


@dataclass(frozen=True, eq=False)
class Calculations:
    """The numbers of a workspace, under any terms.

    All methods may be called from any thread; what several ask for at once is computed once.
    """

    workspace: Workspace
    cache: Cache

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems, in the order of their files."""
        return self.workspace.systems

    def queries(self, terms: Terms) -> tuple[str, ...]:
        """The ids of all judged queries, in the order of the judgements."""
        return self.rankings(terms)[0].queries

    def evaluation(self, terms: Terms, *, interval: bool = True) -> Evaluation:
        """What `judged.evaluate` gives, with intervals unless they are not wanted."""
        options: dict[str, Any] = {"interval": True, "level": terms.level} if interval else {}
        key = "evaluation", terms.measures, self._assumed(terms), tuple(options.items())
        return self._kept(
            key, lambda: self._evaluated(self.rankings(terms), terms.request, **options)
        )

    def ranges(self, terms: Terms) -> Evaluation:
        """What `judged.evaluate` gives with the ranges of ties and of unjudged results."""
        key = "ranges", terms.measures, self._assumed(terms)
        both = {"tie_range": True, "unjudged_range": True}
        return self._kept(key, lambda: self._evaluated(self.rankings(terms), terms.request, **both))

    def _evaluated(
        self, rankings: Sequence[Rankings], request: Request, **options: Any
    ) -> Evaluation:
        progress_of_this_work().say("Computing measures")
        return evaluate_rankings(rankings, request, **options)

    def comparison(
        self,
        terms: Terms,
        *,
        baseline: str | None = None,
        systems: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        unjudged_range: bool = False,
        **settings: Any,
    ) -> Comparison:
        """What `judged.compare` gives, of some systems and measures: all pairs, or all against a
        baseline. With `unjudged_range` it is looked into what unjudged results could do."""
        names = [each.name for each in self.systems] if systems is None else list(systems)
        for name in (*names, *([baseline] if baseline else [])):
            self.workspace.system(name)
        asked = terms if measures is None else replace(terms, measures=tuple(measures))
        chosen = tuple(sorted(settings.items()))
        key = (
            *("comparison", asked.measures, self._assumed(asked), terms.level),
            *(baseline, tuple(names), unjudged_range, chosen),
        )

        def compared() -> Comparison:
            from judged.comparison import compare_evaluation
            from judged.comparison.dependence import check_missing, names_missing

            at = {each.name: place for place, each in enumerate(self.systems)}
            rankings = [self.rankings(asked)[at[name]] for name in names]
            if not names_missing(asked.chosen):
                check_missing(rankings)
            found = self._part(terms, asked, [at[name] for name in names])
            found = found or self._evaluated(rankings, asked.request)
            progress_of_this_work().say("Comparing systems")
            if unjudged_range:
                settings["joint"] = self._joint(asked, names)
            return compare_evaluation(found, baseline=baseline, level=terms.level, **settings)

        return self._kept(key, compared)

    def pairs(
        self,
        terms: Terms,
        systems: Sequence[str],
        *,
        measures: Sequence[str] | None = None,
        unjudged_range: bool = False,
    ) -> Comparison:
        """Compare some systems as the leaderboard does: with the baseline of the terms if it is one
        of them, otherwise all pairs, each against the first of `systems` where that is one of both.
        p values are corrected for all systems, so a pair has one verdict on all pages."""
        found = self.comparison(
            terms,
            baseline=terms.baseline if terms.baseline in systems else None,
            systems=self.order(systems),
            measures=measures,
            unjudged_range=unjudged_range,
        )
        return found if set(systems) == set(found.runs) else found.among(*systems)

    def order(self, systems: Sequence[str]) -> list[str]:
        """All systems as `pairs` compares them, these first."""
        return list(dict.fromkeys([*systems, *(each.name for each in self.systems)]))

    def _part(self, terms: Terms, asked: Terms, places: Sequence[int]) -> Evaluation | None:
        """Some systems and measures of the evaluation under these terms, where it is there already
        and has them."""
        options = {"interval": True, "level": terms.level}
        key = "evaluation", terms.measures, self._assumed(terms), tuple(options.items())
        if self._key(key) not in self.cache:
            return None
        return part_of(self.evaluation(terms), asked.request, places)

    def _joint(self, terms: Terms, names: Sequence[str]) -> Joint:
        """Some of the runs with the judgements, to be judged in favour of one of two."""
        from judged.matching.joint import Joint

        runs = [terms.request.prepare(self.run(name)) for name in names]
        known = self.judgements(), runs
        return Joint.of(*known, policy=terms.policy, duplicates=terms.duplicates)

    def rankings(self, terms: Terms) -> tuple[Rankings, ...]:
        """The rankings of all systems, in the order of their files."""
        key = "rankings", self._judged(terms)

        def made() -> tuple[Rankings, ...]:
            policy = terms.policy
            return tuple(restated(r, policy, terms.depth) for r in self._whole(terms, policy))

        return self._kept(key, made)

    def _whole(self, terms: Terms, policy: Policy) -> tuple[Rankings, ...]:
        """The rankings before a depth cuts them and unjudged items go, with ties broken in one
        order of the two that need the runs themselves."""
        ties = policy.ties if policy.ties in ONE_ORDER else "id"
        changed = self._prepared(terms)
        if ties == "input" and not self._tied(terms):
            ties = "id"
        for duplicates in ("error", terms.duplicates):
            # Where nothing repeats, keeping the first of repetitions changes nothing.
            key = "whole", ties, duplicates, changed
            if self._key(key) in self.cache:
                break
        return self._kept(key, lambda: self._judge(terms, ties, key[2]), lasting=True)

    def _tied(self, terms: Terms) -> bool:
        """Whether the order of the input could make a difference."""
        usual = self._whole(terms, Policy())
        return any(bool((r.spans[1] > r.spans[0]).any()) for r in usual)

    def _judge(self, terms: Terms, ties: str, duplicates: str) -> tuple[Rankings, ...]:
        """All runs judged, one after the other: what is read goes again where there is no room."""
        policy = Policy.of({"ties": ties})
        judge = judging(self.judgements(), policy=policy, duplicates=duplicates)
        found: list[Rankings] = []
        for system in self.systems:
            run = self.run(system.name)
            self._say(f"Judging {system.name}", len(found))
            found.append(judge(terms.request.prepare(run)))
        return tuple(found)

    def _prepared(self, terms: Terms) -> str | None:
        """The convention that changes one of these runs before anything is computed; None where
        none does."""
        if terms.convention is None:
            return None

        def looked() -> bool:
            runs = (self.run(system.name) for system in self.systems)
            return any(_differs(run, terms.request.prepare(run)) for run in runs)

        changes = self._kept(("prepared", terms.convention), looked, lasting=True)
        return terms.convention if changes else None

    def judgements(self) -> Judgements | Lookup:
        """The judgements, read once for each version of the file."""
        return self._kept(("judgements",), self._read(lambda data: data.judgements()), lasting=True)

    def run(self, system: str) -> Run | Lookup:
        """A run, read once for each version of the file."""
        chosen = self.workspace.system(system)
        own = chosen.file.name if len(self.systems) > 1 else None

        def read(data: Data) -> Run | Lookup:
            at = self.systems.index(chosen)
            self._say(f"Reading {chosen.file.name}", at)
            name, given = list(data.given_runs.items())[at]
            return replace(next(replace(data, given_runs={name: given}).runs()), name=system)

        return self._kept(("run", system), self._read(read, own), lasting=True)

    def _read(self, read: Callable[[Data], Any], file: str | None = None) -> Callable[[], Any]:
        """What reads something of the files; a file that cannot be read is refused as the command
        line refuses it."""

        def reading() -> Any:
            self.workspace.refuse_undecided()
            try:
                return read(self._kept(("data",), self._data))
            except JudgedError as error:
                if isinstance(error, StoppedError):
                    raise
                raise UnreadableError(self._named(str(error)), "files", file) from None

        return reading

    def _data(self) -> Data:
        judgements = self.workspace.judgements
        assert judgements is not None
        self._say(f"Reading {judgements.name}", 0)
        both = judgements.kind == "rows"
        files = {each.name: str(each.file.path) for each in self.systems[1 if both else 0 :]}
        return Data.of(str(judgements.path), files or None)

    def _say(self, what: str, done: int) -> None:
        progress_of_this_work().say(what, done, len(self.systems), "systems")

    def _named(self, message: str) -> str:
        """A message about files that were sent, with the names that people know."""
        for file in self.workspace.files:
            if file.uploaded:
                message = message.replace(str(file.path), file.name)
        return message

    def refuse_unknown_query(self, terms: Terms, query: str) -> None:
        """An error for a query that nobody judged, with the nearest one."""
        known = self.queries(terms)
        if query not in set(known):
            raise GoneError(
                f"There is no judged query {quoted(query)} among {len(known):,}"
                f"{did_you_mean(query, known)}",
                "query",
            )

    def listing(self, terms: Terms, system: str, query: str) -> Read:
        """One query of a system: its rankings, and which item stands where. Where ties are not
        broken, items of a tie stand in the order of their ids."""
        from judged.explanation.source import read

        policy = terms.policy
        if policy.ties == "expected":
            policy = replace(policy, ties="id")

        def made() -> Read:
            self.refuse_unknown_query(terms, query)
            return read(
                self.judgements(),
                self.run(system),
                query,
                relevant=None,
                pool=None,
                policy=policy,
                prepare=terms.request.prepare,
                depth=terms.depth,
                duplicates=terms.duplicates,
                collection=None,
                item_to=None,
                exclude_same_id=False,
                columns=None,
                judgements_format=None,
                run_format=None,
            )

        return self._kept(("listing", self._judged(terms), system, query), made)

    def explanation(
        self, terms: Terms, system: str, query: str, measure: str, *, rows: int | None = 30
    ) -> Explanation:
        """What `judged.explain` gives."""
        from judged.explanation import explain

        def made() -> Explanation:
            self.refuse_unknown_query(terms, query)
            judgements, run = self.judgements(), self.run(system)
            return explain(judgements, run, measure, query=query, rows=rows, **terms.options())

        key = "explanation", measure, self._assumed(terms), system, query, rows
        return self._kept(key, made)

    def _judged(self, terms: Terms) -> tuple[Any, ...]:
        """What rankings depend on."""
        policy = terms.policy
        return policy.ties, policy.unjudged, terms.convention, terms.depth, terms.duplicates

    def _assumed(self, terms: Terms) -> tuple[Any, ...]:
        """What numbers depend on besides the measures."""
        chosen = tuple(sorted(terms.chosen.items()))
        return chosen, terms.convention, terms.depth, terms.duplicates

    def _key(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.workspace.identity, *key)

    def _kept(self, key: tuple[Any, ...], make: Callable[[], Any], *, lasting: bool = False) -> Any:
        return self.cache.get(self._key(key), make, lasting=lasting)


def _differs(run: Run | Lookup, prepared: Run | Lookup) -> bool:
    """Whether a run was changed, or has more to say."""
    if run is prepared:
        return False
    if isinstance(run, Run) and isinstance(prepared, Run):
        same = run.frame is prepared.frame and run.queries == prepared.queries
        return not (same and run.notes == prepared.notes)
    return True
