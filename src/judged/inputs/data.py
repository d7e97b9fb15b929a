"""Judgements and runs as they were given, by whatever way in; each is read when its turn comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from os.path import isfile
from typing import TYPE_CHECKING, Any, TypeAlias

from judged.errors import InputError
from judged.inputs import as_runs, read_judgements, read_run
from judged.inputs.columns import as_columns

if TYPE_CHECKING:
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.types import ColumnsLike, FileFormat, JudgementsLike, RunsLike

    OfJudgements: TypeAlias = "Callable[[Judgements | Lookup], Judgements | Lookup]"
    OfRun: TypeAlias = "Callable[[Run | Lookup], Run | Lookup]"


def _same(table: Any) -> Any:
    return table


@dataclass(frozen=True, eq=False)
class Data:
    """What every function takes that scores runs: judgements, and runs by name.

    >>> data = Data.of({"q": {"a": 1}}, {"q": ["b", "a"]})
    >>> [run.name for run in data.runs()]
    ['run']
    """

    given: JudgementsLike
    given_runs: Mapping[str | None, Any]
    columns: Mapping[str, tuple[str, ...]]
    """What each of the columns is that somebody named."""
    judgements_format: FileFormat | None = None
    run_format: FileFormat | None = None
    of_judgements: OfJudgements = _same
    """What is done to the judgements once they are read."""
    of_run: OfRun = _same
    """What is done to each run once it is read."""
    ahead: Future[Run | Lookup] | None = None
    """The first run, where it is being read already."""

    @classmethod
    def of(
        cls,
        judgements: JudgementsLike,
        runs: RunsLike | None,
        *,
        columns: ColumnsLike | None = None,
        judgements_format: FileFormat | None = None,
        run_format: FileFormat | None = None,
    ) -> Data:
        """Data from what a caller may pass; without runs, `judgements` are rows that hold both."""
        if runs is None:
            raise InputError("judgements need a run beside them.")
        shared = as_columns(columns, alone=False)
        return cls(judgements, as_runs(runs), shared, judgements_format, run_format)

    def then(self, *, judgements: OfJudgements = _same, run: OfRun = _same) -> Data:
        """The same data, with something more done to them once they are read."""
        before, before_run = self.of_judgements, self.of_run
        return replace(
            self,
            of_judgements=lambda table: judgements(before(table)),
            of_run=lambda table: run(before_run(table)),
        )

    def kept(self, runs: int | None = None) -> Data:
        """The same data with the judgements and the first runs read, all of them without a number,
        so that they can be looked at more than once."""
        read = dict(zip(self.given_runs, islice(self._read_runs(), runs), strict=False))
        judgements = self._read_judgements()
        return replace(self, given=judgements, given_runs={**self.given_runs, **read}, ahead=None)

    @contextmanager
    def reading_ahead(self) -> Iterator[Data]:
        """The same data, the first run of which is read while other things are done: it is the
        longest wait."""
        name, first = next(iter(self.given_runs.items()))
        if not isinstance(first, (str, PathLike)) or not isfile(first):
            yield self
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as thread:
            yield replace(self, ahead=thread.submit(self._read_run, name, first))

    def judgements(self) -> Judgements | Lookup:
        """The judgements."""
        return self.of_judgements(self._read_judgements())

    def runs(self) -> Iterator[Run | Lookup]:
        """The runs, one after the other."""
        return map(self.of_run, self._read_runs())

    def run(self, one: str) -> Run | Lookup:
        """The only run; `one` is what is said where there are several."""
        if len(self.given_runs) > 1:
            raise InputError(one)
        return next(self.runs())

    def _read_judgements(self) -> Judgements | Lookup:
        return read_judgements(self.given, columns=self.columns, format=self.judgements_format)

    def _read_runs(self) -> Iterator[Run | Lookup]:
        ahead = self.ahead
        for name, given in self.given_runs.items():
            yield ahead.result() if ahead else self._read_run(name, given)
            ahead = None

    def _read_run(self, name: str | None, given: Any) -> Run | Lookup:
        return read_run(given, name=name, columns=self.columns, format=self.run_format)
