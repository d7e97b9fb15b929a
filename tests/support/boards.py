"""What tests of the leaderboard read out of its page."""

from __future__ import annotations

import html
import re


def words(text: str) -> str:
    """HTML without its tags, as one line."""
    found = re.sub(r"<(script|style|svg|datalist)\b.*?</\1>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", found))).strip()


def columns(text: str) -> list[str]:
    """The measures at the head of the leaderboard."""
    found = re.findall(r'<th scope="col" class="right measure"[^>]*>(.*?)</th>', text, re.DOTALL)
    return [words(each).removesuffix("↓").removesuffix("↑").strip() for each in found]


def numbers(text: str) -> dict[str, list[str]]:
    """The numbers of each system, in the order of the rows."""
    table = text.partition('<table class="board')[2].partition("</table>")[0]
    found = {}
    for row in table.partition("<tbody>")[2].split("<tr")[1:]:
        name = re.search(r'class="name">(.*?)</th>', row, re.DOTALL)
        assert name is not None
        cells = re.findall(r"<td class=\"right(?: sorted)?\">(.*?)</td>", row, re.DOTALL)
        values = [re.search(r'<span class="number">(.*?)</span>', cell) for cell in cells]
        system = words(name[1]).removesuffix("baseline").strip()
        found[system] = [words(value[1]) for value in values if value is not None]
    return found


def shown_code(text: str) -> str:
    """Return the command that a page shows."""
    found = re.findall(r"<code>(.*?)</code>", text, re.DOTALL)
    return html.unescape(found[-1]).replace(" \\\n  ", " ")
