"""`python -m replications [NAME...]`: published numbers beside those of judged; `--markdown` is for
docs/replications.md."""

from __future__ import annotations

import sys
import warnings

from judged.errors import JudgedWarning, did_you_mean
from judged.text import aligned, markdown, markdown_table
from replications import Replication, replications

HEADER = ["printed as", "printed", "judged", "agrees", "definition"]


def table(found: Replication) -> list[list[str]]:
    """A row for each number."""
    return [
        [
            printed.name,
            printed.value,
            f"{computed:.6f}",
            "yes" if agrees else "no",
            printed.measure + (f" as {printed.convention}" if printed.convention else ""),
        ]
        for printed, computed, agrees in found.rows()
    ]


def page() -> str:
    """All of them in Markdown, for docs/replications.md."""
    parts = []
    for name, found in replications().items():
        rows = markdown_table(
            HEADER, [list(map(markdown, row)) for row in table(found)], right=[1, 2]
        )
        parts += [
            f"### {name}",
            f"{found.source[0].upper()}{found.source[1:]}. {found.note}".strip(),
            rows,
        ]
    return "\n\n".join(parts)


def main(names: list[str]) -> int:
    warnings.simplefilter("ignore", JudgedWarning)
    if names == ["--markdown"]:
        sys.stdout.write(f"{page()}\n")
        return 0
    known = replications()
    for name in names:
        if name not in known:
            sys.stderr.write(f"there is no replication {name!r}{did_you_mean(name, known)}\n")
            return 2
    agreed = True
    for name, found in known.items():
        if names and name not in names:
            continue
        rows = table(found)
        agreed = agreed and all(row[3] == "yes" for row in rows)
        lines = [f"{name}: {found.source}", *aligned([HEADER, *rows], right=[1, 2])]
        sys.stdout.write("\n".join([*lines, found.note, ""]).rstrip("\n") + "\n\n")
    return 0 if agreed else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
