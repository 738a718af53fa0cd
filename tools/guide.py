"""Executes the pages of docs/guide and README, and writes what their commands print into them.

    python tools/guide.py [PAGE …]              write what is printed
    python tools/guide.py --measure [PAGE …]    write how much other processors change of it

A page is executed from top to bottom in an empty folder:

- ```` ```console ````: each `$ edgecil …` is run; the lines below are what it prints.
- ```` ```python ````: the code is run; a ```` ```text ```` block below is what it prints.
- ```` ```LANGUAGE title="f" ````: is written to the file f.
- ```` ```sh ````: needs your data; each `edgecil …` is parsed, not run.

Dots (`...`) in an expected line stand for anything, and a line of dots for any lines.

What a training reaches depends on the processor. A block below `<!-- accuracies within 0.5 -->` may
print other decimal numbers, by at most half a point, the bound of predictions in closed form; one
below `<!-- accuracies within 3 and other counts -->` other whole numbers, too, as where accuracies
decide what is trained next. `--measure` executes such pages with the kernels of other processors
and writes the bounds, by the rule of learning_levels.py.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import stdev
from unittest.mock import patch

import kernels

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TOLERANCE = re.compile(
    r"^<!-- accuracies within ([\d.]+)( and other counts)? -->\n\Z", re.MULTILINE
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# See learning_levels.py, which needs torch.
_CLOSED_FORM, _STANDARD_ERRORS = 0.5, 5.0


@dataclass(frozen=True)
class Tolerance:
    """What may differ between an expected and a printed text.

    Attributes:
        points: the largest difference between two decimal numbers.
        counts: whether whole numbers may differ.
    """

    points: float = 0.0
    counts: bool = False

    def allows(self, expected: str, printed: str) -> bool:
        """Return whether one number may stand for another."""
        if "." in expected and "." in printed:
            return abs(float(expected) - float(printed)) <= self.points + 1e-9
        return self.counts or expected == printed

    def comment(self) -> str:
        """Return the line of a page that says so."""
        return f"<!-- accuracies within {self.points:g}{' and other counts' * self.counts} -->\n"


EXACT = Tolerance()


def refresh(page: Path, folder: Path) -> str:
    """Execute a page in a folder; return its text with the outputs that really appear."""
    text = page.read_text(encoding="utf-8")
    parts: list[str] = []
    end, printed = 0, ""
    names: dict[str, object] = {"__name__": "guide"}
    before = Path.cwd()
    os.chdir(folder)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    surroundings = patch.dict(os.environ, COLUMNS="100", PATH=programs)
    surroundings.start()
    try:
        for block in _BLOCK.finditer(text):
            language, title, body = block.group(1), block.group(2), block.group(3)
            tolerance = _read_tolerance(text[end : block.start()])
            if title:
                Path(title).parent.mkdir(parents=True, exist_ok=True)
                Path(title).write_text(body, encoding="utf-8")
            elif language == "console":
                body = "".join(_run_console(body, tolerance))
            elif language == "python":
                printed = _run_python(body, names)
            elif language == "text":
                body = body if matches(body, printed, tolerance) else printed
            elif language == "sh":
                _parse_commands(body)
            parts += [text[end : block.start(3)], body]
            end = block.end(3)
    finally:
        surroundings.stop()
        os.chdir(before)
    return "".join([*parts, text[end:]])


def _read_tolerance(prose: str) -> Tolerance:
    """Return what a comment at the end of the text above a block allows."""
    comment = _TOLERANCE.search(prose)
    if comment is None:
        return EXACT
    return Tolerance(float(comment.group(1)), comment.group(2) is not None)


def matches(expected: str, printed: str, tolerance: Tolerance = EXACT) -> bool:
    """Return whether a text is the expected one, in which dots stand for anything."""
    pattern = "".join(_line_pattern(line, tolerance) for line in expected.rstrip("\n").split("\n"))
    match = re.fullmatch(pattern, printed.rstrip("\n") + "\n")
    if match is None:
        return False
    if tolerance == EXACT:
        return True
    pairs = zip(_NUMBER.findall(expected), match.groups(), strict=True)
    return all(tolerance.allows(wanted, number) for wanted, number in pairs)


def _line_pattern(line: str, tolerance: Tolerance) -> str:
    """Return the regular expression of an expected line; its groups are the numbers."""
    if line == "...":
        return "(?:.*\n)*?"
    if tolerance == EXACT:
        return re.escape(line).replace(r"\.\.\.", ".*") + "\n"
    pattern = re.escape(_NUMBER.sub("#", line)).replace(r"\.\.\.", ".*")
    pattern = re.sub(r"(?:\\ ){2,}", r"\\ +", pattern)  # columns are as wide as their numbers
    return pattern.replace(r"\#", f"({_NUMBER.pattern})") + "\n"


def measure(page: Path) -> str:
    """Return the text of a page with the tolerances that the kernels of other processors need."""
    text = page.read_text(encoding="utf-8")
    exact = re.sub(r"^<!-- accuracies within .*\n", "", text, flags=re.MULTILINE)
    copies = [_refresh_with(exact, kernel) for kernel in kernels.environments().values()]
    bodies = [[block.group(3) for block in _BLOCK.finditer(copy)] for copy in copies]
    parts: list[str] = []
    end = 0
    for number, block in enumerate(_BLOCK.finditer(text)):
        comment = _TOLERANCE.search(text[end : block.start()])
        if comment is not None:
            measured = measured_tolerance([copy[number] for copy in bodies])
            counts = comment.group(2) is not None
            parts += [text[end : end + comment.start()], Tolerance(measured, counts).comment()]
            end = block.start()
    return "".join([*parts, text[end:]])


def _refresh_with(text: str, kernel: dict[str, str]) -> str:
    """Execute the text of a page in a process with other kernels; return its new text."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        command = [sys.executable, __file__, str(page)]
        subprocess.run(command, check=True, env={**os.environ, **kernel}, capture_output=True)
        return page.read_text(encoding="utf-8")


