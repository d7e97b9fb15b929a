"""All numbers of the explorer: what the library computes of the same files and options, cached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError, PolicyError, did_you_mean, quoted
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.ranges import last_rank
from judged.inputs.data import Data
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.matcher import match_with
from judged.matching.ties import ONE_ORDER, restated
from judged.policy import Policy
from judged.web.errors import GoneError, StoppedError, UnreadableError
from judged.web.work import Cache, progress_of_this_work

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.settings import EvaluationSettings
    from judged.explanation.explanation import Explanation
    from judged.explanation.question import RankedQuery
    from judged.matching.listings import Listings
    from judged.rankings.rankings import Rankings
    from judged.web.visit import ScoringSettings
    from judged.web.workspace import EvaluatedSystem, Workspace


MAX_RIVALS = 3  # how many runners-up are looked at for one that judgements could put first


@dataclass(frozen=True, eq=False)
class Calculations:
    """The numbers of a workspace under any settings; methods are safe to call from any thread."""

    workspace: Workspace
    cache: Cache

    @property
    def systems(self) -> tuple[EvaluatedSystem, ...]:
        return self.workspace.systems

    def queries(self, scoring: ScoringSettings) -> tuple[str, ...]:
        return self.rankings(scoring)[0].queries

    def evaluation(self, scoring: ScoringSettings, *, interval: bool = True) -> Evaluation:
        def evaluate() -> Evaluation:
            evaluation = self._evaluated(self.rankings(scoring), scoring.request)
            if not interval:
                return evaluation
            return evaluation.showing(intervals=True, level=scoring.level)

        level = scoring.level if interval else None
        return self._kept(("evaluation", scoring.measures, scoring.assumed, level), evaluate)

    def ranges(self, scoring: ScoringSettings) -> Evaluation:
        def evaluate() -> Evaluation:
            rankings = self.rankings(scoring)
            unjudged_range = all(r.subtopics is None for r in rankings)
            evaluation = self._evaluated(rankings, scoring.request)
            return evaluation.showing(tie_range=True, unjudged_range=unjudged_range)

        return self._kept(("ranges", scoring.measures, scoring.assumed), evaluate)

    def _evaluated(self, rankings: Sequence[Rankings], settings: EvaluationSettings) -> Evaluation:
        progress_of_this_work().say("Computing measures")
        return evaluate_rankings(rankings, settings)

    def comparison(
        self,
        scoring: ScoringSettings,
        *,
        baseline: str | None = None,
        systems: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        unjudged_range: bool = False,
        **settings: Any,
    ) -> Comparison:
        """Return what `judged.compare` gives for some systems and measures."""
        names = [system.name for system in self.systems] if systems is None else list(systems)
        for name in (*names, *([baseline] if baseline else [])):
            self.workspace.system(name)
        narrowed = scoring.with_measures(measures)
        key = (
            *("comparison", narrowed.measures, narrowed.assumed, scoring.level, baseline),
            *(tuple(names), unjudged_range, tuple(sorted(settings.items()))),
        )

        def compare() -> Comparison:
            from judged.comparison import compare_evaluation
            from judged.comparison.dependence import check_missing, names_missing

            places = {system.name: at for at, system in enumerate(self.systems)}
            rankings = [self.rankings(narrowed)[places[name]] for name in names]
            if not names_missing(narrowed.chosen):
                check_missing(rankings)
            evaluation = self._evaluated(rankings, narrowed.request)
            progress_of_this_work().say("Comparing systems")
            if unjudged_range:
                settings["joint"] = self._joint(narrowed, names)
            return compare_evaluation(
                evaluation, baseline=baseline, level=scoring.level, **settings
            )

        return self._kept(key, compare)

    def pairs(
        self,
        scoring: ScoringSettings,
        systems: Sequence[str],
        *,
        measures: Sequence[str] | None = None,
        unjudged_range: bool = False,
    ) -> Comparison:
        """Compare some systems, corrected for all, so that a pair has one verdict everywhere."""
        comparison = self.comparison(
            scoring,
            baseline=scoring.baseline if scoring.baseline in systems else None,
            systems=self.order(systems),
            measures=measures,
            unjudged_range=unjudged_range,
        )
        whole = set(systems) == set(comparison.runs)
        return comparison if whole else comparison.among(*systems)

    def possible_winner(
        self, scoring: ScoringSettings, measure: str, order: Sequence[str]
    ) -> str | None:
        """Return the first runner-up that judging unjudged results could put before the winner."""
        from judged.judgements.bounds import ROUNDING, bounds_of

        narrowed = scoring.with_measures([measure])
        places = {system.name: at for at, system in enumerate(self.systems)}

        def find() -> str | None:
            for name in order[1 : 1 + MAX_RIVALS]:
                names = [order[0], name]
                rankings = [self.rankings(narrowed)[places[each]] for each in names]
                evaluation = self._evaluated(rankings, narrowed.request)
                listings = self._joint(narrowed, names, last_rank(evaluation.measures[0]))
                top = rankings[0].top_grade
                (bounds,) = bounds_of(listings, evaluation, top=top)
                ahead = bounds.high if bounds.higher_is_better else -bounds.low
                if ahead > ROUNDING:
                    return name
            return None

        try:
            key = "possible winner", narrowed.measures, narrowed.assumed, tuple(order)
            return self._kept(key, find)
        except PolicyError:  # judgements by subtopic, where one grade is not enough
            return None

    def order(self, systems: Sequence[str]) -> list[str]:
        """Return all systems as `pairs` compares them, these first."""
        return list(dict.fromkeys([*systems, *(system.name for system in self.systems)]))

    def _joint(
        self, scoring: ScoringSettings, names: Sequence[str], within: int | None = None
    ) -> Listings:
        """Return runs and judgements, for judging in favour of one of two runs."""
        from judged.matching.listings import Listings

        runs = [scoring.request.prepare(self.run(name)) for name in names]
        options: dict[str, Any] = {"ties": scoring.policy.ties, "duplicates": scoring.duplicates}
        return Listings.of(self.judgements(), runs, **options, within=within)

    def rankings(self, scoring: ScoringSettings) -> tuple[Rankings, ...]:
        def restate() -> tuple[Rankings, ...]:
            policy = scoring.policy
            return tuple(restated(r, policy, scoring.depth) for r in self._whole(scoring, policy))

        return self._kept(("rankings", self._matched_by(scoring)), restate)

    def _whole(self, scoring: ScoringSettings, policy: Policy) -> tuple[Rankings, ...]:
        """Return the rankings before depth and unjudged items are cut, with one order of ties."""
        ties = policy.ties if policy.ties in ONE_ORDER else "id"
        key = "whole", ties, scoring.duplicates, scoring.convention
        return self._kept(key, lambda: self._match(scoring, ties), lasting=True)

    def _match(self, scoring: ScoringSettings, ties: str) -> tuple[Rankings, ...]:
        """Match all runs with the judgements, one after the other to save memory."""
        policy = Policy.of({"ties": ties, "duplicates": scoring.duplicates})
        match = match_with(self.judgements(), policy)
        rankings: list[Rankings] = []
        for system in self.systems:
            run = self.run(system.name)
            self._say(f"Matching {system.name}", len(rankings))
            with self._naming(self._removable(system)):
                rankings.append(match(scoring.request.prepare(run)))
        return tuple(rankings)

    def judgements(self) -> Judgements | Lookup:
        def read(data: Data) -> Judgements | Lookup:
            judgements = data.judgements()
            if self.workspace.grades is None:
                return judgements
            from judged.judgements.merge import merge_judgements

            both = {"grades": str(self.workspace.grades.path), "collection": judgements}
            return merge_judgements(both, rule="first")

        return self._read(("judgements",), read)

    def run(self, system: str) -> Run | Lookup:
        chosen = self.workspace.system(system)

        def read(data: Data) -> Run | Lookup:
            at = self.systems.index(chosen)
            self._say(f"Reading {chosen.file.name}", at)
            name, source = list(data.given_runs.items())[at]
            return replace(next(replace(data, given_runs={name: source}).runs()), name=system)

        return self._read(("run", system), read, self._removable(chosen))

    def _removable(self, system: EvaluatedSystem) -> str | None:
        return system.file.name if len(self.systems) > 1 else None

    def runs(self) -> dict[str, Run | Lookup]:
        return {system.name: self.run(system.name) for system in self.systems}

    def _read(
        self, key: tuple[Any, ...], read: Callable[[Data], Any], file: str | None = None
    ) -> Any:
        """Read something once; errors are those of the command line, with the names of uploads."""

        def reading() -> Any:
            self.workspace.refuse_undecided()
            with self._naming(file):
                return read(self._kept(("data",), self._data))

        return self._kept(key, reading, lasting=True)

    @contextmanager
    def _naming(self, file: str | None) -> Iterator[None]:
        """Turn errors into those of a file, with the names of uploads instead of their paths."""
        try:
            yield
        except (StoppedError, UnreadableError):
            raise
        except JudgedError as error:
            message = str(error)
            for known in self.workspace.files:
                if known.uploaded:
                    message = message.replace(str(known.path), known.name)
            raise UnreadableError(message, "files", file) from None

    def _data(self) -> Data:
        judgements = self.workspace.judgements
        assert judgements is not None
        self._say(f"Reading {judgements.name}", 0)
        both = judgements.kind == "rows"
        files = {run.name: str(run.file.path) for run in self.systems[1 if both else 0 :]}
        return Data.of(str(judgements.path), files or None)

    def _say(self, what: str, done: int) -> None:
        progress_of_this_work().say(what, done, len(self.systems), "systems")

    def refuse_unknown_query(self, scoring: ScoringSettings, query: str) -> None:
        known = self.queries(scoring)
        if query not in set(known):
            raise GoneError(
                f"Query {quoted(query)} is not one of the {len(known):,} judged queries"
                f"{did_you_mean(query, known)}",
                "query",
            )

    def listing(self, scoring: ScoringSettings, system: str, query: str) -> RankedQuery:
        """Return the rankings and items of one query; unbroken ties are in the order of ids."""
        from judged.explanation.question import read

        settings = scoring.request
        if settings.policy.ties == "expected":
            settings = replace(settings, policy=replace(settings.policy, ties="id"))

        def look_up() -> RankedQuery:
            self.refuse_unknown_query(scoring, query)
            tables = self.judgements(), self.run(system)
            return read(*tables, query, relevant=None, pool=None, settings=settings, scoring={})

        return self._kept(("listing", self._matched_by(scoring), system, query), look_up)

    def explanation(
        self,
        scoring: ScoringSettings,
        system: str,
        query: str,
        measure: str,
        *,
        rows: int | None = 30,
    ) -> Explanation:
        from judged.explanation import explain

        def explain_query() -> Explanation:
            self.refuse_unknown_query(scoring, query)
            judgements, run = self.judgements(), self.run(system)
            return explain(judgements, run, measure, query=query, rows=rows, **scoring.scoring())

        key = "explanation", measure, scoring.assumed, system, query, rows
        return self._kept(key, explain_query)

    def _matched_by(self, scoring: ScoringSettings) -> tuple[Any, ...]:
        policy = scoring.policy
        return policy.ties, policy.unjudged, scoring.convention, scoring.depth, scoring.duplicates

    def _key(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.workspace.identity, *key)

    def _kept(self, key: tuple[Any, ...], make: Callable[[], Any], *, lasting: bool = False) -> Any:
        return self.cache.get(self._key(key), make, lasting=lasting)
