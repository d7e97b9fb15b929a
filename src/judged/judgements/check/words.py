"""What texts and ids are once case, Unicode form, punctuation and the like are taken away."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judged.text import listed

_APART = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts without blanks between words, of which each letter is a word."""
_WORD = rf"[{_APART}]|[[\p{{L}}\p{{M}}\p{{N}}]--[{_APART}]]+[+#]*|\p{{S}}"
"""C, C++ and C# are three words; a symbol, as an emoji, is one."""


def words_of(texts: pl.Series) -> pl.Series:
    """The words of each text, in their order: in lower case, in Unicode's form NFKC, without
    punctuation, apostrophes and characters that cannot be seen.

    >>> words_of(pl.Series(["What's  NEW in C++?", "Ｎew, 漢字"])).to_list()
    [['whats', 'new', 'in', 'c++'], ['new', '漢', '字']]
    """
    plain = texts.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"\p{Cf}|['’ʼ`]", "")
    return plain.str.extract_all(_WORD)


_SPELLINGS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "Unicode form": lambda ids: ids.str.normalize("NFKC"),
    "white space at the ends": lambda ids: ids.str.strip_chars(),
    "case": lambda ids: ids.str.to_lowercase(),
    "zero padding": lambda ids: ids.str.replace_all(r"(^|[^0-9.])0+([0-9])", "${1}${2}"),
}
"""What two spellings of one id may differ in, and how it is taken away."""


def plain_ids(ids: pl.Series) -> pl.Series:
    """Ids without what two spellings of one id may differ in.

    >>> plain_ids(pl.Series(["Doc007", "doc7", " ７", "1.05", "0", "00"])).to_list()
    ['doc7', 'doc7', '7', '1.05', '0', '0']
    """
    for step in _SPELLINGS.values():
        ids = step(ids)
    return ids


def unlike(one: str, other: str) -> str:
    """What two ids of the same plain form differ in, in words.

    >>> unlike("A1", "a01"), unlike("\u00e9", "e\u0301")
    ('case and zero padding', 'Unicode form')
    """
    found = []
    for name in _SPELLINGS:
        left = pl.Series([one, other])
        for step in (step for each, step in _SPELLINGS.items() if each != name):
            left = step(left)
        if left[0] != left[1]:
            found.append(name)
    return listed(found) if found else "form"
