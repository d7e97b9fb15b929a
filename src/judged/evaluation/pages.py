"""What of an evaluation opens in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from judged.evaluation.uncertainty import Uncertain

if TYPE_CHECKING:
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.options import GroupsLike, SlicesLike
    from judged.web.report.report import Report


class Paged(Uncertain):
    """The report of an evaluation; `Evaluation` holds what is in it."""

    def report(
        self,
        *,
        measure: str | Measure | None = None,
        baseline: str | None = None,
        missing: str | None = None,
        slices: SlicesLike | None = None,
        groups: GroupsLike | None = None,
        level: float | None = None,
        top_k: TopK | Mapping[str, TopK] | None = None,
        **options: Any,
    ) -> Report:
        """Everything about this evaluation in one HTML file.

        An evaluation keeps no ids of results, so that lists show the grades of their ranks alone;
        a report that `judged.make_report` makes from judgements and runs has the ids too.

        Parameters
        ----------
        measure : str or Measure, optional
            What the runs are ranked by; by default the first measure.
        baseline : str, optional
            The run that all others are compared with; by default all pairs are compared.
        missing : str, optional
            Where a run lacks more than a tenth of the queries that another has, they are not
            compared unless this says that they count as in this evaluation: "zero".
        slices : SlicesLike, optional
            Attributes of the queries, to compare the runs in each slice too.
        groups : GroupsLike, optional
            The group of each query, where queries of a group are not independent.
        level : float, optional
            The level of intervals; by default that of the evaluation, which is 0.95 unless said.
        top_k : TopK or Mapping, optional
            The first items of each query, as `Embeddings.top_k` gives them, for the lists; of
            several runs {run: TopK}.
        **options : Any
            `title`, `date`, `texts`, `queries`, `pictures` and `max_size`, as
            `judged.make_report` has them.

        Returns
        -------
        Report

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR")
        >>> found.report(title="Search").to_html().count("<h1>")
        1
        """
        from judged.web.report import report_of

        return report_of(
            cast("Evaluation", self),
            measure=measure,
            baseline=baseline,
            missing=missing,
            slices=slices,
            groups=groups,
            level=level,
            top_k=top_k,
            **options,
        )