def measured_tolerance(bodies: list[str]) -> float:
    """Return the bound of a block from what it prints with several kernels, rounded up."""
    numbers = [[text for text in _NUMBER.findall(body) if "." in text] for body in bodies]
    columns = zip(*numbers, strict=False)
    spread = max(stdev([float(text) for text in column]) for column in columns)
    return ceil(10 * (_CLOSED_FORM + _STANDARD_ERRORS * spread)) / 10


def _run_console(body: str, tolerance: Tolerance) -> Iterator[str]:
    for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", body, re.M):
        printed = _run_command(command)
        yield f"$ {command}"
        yield expected if matches(expected, printed, tolerance) else printed


def _run_command(command: str) -> str:
    from edgecil.cli.main import main, split_command

    words = shlex.split(command.replace("\\\n", " "), comments=True)
    parts = split_command(words)
    if parts is None:
        raise ValueError(f"A page may run edgecil only. Got {command!r}.")
    module, words = parts
    out, notes = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(notes):
        code = main(words, module)
    if code:
        raise RuntimeError(f"{command}exit code {code}\n{notes.getvalue()}")
    return _plain(out.getvalue())


def _run_python(body: str, names: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(body, "<page>", "exec"), names)
    return _plain(out.getvalue())


def _plain(printed: str) -> str:
    lines = [line.rstrip() for line in printed.splitlines()]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


def _parse_commands(body: str) -> None:
    from edgecil.cli.main import find_verb, split_command, verb_parser

    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        starts = [place for place in range(len(words)) if split_command(words[place:])]
        if not starts or words[:2] == ["docker", "build"]:
            continue
        module, words = split_command(words[starts[0] :])
        chosen = find_verb(words, module)
        if chosen is None:
            raise ValueError(f"Unknown verb: {line}")
        parser = verb_parser(chosen[0])
        arguments = words[1:]
        parser.check_options(arguments)
        _, rest = parser.parse_known_args(arguments)
        if rest:
            raise ValueError(f"Unexpected argument {rest[0]!r}: {line}")


def main(arguments: list[str]) -> None:
    """Write the outputs into the pages, all by default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--measure", action="store_true", help="write the bounds of accuracies")
    options = parser.parse_args(arguments)
    for page in [page.resolve() for page in options.pages] or PAGES:
        if options.measure:
            text = measure(page)
        else:
            with tempfile.TemporaryDirectory() as folder:
                text = refresh(page, Path(folder))
        page.write_text(text, encoding="utf-8")
        print(f"{page.name}: {len(text.split())} words")


if __name__ == "__main__":
    main(sys.argv[1:])
