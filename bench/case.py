"""What a case of the benchmark is: its contenders and what is claimed about them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from bench.data import Drawn, Embedded, Size

Quantity = Literal["wall", "cpu", "memory", "gigabytes", "per line"]


@dataclass(frozen=True)
class Elsewhere:
    """What a contender needs that this environment does not have: an environment variable has its
    path."""

    variable: str
    what: Literal["tree", "interpreter", "program"]
    """Another checkout of judged; another Python, where a peer is installed; a program."""

    @property
    def path(self) -> str | None:
        return os.environ.get(self.variable)


BEFORE = Elsewhere("JUDGED_BENCH_BEFORE", "tree")
TREC_EVAL = Elsewhere("JUDGED_BENCH_TREC_EVAL", "program")


@dataclass(frozen=True)
class Contender:
    """What is run: arguments of the Python interpreter, with `{qrels}` and `{run}` for the files of
    its size, and `{runs}` for all runs."""

    name: str
    command: tuple[str, ...]
    size: Size | Embedded | Drawn
    prints_json: bool = True
    reads_qrels: bool = True
    rounds: int | None = None
    """At most so many rounds: for slow peers that no claim is about."""
    elsewhere: Elsewhere | None = None
    """What it is left out without."""

    @property
    def lines(self) -> int:
        """Lines that it reads; of vectors and drawn numbers none."""
        if not isinstance(self.size, Size):
            return 0
        judgements = self.size.judgements if self.reads_qrels else 0
        return self.size.queries * (self.size.results * self.size.runs + judgements)


@dataclass(frozen=True)
class Claim:
    """`left op right` of one quantity stays within a bound, or `left` alone where there is no
    `right`; the text says it in words."""

    text: str
    quantity: Quantity
    left: str
    op: Literal["/", "-"]
    right: str
    relation: Literal["at least", "at most"]
    bound: float

    def holds(self, value: float) -> bool:
        return value >= self.bound if self.relation == "at least" else value <= self.bound


@dataclass(frozen=True)
class Case:
    """Contenders that are compared with each other; the first is the one that others are set in
    ratio to."""

    name: str
    title: str
    contenders: tuple[Contender, ...]
    claims: tuple[Claim, ...]
    repeat: int
    reference: str | None = None
    """Whose means the others' are compared with."""
    one_job: bool = True
    """All do the same or a part of it, so that ratios and time per line say something."""
    by_name: bool = False
    """So large that it is only run when somebody names it."""


def faster(text: str, slow: str, fast: str, bound: float) -> Claim:
    return Claim(text, "wall", slow, "/", fast, "at least", bound)


def within(text: str, left: str, op: Literal["/", "-"], right: str, bound: float) -> Claim:
    return Claim(text, "wall", left, op, right, "at most", bound)


def at_most(text: str, quantity: Quantity, left: str, right: str, bound: float) -> Claim:
    return Claim(text, quantity, left, "/", right, "at most", bound)
