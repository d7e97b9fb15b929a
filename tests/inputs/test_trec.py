"""TREC runs and qrels, MS MARCO runs: each layout gives the same table, or a question."""

from __future__ import annotations

import gzip
import itertools
import math
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judged.errors import InputError
from judged.inputs import read_judgements, read_run, read_table, trec
from judged.inputs.tables import JUDGEMENTS, RUN, Lookup
from judged.text import Warned
from support.errors import error_of
from support.loops import for_each

RUN_TEXT = "301 Q0 D1 1 2.5 sys\n301 Q0 D2 2 1.5 sys\n302 Q0 D1 1 9 sys\n"
RUN_ROWS = [("301", "D1", 2.5), ("301", "D2", 1.5), ("302", "D1", 9.0)]
JUDGEMENTS_TEXT = "301 0 D1 1\n301 0 D2 0\n302 0 D1 2\n"
GOLDEN = Path(__file__).parents[1] / "golden" / "trec_eval"


def slow_twin(text: bytes, fields: int, value: int) -> list[tuple[str, str, float]]:
    rows = []
    for line in text.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        parts = line.replace("\t", " ").split(" ")
        parts = [part for part in parts if part]
        if parts and not parts[0].startswith("#"):
            assert len(parts) >= fields
            rows.append((parts[0], parts[2], float(parts[value])))
    return rows


AGAINST = (
    "The ranks of the run put lower scores first (rank 1 has 0.25, rank 2 has 0.5). Results are "
    "ranked by score, the greatest first, so these lists are read backwards. If the scores are "
    "distances, change their sign."
)
DISTANCES = ["q Q0 a 1 0.25 t", "q Q0 b 2 0.5 t", "q Q0 c 3 1.5 t", "r Q0 a 1 0.75 t"]


@pytest.mark.parametrize(
    ("lines", "notes"),
    [
        (DISTANCES, (AGAINST,)),
        (["q Q0 c 3 1.5 t", "q Q0 b 2 0.5 t", "q Q0 a 1 0.25 t"], (AGAINST,)),
        ([line.replace(" 0.5", " -inf").replace(" 1.5", " -2e5") for line in DISTANCES], ()),
        (["q Q0 a 1 0.25 t", "q Q0 b 2 0.5 t", "r Q0 a 1 0.5 t"], (AGAINST,)),  # of any size
        (["q Q0 a - 2 t", "q Q0 b - 3 t", "q Q0 c - 4 t"], ()),
        ([f"q Q0 {each} {each * 5000} {each} t" for each in "123"], ()),  # ranks without end
    ],
)
def test_ranks_that_put_lower_scores_first_are_a_warning(write, lines, notes):
    """The score decides in any case, as in trec_eval: distances come out upside down."""
    run = read_run(write("a.run", "\n".join(lines)))
    assert run.notes == notes
    assert all(isinstance(note, Warned) for note in run.notes)


