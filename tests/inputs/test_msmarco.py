"""Three columns without a header: ranks, scores, or a question."""

from __future__ import annotations

import gzip
import itertools
import random

import pytest

from judged.errors import InputError
from judged.inputs import read_judgements, read_run
from judged.text import Warned
from support.errors import error_of
from support.loops import for_each

RANKS = (
    "There is no header: the third column is read as ranks (whole numbers that count up from the "
    "first line of each query); format={'run': 'scores'} reads scores."
)
SCORES = (
    "There is no header: the third column is read as scores, the greatest the best; "
    "format={'run': 'msmarco'} reads ranks."
)


def text(*lists, separator="\t"):
    """Rows of some queries, each a list of values in the order of its lines."""
    rows = [
        (f"q{query}", f"d{at}", str(value))
        for query, values in enumerate(lists)
        for at, value in enumerate(values)
    ]
    return "".join(separator.join(row) + "\n" for row in rows)


RANKED = [
    *([[1, 2, 3]], [[0, 1, 2]], [[1, 2], [1, 2, 3]], [[0, 1], [1, 2]], [[1, 4, 9]]),
    *([["1.0", "2.0"]], [[1], [1]], [[1], [1, 2]]),
]
SCORED = [
    *([[0.9, 0.5, 0.1]], [[0.1, 0.5, 0.9]], [["1e-3", 2]], [[-1, -2, -3]], [[3, 2, 1, 0, -1]]),
    *([[5, 5, 3]], [[5, 5, 3], [3, 2, 1]], [[1, 1, 1]], [["inf", 3, 2]], [[7], [0.5]]),
    *([[7], [9]], [[2, 1.5]]),
]
EITHER = [
    *([[3, 2, 1]], [[1], [30, 20]], [[2, 3, 1]], [[5, 7, 9]], [[3, 5, 3]], [[1, 2], [3, 1]]),
    *([[1, 2, 2, 3], [1, 2]], [[1, 2], [1, 2.5]], [[1, 2], [-1, 2]], [[1, 2], [7]]),
    [[0.5, 0.1], [0, 1]],
]


@for_each(
    "lists, sign, note",
    [*((lists, -1, RANKS) for lists in RANKED), *((lists, 1, SCORES) for lists in SCORED)],
)
def test_ranks_and_scores(write, lists, sign, note):
    run = read_run(write("a.tsv", text(*lists)))
    values = [sign * float(value) for values in lists for value in values]
    assert run.frame["score"].to_list() == values
    assert run.notes == (note,)
    assert isinstance(run.notes[0], Warned)


@for_each("lists", EITHER)
def test_what_may_be_both_is_refused(write, lists):
    path = write("a.tsv", text(*lists))
    assert error_of(read_run, path) == (
        "a.tsv: the third column may hold ranks or scores. Say which: format={'run': 'msmarco'} "
        "reads ranks, 'scores' scores."
    )
    assert read_run(path, format="scores").notes == ()


def test_said_to_be_ranks(write):
    shuffled = read_run(write("a.tsv", text([2, 3, 1])), format="msmarco")
    assert shuffled.frame["score"].to_list() == [-2, -3, -1]
    for value in (0.5, -1, "inf", "nan"):
        with pytest.raises(InputError) as error:
            read_run(write("a.tsv", "# top\n" + text([1, value])), format="msmarco")
        assert str(error.value) == (
            f"a.tsv, line 3: a rank must be a whole number from 0; got {float(value):g}. If the "
            "column holds scores, say so with format={'run': 'scores'}."
        )


def test_said_to_be_scores(write):
    path = write("a.txt", text([1, 2], separator=" "))
    assert read_run(path, format="scores").frame["score"].to_list() == [1, 2]
    assert read_judgements(path, format="scores").frame["grade"].to_list() == [1, 2]


def slow_twin(rows):
    """Ranks, scores or None for both, by loops over the rows of each query."""
    lists = {}
    for query, _, value in rows:
        lists.setdefault(query, []).append(float(value))

    def ranks(values):
        rising = all(a < b for a, b in itertools.pairwise(values))
        return values[0] in (0, 1) and rising and all(map(float.is_integer, values))

    several = [values for values in lists.values() if len(values) > 1]
    if all(map(ranks, lists.values())):
        return "ranks"
    if any(map(ranks, several)):
        return None
    whole = all(value.is_integer() and value >= 0 for values in lists.values() for value in values)
    falling = all(a >= b for values in several for a, b in itertools.pairwise(values))
    ties = any(len(set(values)) < len(values) for values in several)
    return "scores" if not whole or not several or (falling and ties) else None


@pytest.mark.parametrize("way", ["tabs", "spaces", "uneven", "gz", "standard input"])
def test_every_way_in_follows_the_rule(write, standard_input, way):
    """Few queries and few values, so that each case is met often; rows of a query may be apart."""
    draw = random.Random(13)
    met = set()
    for _ in range(300):
        values = draw.choice([[0, 1, 2], [1, 2, 3, 4], [1, 2, 2.5], [-1, 0, 1, 2], [0.5, 1.5]])
        rows = []
        for query in draw.sample("abc", draw.randint(1, 3)):
            chosen = draw.choices(values, k=draw.randint(1, 3))
            order = draw.choice([list, sorted, lambda each: sorted(each, reverse=True)])
            rows += [(query, f"d{at}", value) for at, value in enumerate(order(chosen))]
        if draw.random() < 0.3:
            draw.shuffle(rows)
        gap = {"spaces": " ", "uneven": " \t"}.get(way, "\t")
        content = "".join(gap.join(map(str, row)) + "\n" for row in rows).encode()
        if way == "standard input":
            standard_input(content)
            path = "-"
        else:
            path = write("a.run", gzip.compress(content, 1) if way == "gz" else content)
        expected = slow_twin(rows)
        met.add(expected)
        if expected is None:
            with pytest.raises(InputError, match="may hold ranks or scores"):
                read_run(path)
        else:
            run = read_run(path)
            sign = -1 if expected == "ranks" else 1
            assert run.frame.rows() == [(query, item, sign * value) for query, item, value in rows]
            assert run.notes == (RANKS if expected == "ranks" else SCORES,)
    assert met == {"ranks", "scores", None}
