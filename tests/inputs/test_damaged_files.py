"""Damaged files of every format: the quick and the careful reader give one table or one message."""

from __future__ import annotations

import random
import re

import pytest

from judged.errors import InputError
from judged.inputs import Lookup, csv, read_judgements, read_run, trec
from support.tables import queries_of, rows_of

IDS = ["q1", "301", "d-2", "é", "a#b", "01", "x,y", "1.0", "clueweb09-en0000-00-00000"]
DAMAGES = ["cut", "double", "drop", "insert", "swap", "separator", "join", "move"]
ODD = ["\n", "\r", "\r\n", "\t", " ", "  ", ",", ";", '"', "'", "#", "\0", "\x0b", "\x1a", "\ufeff"]
ODD += ["{", "}", "[", "]", ":", "\\", "\\u0041", "\\ud800", "1", "0", ".", "-", "e9", "NaN", "inf"]
ODD += [
    "é",
    "\u2028",
    "null",
    "true",
    "1.0",
    '"query":',
    '"query":"a",',
    ",,",
    "\n\n",
    "\n#",
    " 7 8.5",
]
TIMES = 300
BYTES = [*(each.encode() for each in ODD), b"\xff", b"\xe9", b"\x80", b"\xff\xfe"]


def rows(draw, kind):
    """Two queries with a few items each; scores fall, now and then they tie."""
    found = []
    for query in draw.sample(IDS, 2):
        score = draw.choice([9.5, 3])
        for item in draw.sample(IDS, draw.randint(1, 4)):
            found.append((query, item, score if kind == "run" else draw.randint(0, 3)))
            score -= draw.choice([0, 0.25, 1])
    return found


def trec_run(table, draw):
    gap = draw.choice([" ", "\t", "  "])
    return [gap.join([q, "Q0", d, str(n), str(s), "tag"]) for n, (q, d, s) in enumerate(table)]


def trec_judgements(table, draw):
    gap = draw.choice([" ", "\t", " \t"])
    return [gap.join([q, "0", d, str(s)]) for q, d, s in table]


def three_fields(table, draw):
    gap = draw.choice([" ", "\t"])
    return [gap.join(map(str, row)) for row in table]


def delimited(gap):
    def lines(table, draw):
        title = ["title"] if draw.random() < 0.5 else []
        texts = ["a title", '"a quoted, one"', '"say ""hi"""', ""]
        header = gap.join(["query", *title, "item", "score", *title])
        found = [header.replace("title", "tag", 1) if draw.random() < 0.5 else header]
        for query, item, score in table:
            cells = [f'"{each}"' if gap in each else each for each in (query, item, str(score))]
            more = [draw.choice(texts) for _ in title]
            found.append(gap.join([cells[0], *more, *cells[1:], *more]))
        return found

    return lines


def ndjson(table, draw):
    gap = draw.choice(["", " "])
    more = draw.choice(["", f',"title":{gap}"a \\"b\\" {{c}}"'])
    quoted = draw.choice(['"', ""])
    return [
        f'{{"query":{gap}{quoted}{1 if not quoted else q}{quoted},{gap}"item":{gap}"{d}",'
        f'{gap}"score":{gap}{s}{more}}}'
        for q, d, s in table
    ]


def json_dict(table, draw):
    lists = {}
    for query, item, score in table:
        lists.setdefault(query, []).append(f'"{item}": {score}')
    return [
        "{" + ",\n".join(f'"{query}": {{{", ".join(each)}}}' for query, each in lists.items()) + "}"
    ]


COLUMNS = {
    "named.csv": "query=frage,item=file+page,score=points,document=file",
    "named.tsv": "query=frage,item=file+page,grade=points,weight=visits",
    "named.jsonl": "query=frage,item=file+page,score=points,document=file",
}
"""What the columns are of files whose names do not tell."""


def named(separator):
    def lines(table, draw):
        cells = draw.sample(["frage", "file", "page", "points", "visits"], 5)
        found = [separator.join(cells)]
        for query, item, value in table:
            row = {"frage": query, "file": item.replace(",", ""), "points": value}
            row |= {"page": draw.choice(["1", "a#b", "01"]), "visits": draw.choice(["1", "2.5"])}
            row["frage"] = row["frage"].replace(",", "")
            found.append(separator.join(str(row[cell]) for cell in cells))
        return found

    return lines


