"""All numbers of the explorer: what the library computes of the same files and options, cached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from judged.errors import JudgedError, did_you_mean, quoted
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.inputs.data import Data
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.matcher import match_with
from judged.matching.variants import ONE_ORDER, restated
from judged.policy import Policy
from judged.web.errors import GoneError, StoppedError, UnreadableError
from judged.web.work import Cache, progress_of_this_work

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.scores import Scored
    from judged.evaluation.settings import EvaluationSettings
    from judged.explanation.explanation import Explanation
    from judged.explanation.question import Read
    from judged.matching.listings import Joint
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings
    from judged.web.visit import ScoringSettings
    from judged.web.workspace import EvaluatedSystem, Workspace

PerMeasure = TypeVar("PerMeasure")


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

        return self._kept(self._evaluation_key(scoring, interval), evaluate)

    def ranges(self, scoring: ScoringSettings) -> Evaluation:
        return self._kept(
            ("ranges", scoring.measures, scoring.assumed),
            lambda: self._evaluated(self.rankings(scoring), scoring.request).showing(
                tie_range=True, unjudged_range=True
            ),
        )

    def _evaluated(self, rankings: Sequence[Rankings], settings: EvaluationSettings) -> Evaluation:
        progress_of_this_work().say("Computing measures")
        return evaluate_rankings(rankings, settings)

    def _evaluation_key(self, scoring: ScoringSettings, interval: bool = True) -> tuple[Any, ...]:
        level = scoring.level if interval else None
        return "evaluation", scoring.measures, scoring.assumed, level

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
        """Return what `judged.compare` gives for some systems and measures.

        It compares all pairs, or all systems with a baseline. With `unjudged_range`, it examines
        the effect of unjudged results.
        """
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
            chosen = [places[name] for name in names]
            rankings = [self.rankings(narrowed)[at] for at in chosen]
            if not names_missing(narrowed.chosen):
                check_missing(rankings)
            evaluation = None
            if self._key(self._evaluation_key(scoring)) in self.cache:
                evaluation = part_of(self.evaluation(scoring), narrowed.request, chosen)
            evaluation = evaluation or self._evaluated(rankings, narrowed.request)
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
        """Compare some systems as the leaderboard does.

        p values are corrected for all systems, so a pair has one verdict on all pages. The
        baseline of the settings is used if it is one of these systems.
        """
        comparison = self.comparison(
            scoring,
            baseline=scoring.baseline if scoring.baseline in systems else None,
            systems=self.order(systems),
            measures=measures,
            unjudged_range=unjudged_range,
        )
        whole = set(systems) == set(comparison.runs)
        return comparison if whole else comparison.among(*systems)

    def order(self, systems: Sequence[str]) -> list[str]:
        """Return all systems as `pairs` compares them, these first."""
        return list(dict.fromkeys([*systems, *(system.name for system in self.systems)]))

    def _joint(self, scoring: ScoringSettings, names: Sequence[str]) -> Joint:
        """Return runs and judgements, for judging in favour of one of two runs."""
        from judged.matching.listings import Joint

        runs = [scoring.request.prepare(self.run(name)) for name in names]
        options: dict[str, Any] = {"policy": scoring.policy, "duplicates": scoring.duplicates}
        return Joint.of(self.judgements(), runs, **options)

    def rankings(self, scoring: ScoringSettings) -> tuple[Rankings, ...]:
        def restate() -> tuple[Rankings, ...]:
            policy = scoring.policy
            return tuple(restated(r, policy, scoring.depth) for r in self._whole(scoring, policy))

        return self._kept(("rankings", self._matched_by(scoring)), restate)

    def _whole(self, scoring: ScoringSettings, policy: Policy) -> tuple[Rankings, ...]:
        """Return the rankings before depth and unjudged items are cut, with one order of ties."""
        ties = policy.ties if policy.ties in ONE_ORDER else "id"
        changed = self._changing_convention(scoring)
        if ties == "input" and not self._has_ties(scoring):
            ties = "id"
        for duplicates in ("error", scoring.duplicates):
            # Without repetitions, keeping the first of them changes nothing.
            key = "whole", ties, duplicates, changed
            if self._key(key) in self.cache:
                break
        return self._kept(key, lambda: self._match(scoring, ties, key[2]), lasting=True)

    def _has_ties(self, scoring: ScoringSettings) -> bool:
        usual = self._whole(scoring, Policy())
        return any(bool((r.spans[1] > r.spans[0]).any()) for r in usual)

    def _match(self, scoring: ScoringSettings, ties: str, duplicates: str) -> tuple[Rankings, ...]:
        """Match all runs with the judgements, one after the other to save memory."""
        match = match_with(self.judgements(), Policy.of({"ties": ties, "duplicates": duplicates}))
        rankings: list[Rankings] = []
        for system in self.systems:
            run = self.run(system.name)
            self._say(f"Matching {system.name}", len(rankings))
            rankings.append(match(scoring.request.prepare(run)))
        return tuple(rankings)

    def _changing_convention(self, scoring: ScoringSettings) -> str | None:
        """Return the convention if it changes one of the runs before scoring."""
        if scoring.convention is None:
            return None

        def look() -> bool:
            runs = (self.run(system.name) for system in self.systems)
            return any(_is_changed(run, scoring.request.prepare(run)) for run in runs)

        changes = self._kept(("prepared", scoring.convention), look, lasting=True)
        return scoring.convention if changes else None

    def judgements(self) -> Judgements | Lookup:
        return self._read(("judgements",), lambda data: data.judgements())

    def run(self, system: str) -> Run | Lookup:
        chosen = self.workspace.system(system)
        removable = chosen.file.name if len(self.systems) > 1 else None

        def read(data: Data) -> Run | Lookup:
            at = self.systems.index(chosen)
            self._say(f"Reading {chosen.file.name}", at)
            name, source = list(data.given_runs.items())[at]
            return replace(next(replace(data, given_runs={name: source}).runs()), name=system)

        return self._read(("run", system), read, removable)

    def runs(self) -> dict[str, Run | Lookup]:
        return {system.name: self.run(system.name) for system in self.systems}

    def _read(
        self, key: tuple[Any, ...], read: Callable[[Data], Any], file: str | None = None
    ) -> Any:
        """Read something once; errors are those of the command line, with the names of uploads."""

        def reading() -> Any:
            self.workspace.refuse_undecided()
            try:
                return read(self._kept(("data",), self._data))
            except StoppedError:
                raise
            except JudgedError as error:
                message = str(error)
                for known in self.workspace.files:
                    if known.uploaded:
                        message = message.replace(str(known.path), known.name)
                raise UnreadableError(message, "files", file) from None

        return self._kept(key, reading, lasting=True)

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
                f"There is no judged query {quoted(query)} among {len(known):,}"
                f"{did_you_mean(query, known)}",
                "query",
            )

    def listing(self, scoring: ScoringSettings, system: str, query: str) -> Read:
        """Return the rankings and items of one query; unbroken ties are in the order of ids."""
        from judged.explanation.question import read

        settings = scoring.request
        if settings.policy.ties == "expected":
            settings = replace(settings, policy=replace(settings.policy, ties="id"))

        def look_up() -> Read:
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


def _is_changed(run: Run | Lookup, prepared: Run | Lookup) -> bool:
    """Return whether a convention changed a run or its notes."""
    if run is prepared:
        return False
    if isinstance(run, Run) and isinstance(prepared, Run):
        same = run.frame is prepared.frame and run.queries == prepared.queries
        return not (same and run.notes == prepared.notes)
    return True


def part_of(
    evaluation: Evaluation, settings: EvaluationSettings, places: Sequence[int]
) -> Evaluation | None:
    """Return some systems and measures of an evaluation, without confidence intervals.

    None if a measure is missing or has another label.
    """
    wanted = settings.measures
    if not all(measure in evaluation.measures for measure in wanted):
        return None
    labels = {measure: settings.labels.get(measure, str(measure)) for measure in wanted}
    if any(evaluation.label(measure) != label for measure, label in labels.items()):
        return None
    runs = tuple(_part_of_run(evaluation.runs[at], wanted) for at in places)
    return Evaluation(runs, wanted, evaluation.policy, settings.convention)


def _part_of_run(run: Scored, wanted: Sequence[Measure]) -> Scored:
    def some(known: Mapping[Measure, PerMeasure]) -> dict[Measure, PerMeasure]:
        return {measure: known[measure] for measure in wanted if measure in known}

    return replace(
        run,
        values=some(run.values),
        summary=some(run.summary),
        samples=some(run.samples),
        nothing=some(run.nothing),
        errors=some(run.errors),
        summary_errors=some(run.summary_errors),
        unsure=some(run.unsure),
        intervals={},
        labels=some(run.labels),
    )
