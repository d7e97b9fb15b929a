"""How the queries' values of a measure become its one number."""

from __future__ import annotations

from typing import Any

from judged.arrays import Floats
from judged.measures.aggregation import AGGREGATIONS
from judged.measures.spec import Settled, Spec, accepted
from judged.rankings.rankings import Rankings
from judged.statistics.samples import Rows, Sample


class Summarised:
    """A measure whose values become one number."""

    spec: Spec

    @property
    def params(self) -> dict[str, Any]:
        """{parameter: value}, the defaults included."""
        raise NotImplementedError

    def gives(self, rankings: Rankings) -> Rows | None:
        """What each query gives to the one number, where that is not one value.

        Parameters
        ----------
        rankings : Rankings
            Judged lists, of all queries or of some.

        Returns
        -------
        Rows or None
            None where `aggregate` of the queries' values is the number.

        >>> import judged
        >>> rankings = judged.Rankings.from_relevance([[0, 1], [1, 1]])
        >>> judged.Rank(of="all").gives(rankings).columns.tolist()
        [[2.0], [1.0], [2.0]]
        >>> judged.Rank.gives(rankings) is None
        True
        """
        form = self.spec.gives
        return None if form is None else form(rankings, **accepted(form, self.params))

    def summarise(self, rows: Rows | None, settled: Settled) -> float:
        """The one number for all queries.

        Parameters
        ----------
        rows : Rows or None
            What the queries give (`gives`), where that is not one value each.
        settled : Settled
            The queries' values after policy.

        Returns
        -------
        float
            NaN where no query counts.

        >>> import judged, numpy as np
        >>> from judged.measures import Settled
        >>> settled = Settled(np.array([0.5, 1.0]), np.ones(2, bool), lambda values: values)
        >>> judged.RR.summarise(None, settled)
        0.75
        """
        if not settled.counted.any():
            return float("nan")
        sample = self.made_of(rows, settled)
        if sample is not None:
            return sample.value()
        return AGGREGATIONS[self.params["aggregate"]](settled.values, settled.weights)

    def made_of(self, rows: Rows | None, settled: Settled) -> Sample | None:
        """What the one number for all queries is made of, where that is not one value per query.

        Parameters
        ----------
        rows : Rows or None
            What the queries give (`gives`), where that is not one value each.
        settled : Settled
            The queries' values after policy.

        Returns
        -------
        Sample or None
            One row per query that counts; None where `aggregate` of the queries' values is it.

        >>> import judged, numpy as np
        >>> from judged.measures import Settled
        >>> rankings = judged.Rankings.from_relevance([[0, 1], [1, 1]])
        >>> settled = Settled(np.array([2.0, 1.5]), np.ones(2, bool), lambda values: values)
        >>> pooled = judged.Rank(of="all")
        >>> pooled.made_of(pooled.gives(rankings), settled).columns.tolist()
        [[2.0, 1.0], [3.0, 2.0]]
        """
        form = self.spec.made_of
        if form is None or rows is None:
            return None
        return form(rows, settled, **accepted(form, self.params))

    def summarise_error(
        self, values: Floats, errors: Floats, weights: Floats | None = None
    ) -> float | None:
        """The standard error of the one number for all queries.

        Parameters
        ----------
        values : numpy.ndarray
            The values of the queries that count.
        errors : numpy.ndarray
            Their standard errors.
        weights : numpy.ndarray, optional
            Their weights, all above 0; by default the queries count the same.

        Returns
        -------
        float or None
            None where the number is made another way than from the queries' values.

        >>> import judged, numpy as np
        >>> judged.RR.summarise_error(np.array([0.5, 0.5]), np.array([0.03, 0.04]))
        0.025
        """
        if self.spec.made_of is not None or not len(values):
            return None
        return AGGREGATIONS[self.params["aggregate"]].standard_error(values, errors, weights)