def named_objects(table, draw):
    page = draw.choice(["1", '"1"', '"a#b"'])
    return [
        f'{{"frage": "{q}", "file": "{d}", "page": {page}, "points": {s}}}' for q, d, s in table
    ]


FORMATS = {
    "named.csv": ("run", named(",")),
    "named.tsv": ("judgements", named("\t")),
    "named.jsonl": ("run", named_objects),
    "a.run": ("run", trec_run),
    "a.qrels": ("judgements", trec_judgements),
    "three.run": ("run", three_fields),
    "a.csv": ("run", delimited(",")),
    "a.tsv": ("judgements", delimited("\t")),
    "a.jsonl": ("run", ndjson),
    "a.json": ("run", json_dict),
}


def damaged(text, draw):
    """One to three accidents, of bytes and of lines."""
    for _ in range(draw.randint(1, 3)):
        damage = draw.choice(DAMAGES)
        at = draw.randrange(len(text) + 1)
        if damage == "cut":
            text = text[:at] if draw.random() < 0.5 else text[:at] + text[at + draw.randint(1, 9) :]
        elif damage == "insert":
            text = text[:at] + draw.choice(BYTES) + text[at:]
        elif damage == "swap":
            text = text[:at] + draw.choice(BYTES) + text[at + 1 :]
        elif damage == "separator":
            gap, other = draw.sample([b" ", b"\t", b",", b"\n", b"\r\n", b"\r", b'"'], 2)
            text = text.replace(gap, other, draw.choice([1, 2, -1]))
        else:
            lines = text.split(b"\n")
            one, two = draw.randrange(len(lines)), draw.randrange(len(lines))
            if damage == "double":
                lines.insert(two, lines[one])
            elif damage == "drop":
                del lines[one]
            elif damage == "join":
                lines[one : one + 2] = [draw.choice([b" ", b",", b""]).join(lines[one : one + 2])]
            else:
                cells = re.split(rb"([ \t,])", lines[one])
                lines[one] = b"".join(cells[: draw.randrange(len(cells) + 1)])
                lines[two] += b"".join(cells[len(cells) - draw.randrange(len(cells)) :])
            text = b"\n".join(lines)
    return text


def outcome(read, path, columns):
    """The table with its queries and the line of each row, or the message."""
    try:
        table = read(path, columns=columns)
    except InputError as error:
        return str(error), None
    # A NaN is no other NaN to `==`.
    content = [(*row[:2], str(row[2]), *row[3:]) for row in rows_of(table)] + [queries_of(table)]
    if isinstance(table, Lookup):
        return content, None
    rows = range(table.frame.height) if table.rows is None else table.rows.tolist()
    return content, table.locate(rows) if table.locate else None


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files(write, monkeypatch, name):
    draw = random.Random(name)
    kind, lines = FORMATS[name]
    read = read_run if kind == "run" else read_judgements
    good = bad = 0
    for _ in range(TIMES):
        end = draw.choice(["\n", "\n", "\r\n", "\r"])
        text = damaged((end.join(lines(rows(draw, kind), draw)) + end).encode(), draw)
        path = write(name, text)
        quick = outcome(read, path, COLUMNS.get(name))
        with monkeypatch.context() as patch:
            patch.setattr(trec, "split_by_polars", lambda *_: None)
            patch.setattr(csv.DelimitedReader, "_parsed_by_polars", lambda *_: None)
            careful = outcome(read, path, COLUMNS.get(name))
        assert quick == careful, text
        found, places = quick
        if isinstance(found, str):
            assert found.startswith((name, "columns, ")), text
            bad += 1
        else:
            good += 1
            assert found
            if places and not name.endswith(("csv", "tsv")) and name not in COLUMNS:
                # An object with a query alone says that its list is empty.
                held = re.split(rb"\r\n|\n|\r", text.removeprefix(b"\xef\xbb\xbf"))
                comments = b"#" if lines is not ndjson else b"\xff"
                full = [
                    number
                    for number, line in enumerate(held, 1)
                    if line.strip()
                    and not line.lstrip(b" \t").startswith(comments)
                    and (lines is not ndjson or b'"item"' in line or b'"score"' in line)
                ]
                assert places == full, text
    assert min(good, bad) > TIMES / 20
