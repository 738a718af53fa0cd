"""Numbers with marks, as people publish them: "80.5 ± 1.5", "**80.5** (1.5)", "ACC ↑ (%)"."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,])")
_MARKED = re.compile(
    rf"""
    (?:(?P<name>[A-Za-z]{{2,12}})\s*=\s*)?                  # "ACC=0.88"
    (?P<value>{_NUMBER})\s*(?P<percent>%)?\s*
    (?: ±\s*(?P<after_sign>{_NUMBER})\s*%?
      | \(\s*(?:±\s*)?(?P<in_brackets>{_NUMBER})\s*%?\s*\)
    )?\s*
    (?P<percent_after>%)?\s*
    (?:\((?P<note>[A-Za-z][^()]*)\))?                      # "86.5 (the 10th task)"
    """,
    re.VERBOSE,
)
_FORMATTING = re.compile(r"(\*\*|__|[*_`~†‡§¶↑↓▲▼✓✔]|[⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜ])")
_UP = ("↑", "⬆", "▲", "⇑", "🠕")
_DOWN = ("↓", "⬇", "▼", "⇓", "🠗")
_UNIT = re.compile(r"\(\s*(%|in %|percent)\s*\)|\[\s*(%|in %|percent)\s*\]|%")
_MINUS = str.maketrans({"−": "-", "–": "-", "‐": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " "})


@dataclass(frozen=True)
class MarkedNumber:
    """A number of a table.

    Attributes:
        value: the number.
        spread: the number after ±, or in brackets behind it; its kind is not known here.
        is_percent: whether it has the sign %.
        has_sign: whether the spread stands after ±; brackets may also hold a rank or a difference.
        name: what the cell calls it, as in "ACC=0.88".
        note: a remark in brackets, as in "86.5 ± 0.7 (the 10th task)".
    """

    value: float
    spread: float | None = None
    is_percent: bool = False
    has_sign: bool = False
    name: str = ""
    note: str = ""


def parse_marked_number(text: str) -> MarkedNumber | None:
    """Return the number of a cell; None if the cell is anything but one number with its marks.

    >>> parse_marked_number("**80.5** ± 1.5")
    MarkedNumber(value=80.5, spread=1.5, is_percent=False, has_sign=True, name='', note='')
    >>> parse_marked_number("80.5 (1.5)†").spread, parse_marked_number("ER-ACE") is None
    (1.5, True)
    >>> parse_marked_number("−3.2%").is_percent, parse_marked_number("80.5 / 79.1") is None
    (True, True)
    >>> parse_marked_number("ACC=0.88").name, parse_marked_number("86.5 (mean of tasks)").note
    ('ACC', 'mean of tasks')
    """
    plain = text.translate(_MINUS).replace("+/-", "±").replace("+-", "±")
    plain = _FORMATTING.sub("", plain).strip()
    plain = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), plain)
    match = _MARKED.fullmatch(plain)
    if match is None:
        return None
    spread = match["after_sign"] or match["in_brackets"]
    return MarkedNumber(
        float(match["value"]),
        None if spread is None else float(spread),
        bool(match["percent"] or match["percent_after"]),
        match["after_sign"] is not None or "(±" in plain.replace(" ", ""),
        match["name"] or "",
        match["note"] or "",
    )


@dataclass(frozen=True)
class MarkedName:
    """The name of a column: without its marks, and what they say.

    Attributes:
        name: the name alone.
        higher_is_better: what an arrow says; None without one.
        is_percent: whether the name has the sign %.
        has_spread: whether the name has ± or "mean (std)", so that cells may have two numbers.
    """

    name: str
    higher_is_better: bool | None = None
    is_percent: bool = False
    has_spread: bool = False


def parse_marked_name(text: str) -> MarkedName:
    """Return the name of a column and what the marks beside it say.

    >>> parse_marked_name("Forgetting (%) ↓")
    MarkedName(name='Forgetting', higher_is_better=False, is_percent=True, has_spread=False)
    """
    up = any(arrow in text for arrow in _UP)
    down = any(arrow in text for arrow in _DOWN)
    name = text
    for arrow in (*_UP, *_DOWN):
        name = name.replace(arrow, "")
    is_percent = _UNIT.search(name) is not None
    name = _UNIT.sub(" ", name)
    without_formatting = re.sub(r"\*\*|__|[*`~†‡]", "", name)
    name = " ".join(re.sub(r"\(\s*\)", " ", without_formatting).split())
    return MarkedName(name, None if up == down else up, is_percent, "±" in text)
