"""How one number of one query comes about: what `judged.explain` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from judged.explanation import export, text
from judged.explanation.animation import Animation, animation
from judged.explanation.gif import to_gif
from judged.explanation.improvement import Change, Variant, best_change, variants
from judged.explanation.listing import Row, Steps, threshold
from judged.explanation.text import Worked
from judged.measures import Measure
from judged.policy import Policy
from judged.rankings.audit import audit_of
from judged.rankings.rankings import Rankings
from judged.results import Display, DisplayOptions, Document, Frame, Result

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """How one number of one query comes about; what `judged.explain` returns.

    >>> from judged import explain
    >>> explanation = explain("0 1 0 0 1 0 1 0 1 0", measure="AP", relevant=6)
    >>> round(explanation.value, 6)
    0.295503
    >>> explanation.arithmetic
    'AP = (1/2 + 2/5 + 3/7 + 4/9) / 6 = (0.5 + 0.4 + 0.4286 + 0.4444) / 6 = 1.773 / 6 = 0.2955'
    """

    SAVED_AS: ClassVar[dict[str, str]] = {**Result.SAVED_AS, ".tex": "to_latex", ".gif": "to_gif"}

    measure: Measure
    """What is explained."""
    rankings: Rankings
    """Of the one query."""
    policy: Policy
    """What was assumed."""
    value: float
    """What the measure says; NaN where it has no value."""
    settled: float
    """What the policy makes of that: the value itself where there is one, NaN where the query does
    not count."""
    steps: Steps | None
    """The arithmetic; None where the measure has no value."""
    rows: tuple[Row, ...]
    """The ranks that are shown."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, as far as ids are
    known."""
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids of all results by rank, those that are not shown too."""

    @property
    def query(self) -> str:
        """The id of the query."""
        return self.rankings.queries[0]

    @property
    def arithmetic(self) -> str:
        """The formula with this list's numbers, worked out step by step on one line."""
        if self.steps is None:
            return f"{self.measure} is undefined: {self.measure.spec.undefined.text}"
        return " = ".join([str(self.measure), *self.steps.value.stages()])

    @property
    def left_out(self) -> int:
        """How many ranks are not shown."""
        return int(self.rankings.retrieved[0]) - len(self.rows)

    @property
    def relevant(self) -> int:
        """How many items of the pool the measure counts as relevant."""
        return int(self.rankings.relevant(threshold(self.measure))[0])

    @cached_property
    def best_change(self) -> Change | None:
        """The move of one item that would make the number best; None where none makes it better."""
        return best_change(self.measure, self.value, self.rankings)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Other definitions of the same measure under which this list has another value, those of
        libraries first."""
        return variants(self.measure, self.value, self.rankings)

    @cached_property
    def animation(self) -> Animation:
        """The walk down the ranking, frame by frame: what the page and the GIF draw."""
        return animation(self)

    @property
    def lines(self) -> list[Worked]:
        """The arithmetic line by line, and why each line is so; none where there is no value.

        >>> from judged import explain
        >>> [(line.text, line.says) for line in explain("0 1", measure="P@2").lines]
        [('k = 2', 'the divisor: k, however long the list is'), ('P@2 = 1/2 = 0.5', '')]
        """
        return list(text.worked_out(self))

    @property
    def improvement(self) -> str:
        """What would help most, in a sentence; empty where no single move helps.

        >>> from judged import explain
        >>> explain("0 1", measure="RR").improvement.partition(", ")[0]
        'What would help most: the item at rank 2 (grade 1)'
        """
        return text.improvement(self)

    # -- formats: what each looks like is decided in its own module

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold; numbers are exact.

        Whoever shows an explanation elsewhere has all of it here and computes nothing.

        Returns
        -------
        dict
            - `heading`, `value` (the measure's own), `settled` (with the policy), `measure` (its
              definition), `query`, `run`, `policy`, `says`, `formula` (`text`, `latex`);
            - `retrieved`, `relevant`, `not_retrieved` (ids and grades), `ranks_left_out`;
            - `ranks`: what is known of each rank that is shown, by the names of columns, with what
              it `adds`. `table` has the same as texts: `header`, `rows`, in `right` the numbers of
              the columns that end right, in `skipped` how many ranks are left out before each row;
            - `before`, `divisor`: what is worked out first; `lines`: the whole arithmetic, each
              with `symbol`, `text`, `stages`, `value`, `says`, `latex`; `arithmetic` and `latex`:
              its last line, `align`: all of `to_latex`;
            - `warnings`, `sentences`, `best_change` (its sentence in `says`), `variants`;
            - `walk`: the animation, as `Animation.to_dict` has it.

        >>> from judged import explain
        >>> explain("0 1", measure="RR").to_dict()["arithmetic"]
        'RR = 1/2 = 0.5'
        """
        return export.to_dict(self)

    def to_frame(self) -> Frame:
        """The ranks that are shown, as a polars table with what the measure looks at in each.

        Returns
        -------
        polars.DataFrame

        >>> from judged import explain
        >>> explain("0 1", measure="RR").to_frame().columns
        ['rank', 'grade', 'judged', 'relevant', 'counts', 'mark', 'adds']
        """
        import polars as pl

        return pl.DataFrame(export.values(self), infer_schema_length=None)

    def warnings(self, **display: Unpack[DisplayOptions]) -> list[str]:
        return list(audit_of(self.rankings).warnings)

    def document(self, display: Display) -> Document:
        return text.document(self, display)

    def sentences(self, **display: Unpack[DisplayOptions]) -> list[str]:
        return list(text.sentences(self))

    def to_markdown(self, **display: Unpack[DisplayOptions]) -> str:
        return text.to_markdown(self)

    def to_latex(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the formula and its calculation as an align environment of amsmath.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.

        Returns
        -------
        str

        >>> from judged import explain
        >>> explain("0 1", measure="P").to_latex().splitlines()[-2]
        'P &= \\\\frac{1}{2} = 0.5'
        """
        return export.to_latex(self)

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        return export.to_html(self)

    def to_gif(self) -> bytes:
        """The walk down the ranking as a picture, for slides and READMEs.

        Needs Pillow, of the extra `charts`.

        Returns
        -------
        bytes

        >>> from judged import explain
        >>> explain("0 1", measure="RR").to_gif()[:3]
        b'GIF'
        """
        return to_gif(self)

    def _repr_html_(self) -> str:
        return export.notebook(self)
