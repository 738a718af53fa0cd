"""Executes the pages of docs/guide and README, and writes what their commands print into them.

    python tools/guide.py [PAGE …]

A page is executed from top to bottom in an empty folder:

- ```` ```console ````: each `$ edgecil …` is run; the lines below are what it prints.
- ```` ```python ````: the code is run; a ```` ```text ```` block below is what it prints.
- ```` ```LANGUAGE title="f" ````: is written to the file f.
- ```` ```sh ````: needs your data; each `edgecil …` is parsed, not run.

Dots (`...`) in an expected line stand for anything, and a line of dots for any lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def refresh(page: Path, folder: Path) -> str:
    """Execute a page in a folder; return its text with the outputs that really appear."""
    text = page.read_text(encoding="utf-8")
    parts: list[str] = []
    end, printed = 0, ""
    names: dict[str, object] = {"__name__": "guide"}
    before = Path.cwd()
    os.chdir(folder)
    width = patch.dict(os.environ, COLUMNS="100")
    width.start()
    try:
        for block in _BLOCK.finditer(text):
            language, title, body = block.group(1), block.group(2), block.group(3)
            if title:
                Path(title).parent.mkdir(parents=True, exist_ok=True)
                Path(title).write_text(body, encoding="utf-8")
            elif language == "console":
                body = "".join(_run_console(body))
            elif language == "python":
                printed = _run_python(body, names)
            elif language == "text":
                body = body if matches(body, printed) else printed
            elif language == "sh":
                _parse_commands(body)
            parts += [text[end : block.start(3)], body]
            end = block.end(3)
    finally:
        width.stop()
        os.chdir(before)
    return "".join([*parts, text[end:]])


def matches(expected: str, printed: str) -> bool:
    """Return whether a text is the expected one, in which dots stand for anything."""
    lines = (
        "(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in expected.rstrip("\n").split("\n")
    )
    return re.fullmatch("".join(lines), printed.rstrip("\n") + "\n") is not None


def _run_console(body: str) -> Iterator[str]:
    for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", body, re.M):
        printed = _run_command(command)
        yield f"$ {command}"
        yield expected if matches(expected, printed) else printed


def _run_command(command: str) -> str:
    from edgecil.cli.main import main

    words = shlex.split(command.replace("\\\n", " "), comments=True)
    if words[0] != "edgecil":
        raise ValueError(f"A page may run edgecil only. Got {command!r}.")
    out, notes = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(notes):
        code = main(words[1:])
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
    from edgecil.cli.main import find_verb, verb_parser

    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "edgecil" not in words:
            continue
        words = words[words.index("edgecil") + 1 :]
        chosen = find_verb(words)
        if chosen is None:
            raise ValueError(f"Unknown verb: {line}")
        parser = verb_parser(chosen[0])
        given = words[len(chosen[0].split()) :]
        parser.check_options(given)
        _, rest = parser.parse_known_args(given)
        if rest:
            raise ValueError(f"Unexpected argument {rest[0]!r}: {line}")


def main(names: list[str]) -> None:
    """Write the outputs into the pages, all by default."""
    for page in [Path(name).resolve() for name in names] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(refresh(page, Path(folder)), encoding="utf-8")
        print(f"{page.relative_to(ROOT)}: {len(page.read_text(encoding='utf-8').split())} words")


if __name__ == "__main__":
    main(sys.argv[1:])
