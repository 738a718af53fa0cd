"""The text of a cell in a paper or README: LaTeX commands and HTML as plain characters."""

from __future__ import annotations

import html
import re

_SYMBOLS = {
    "pm": "±",
    "textpm": "±",
    "uparrow": "↑",
    "Uparrow": "↑",
    "downarrow": "↓",
    "Downarrow": "↓",
    "rightarrow": "→",
    "to": "→",
    "times": "×",
    "dagger": "†",
    "ddagger": "‡",
    "ast": "*",
    "star": "*",
    "checkmark": "✓",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "lambda": "λ",
    "Delta": "Δ",
    "infty": "inf",
    "approx": "≈",
    "leq": "≤",
    "geq": "≥",
    "textasciitilde": "~",
    "textbackslash": "\\",
    "ldots": "...",
    "dots": "...",
    "quad": " ",
    "qquad": " ",
    "newline": " ",
    "linebreak": " ",
    "S": "§",
}
# Commands whose arguments are not part of what a reader sees as the cell's content.
_WITHOUT_CONTENT = (
    "cite", "citep", "citet", "citealp", "citeauthor", "citeyear", "footnote", "footnotemark",
    "tnote", "label", "ref", "cellcolor", "rowcolor", "color", "phantom", "hphantom", "vphantom",
    "hspace", "vspace", "rule", "raisebox", "rotatebox", "resizebox", "scalebox", "fontsize",
    "tablefootnote", "textsuperscript", "includegraphics", "arrayrulecolor", "columncolor",
)  # fmt: skip
# Commands that show only their last argument.
_LAST_ARGUMENT = ("textcolor", "colorbox", "href", "multirow", "multicolumn", "makebox", "parbox")
_SPREAD = ("std", "stdv", "sd", "pms", "stderr", "var", "ci", "err")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?|\\(.)", re.DOTALL)
_TAG = re.compile(r"<(/?)(\w+)[^<>]*>")
_SIGN = re.compile(r"(?<=[\d%)])\s*±\s*(?=[\d.])")
_MOST_CHARACTERS = 20_000
_DEEPEST = 50


def plain_cell(text: str) -> str:
    r"""Return the text of a cell without LaTeX, HTML and their formatting.

    A subscript number is put in brackets, and a superscript one is left out, so that neither
    becomes digits of the number before it.

    >>> plain_cell(r"\textbf{80.5}$\pm$1.5 \cite{er}"), plain_cell(r"$86.51_{0.73}$")
    ('80.5 ± 1.5', '86.51 (0.73)')
    >>> plain_cell(r"{\scriptsize Avg.\ Acc} $\uparrow$ (\%)"), plain_cell("80.5<sup>2</sup>")
    ('Avg. Acc ↑ (%)', '80.5')
    """
    if len(text) > _MOST_CHARACTERS:
        return " ".join(text[:_MOST_CHARACTERS].split())
    text = _TAG.sub(_replace_tag, text) if "<" in text else text
    text = html.unescape(text) if "&" in text else text
    if any(mark in text for mark in "\\$_^{"):
        text = _Reader(text).read()
    return _SIGN.sub(" ± ", " ".join(text.split()))


def _replace_tag(match: re.Match[str]) -> str:
    name = match[2].lower()
    if name in ("sub", "sup"):
        return "}" if match[1] else ("_{" if name == "sub" else "^{")
    return " " if name in ("br", "p", "div", "li") else ""


class _Reader:
    """Reads LaTeX from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def read(self, depth: int = 0) -> str:
        """Return the text up to the end, or to the brace that closes this group."""
        parts: list[str] = []
        while self.place < len(self.text):
            character = self.text[self.place]
            if character == "}":
                self.place += 1
                if depth:
                    break
            elif character == "{" and depth < _DEEPEST:
                self.place += 1
                parts.append(self.read(depth + 1))
            elif character == "\\":
                parts.append(self._command(depth))
            elif character in "_^":
                parts.append(self._script(depth, "".join(parts)))
            elif character == "$" or character == "{":
                self.place += 1
            elif character == "~":
                self.place += 1
                parts.append(" ")
            else:
                self.place += 1
                parts.append(character)
        return "".join(parts)

    def _command(self, depth: int) -> str:
        match = _COMMAND.match(self.text, self.place)
        if match is None:  # a backslash at the end
            self.place += 1
            return ""
        self.place = match.end()
        name = match[1]
        if name is None:
            return {"\\": " ", " ": " ", ",": " ", ";": " ", ":": " ", "!": ""}.get(
                match[2], match[2] if match[2] in "%&$#_{}" else ""
            )
        if name in _SYMBOLS:
            self._skip_blanks()
            return _SYMBOLS[name]
        if name in ("begin", "end"):
            self._arguments(depth)
            return " "
        if name in _WITHOUT_CONTENT:
            self._arguments(depth)
            return ""
        if name in _LAST_ARGUMENT:
            return (self._arguments(depth) or [""])[-1]
        if name in _SPREAD:
            return " ± ".join(["", *self._arguments(depth)[:1]])
        self._skip_blanks()
        return ""  # its argument is read as a group: \textbf{80.5}

    def _script(self, depth: int, before: str) -> str:
        """Read a subscript or superscript; a name such as `er_ace` is no script."""
        is_sub = self.text[self.place] == "_"
        self.place += 1
        is_group = self.text[self.place : self.place + 1] == "{"
        if is_group:
            self.place += 1
            content = self.read(depth + 1).strip()
        elif is_sub or self.text[self.place : self.place + 1] == "":
            return "_" if is_sub else "^"
        else:
            content = self.text[self.place]
            self.place += 1
        if content.startswith(("±", "*", "†", "‡", "↑", "↓", "%")):
            return content
        is_after_number = before[-1:].isdigit()
        if is_after_number and re.fullmatch(r"[\d.]+", content):
            return f" ({content})" if is_sub else ("" if content.isdigit() else f" ^{content}")
        if is_after_number and re.fullmatch(r"[a-z](,[a-z])*", content) and not is_sub:
            return ""  # a footnote
        return f"{'_' if is_sub else '^'}{content}"

    def _arguments(self, depth: int) -> list[str]:
        """Read the arguments in braces that follow; those in square brackets are left out."""
        arguments = []
        while self.place < len(self.text) and self.text[self.place] in "[{":
            if self.text[self.place] == "[":
                end = self.text.find("]", self.place)
                self.place = end + 1 if end >= 0 else len(self.text)
            elif depth < _DEEPEST:
                self.place += 1
                arguments.append(self.read(depth + 1))
            else:
                break
        return arguments

    def _skip_blanks(self) -> None:
        while self.place < len(self.text) and self.text[self.place] == " ":
            self.place += 1