LAYOUTS = {
    "tabs": RUN_TEXT.replace(" ", "\t"),
    "several spaces": RUN_TEXT.replace(" ", "   "),
    "mixed": RUN_TEXT.replace(" ", " \t "),
    "one tab late": RUN_TEXT.replace("9 sys", "9\tsys"),
    "one double space late": RUN_TEXT.replace("1 9 sys", "1  9 sys"),
    "leading spaces": "  " + RUN_TEXT.replace("\n3", "\n\t 3"),
    "trailing spaces": RUN_TEXT.replace("\n", "  \n"),
    "extra fields everywhere": RUN_TEXT.replace("sys", "sys more fields"),
    "extra fields in one line": RUN_TEXT.replace("9 sys", "9 sys more fields"),
    "extra fields in the first line": RUN_TEXT.replace("2.5 sys", "2.5 sys more"),
    "blank lines": "\n\n" + RUN_TEXT.replace("\n", "\n  \n\n"),
    "CRLF": RUN_TEXT.replace("\n", "\r\n"),
    "CR": RUN_TEXT.replace("\n", "\r"),
    "no final newline": RUN_TEXT[:-1],
    "byte order mark": "\ufeff" + RUN_TEXT,
    "byte order mark and tabs": "\ufeff" + RUN_TEXT.replace("302 ", "302\t"),
    "quotation marks in the tag": RUN_TEXT.replace("sys", '"sys'),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(write, layout):
    run = read_run(write("a.run", LAYOUTS[layout]))
    assert run.frame.rows() == RUN_ROWS
    assert run.notes == ()


def test_comments_are_skipped_and_noted(write):
    lines = RUN_TEXT.splitlines()
    text = "\n".join(["# made by bm25 4 5.0 x", lines[0], "  # 2 3 4 5 6", *lines[1:], "#"])
    run = read_run(write("a.run", text))
    assert run.frame.rows() == RUN_ROWS
    assert run.notes == ("3 comment lines were skipped.",)
    assert run.where([0, 1, 2]) == "lines 2, 4 and 5"


def test_one_comment_that_reads_like_a_row(write):
    """A query may begin with #: the line is skipped, and that is warned of by every way in."""
    path = write("a.run", RUN_TEXT + "#301 Q0 D9 1 2.5 sys\n#302\tQ0 D9 1 2.5 sys\n")
    run = read_run(path)
    assert run.frame.rows() == RUN_ROWS
    warning = (
        'The line "#301 Q0 D9 1 2.5 sys" begins with # and was skipped as a comment, but it has '
        "the fields of a row, and is missing from the numbers. If # belongs to the id of the "
        "query, give the file as CSV or JSON."
    )
    assert run.notes == ("2 comment lines were skipped.", warning)
    assert isinstance(run.notes[1], Warned)
    small = read_table(path, RUN, small=True)
    assert isinstance(small, Lookup)
    assert small.notes == run.notes
    qrels = write("a.qrels", JUDGEMENTS_TEXT + "#301 0 D9 1\n")
    assert 'The line "#301 0 D9 1" begins with #' in read_judgements(qrels).notes[1]
    small = read_table(qrels, JUDGEMENTS, small=True)
    assert 'The line "#301 0 D9 1" begins with #' in small.notes[1]
    with pytest.raises(InputError, match=r'holds no rows\. The line "#1 Q0 a 1 2 t" begins with #'):
        read_run(write("e.run", "#1 Q0 a 1 2 t\n"))
    for text in ("# made by 4 5.0 x", "#", "#k1 = 0.9 1 2 x", "#query Q0 item rank score tag"):
        assert read_run(write("c.run", f"{text}\n{RUN_TEXT}")).notes == (
            "1 comment line was skipped.",
        )


def test_ids_stay_as_they_are(write):
    text = 'é Q0 "ひ" 1 1 t\n01 Q0 a#b,c 1 2 t\n1 Q0 null 1 3 t\n1e5 Q0 NaN 1 4 t\n'
    rows = [("é", '"ひ"', 1.0), ("01", "a#b,c", 2.0), ("1", "null", 3.0), ("1e5", "NaN", 4.0)]
    assert read_run(write("a.run", text)).frame.rows() == rows
    assert read_run(write("b.run", text.replace(" ", "\t "))).frame.rows() == rows


NUMBERS = (
    "1.5 +1.5 -1.5 1e-300 1e300 -inf inf +inf Infinity -INFINITY 1e400 -1e400 .5 -.5 +.5 5. 1E5 "
    "1e+5 0e99999999999 2e-324 4.9e-324 1.7976931348623157e308 0.30000000000000004 "
    "9007199254740993 123456789012345678901234567890 -0"
)


@for_each("text", NUMBERS.split())
@for_each("space", [" ", "  "])
def test_numbers_are_read_as_python_reads_them(write, text, space):
    run = read_run(write("a.run", space.join(["1", "Q0", "d", "1", text, "t\n"])))
    assert run.frame["score"].to_list() == [float(text)]
    assert math.copysign(1, run.frame["score"][0]) == math.copysign(1, float(text))


@for_each(
    "text",
    ["1_000", "0x10", "1.5abc", "1e", "--1", "1,5", "\u0661", "-", "1.5\x0b", "nan(0)", "true"],
)
@for_each("space", [" ", "  "])
def test_what_is_no_number_is_refused(write, text, space):
    path = write("a.run", space.join(["1", "Q0", "d", "1", text, "t\n"]))
    assert "the score is not a number" in error_of(read_run, path)


def test_msmarco_run(write):
    path = write("top.tsv", "1048585\t7187155\t1\n1048585\t7187157\t2\n")
    run = read_run(path, format="msmarco")
    assert run.frame.rows() == [("1048585", "7187155", -1.0), ("1048585", "7187157", -2.0)]
    assert run.notes == ("There are no scores (an MS MARCO run): the ranks give the order.",)


def test_the_regular_case_is_split_as_it_is(write, monkeypatch):
    monkeypatch.setattr(trec, "even_out", None)
    for text in (RUN_TEXT, RUN_TEXT.replace(" ", "\t"), RUN_TEXT[:-1]):
        assert read_run(write("a.run", text)).frame.rows() == RUN_ROWS


def test_five_fields_beside_seven(write):
    """Twelve in two lines, as six in each."""
    for gap in (" ", "\t", "  "):
        text = "q Q0 a 1 9.5 t\nq Q0 b 2 8.5\nq Q0 c d 3 7.5 t\n".replace(" ", gap)
        with pytest.raises(InputError, match="line 2: expected 6 fields, found 5"):
            read_run(write("a.run", text))


SPACES = [
    "q Q0 a b 3 7.5 t",
    "q Q0 a 2 3 7.5 t",
    "my q Q0 5 3 7.5 t",
    "q Q0 the item a 3 7.5 t",
    "q Q0 a - 7.5 t more",
]


@for_each("line", SPACES)
@for_each("gap", [" ", "\t", "  "])
@for_each("everywhere", [False, True])
def test_an_id_with_a_space_is_refused(write, line, gap, everywhere):
    """Its rank would be read as its score."""
    first = line if everywhere else "q Q0 z 1 9.5 t"
    path = write("a.run", f"{first}\n{line}\n".replace(" ", gap))
    number, count = (1, len(line.split())) if everywhere else (2, len(line.split()))
    assert error_of(read_run, path, format="trec") == (
        f"a.run, line {number}: {count} fields where 6 are expected, so that an id may have a "
        f'space in it: "{line.replace(" ", gap)}". Such ids need another format, as CSV or JSON; '
        "if the last fields are not meant, leave them out."
    )


def test_judgements_of_an_id_with_a_space(write):
    with pytest.raises(InputError, match="line 2: 5 fields where 4 are expected"):
        read_judgements(write("a.qrels", "q 0 a 1\nq 0 b 2 1\n"))


def test_the_look_at_spacing_crosses_its_own_blocks(write, monkeypatch):
    for size in (2, 3, 5, 8):
        monkeypatch.setattr(trec, "_BYTES_IN_CACHE", size)
        for text in (RUN_TEXT, *LAYOUTS.values()):
            assert read_run(write("a.run", text)).frame.rows() == RUN_ROWS


def test_a_bad_line_in_a_later_block(write, monkeypatch):
    """Only its block is read line by line; the number counts all lines, whatever ends them."""
    monkeypatch.setattr(trec, "BYTES_PER_BLOCK", 50)
    text = "# top\n\n" + "1 Q0  d 1 2.5 t\r\n" * 40 + "1 Q0 d 1 abc t\n" + "1 Q0 d\n"
    assert (
        error_of(read_run, write("a.run", text))
        == 'a.run, line 43: the score is not a number: "abc", in the line "1 Q0 d 1 abc t".'
    )


words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="#\ufeff"),
    min_size=1,
    max_size=5,
)
numbers = (
    st.floats(allow_nan=False).map(repr)
    | st.integers(-5, 5).map(str)
    | st.sampled_from(["+1.5", ".5", "5.", "1E3"])
)
rows = st.lists(
    st.tuples(words, words, words, st.integers(1, 9).map(str), numbers, words),
    min_size=1,
    max_size=8,
)
ENDS = ["\n", "\r\n", "\r", " \n", "\n\n", " x\n", "\n# 1 2 3 4 5 6\n"]
gaps = st.text(" \t", min_size=1, max_size=3)


@st.composite
def laid_out(draw, row_strategy=rows):
    table = draw(row_strategy)
    even = draw(st.booleans())
    space, end = (draw(st.sampled_from(" \t")), "\n") if even else ("", "")
    text = ""
    for row in table:
        if not even:
            space, end = "", draw(st.sampled_from(ENDS))
            text += draw(st.sampled_from(["", "", " ", "\t"]))
        for number, field in enumerate(row):
            text += (space or draw(gaps) if number else "") + field
        # One field more behind a tag that is a number would look like an id with a space.
        text += "\n" if end == " x\n" and _is_number(row[-1]) else end
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return table, text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(laid_out())
def test_any_layout_gives_the_same_table(tmp_path, case):
    table, text = case
    path = tmp_path / "a.run"
    path.write_bytes(text.encode())
    expected = [(row[0], row[2], float(row[4])) for row in table]
    assert read_run(path, format="trec").frame.rows() == expected == slow_twin(text.encode(), 6, 4)
    run = read_run(path, format="trec")
    lines = text.encode().splitlines()
    assert run.locate is not None
    for row, number in enumerate(run.locate(range(len(expected)))):
        assert lines[number - 1].split()[:1] == [table[row][0].encode()]


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden files are not here")
def test_golden_files(tmp_path):
    folders = [folder for folder in GOLDEN.iterdir() if (folder / "run").is_file()]
    assert len(folders) >= 11
    for folder in folders:
        run, judgements = (folder / name for name in ("run", "qrels"))
        assert read_run(run).frame.rows() == slow_twin(run.read_bytes(), 6, 4)
        assert read_judgements(judgements).frame.rows() == slow_twin(judgements.read_bytes(), 4, 3)
        shutil.copy(run, tmp_path / "copy.txt")
        assert read_run(tmp_path / "copy.txt").frame.equals(read_run(run).frame)


# Three columns without a header: ranks, scores, or a question


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


def slow_twin_of_three(rows):
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
        expected = slow_twin_of_three(rows)
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
