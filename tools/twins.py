"""Run the twins of the paper's experiments, and every command that docs/paper.md has for them.

    python tools/twins.py OUT                     all of them; about an hour of two cores
    python tools/twins.py OUT samples-quickdraw   only this recipe
    python tools/twins.py --list                  print the commands

A row of the page "Tables and figures" has a command on the paper's data and a twin on the bundled
drawings; "the same on `X-quickdraw`" is that command on the runs of this recipe. Results are kept
below OUT, so that the same call continues. It stops at the first command that fails.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

from edgecil.recipes import recipe_facts

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
_RECIPE = re.compile(r"`(?:[^`]*recipe:)?([a-z-]+-quickdraw)\b")
_AGAIN = re.compile(r"again with `([^`]+)`")
_COMMAND = re.compile(r"`((?:edgecil|python -m edgecil\.\w+) [^`]+)`")


def rows(text: str) -> list[list[str]]:
    """Return the cells of the table of the paper's tables and figures."""
    section = text[text.index("## Tables and figures") : text.index("## Experimental setting")]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines[1:]]


def twin_commands(text: str) -> list[tuple[str, list[str]]]:
    """Return the recipe of each command, or "", and its words; an experiment's own run is first."""
    commands: dict[tuple[str, ...], str] = {}
    for _, with_data, twin, *_ in rows(text):
        recipes = _RECIPE.findall(twin)
        for recipe in recipes:
            if recipe_facts(recipe).verb == "run":
                run = ("edgecil", "run", "--config", f"recipe:{recipe}", "--out", recipe)
                commands.setdefault(run, recipe)
                for options in _AGAIN.findall(with_data):
                    commands.setdefault((*run, *options.split()), recipe)
        of_twin = [shlex.split(command) for command in _COMMAND.findall(twin)]
        verbs = [_verb(words) for words in of_twin]
        same = [shlex.split(command) for command in _COMMAND.findall(with_data)]
        same = [words for words in same if "DIR" in words and _verb(words) not in verbs]
        for words in (*of_twin, *same):
            if _verb(words) == ["edgecil", "run"]:
                continue
            for recipe in recipes or [""]:
                commands.setdefault(_in_folder(words, recipe), recipe)
    return [(recipe, list(words)) for words, recipe in commands.items()]


def _in_folder(words: list[str], recipe: str) -> tuple[str, ...]:
    """Return a command with the recipe's directory for DIR, and a folder of its own for figures."""
    if not recipe:
        return tuple(words)
    replaced = {"DIR": recipe, "figures": f"{recipe}-figures"}
    verb = _verb(words)
    return (*verb, *(replaced.get(word, word) for word in words[len(verb) :]))


def _verb(words: list[str]) -> list[str]:
    """Return the words of a command up to its verb, as of `python -m edgecil.lab audit DIR`."""
    return words[:2] if words[0] == "edgecil" else words[:4]


def main() -> None:
    """Parse the command line, and run the commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", nargs="?", type=Path, default=Path())
    parser.add_argument("recipe", nargs="*", help="by default all")
    parser.add_argument("--list", action="store_true", help="print the commands")
    options = parser.parse_args()
    for recipe, words in twin_commands(PAGE.read_text(encoding="utf-8")):
        if options.recipe and recipe not in options.recipe:
            continue
        print(shlex.join(words), flush=True)
        if not options.list:
            options.out.mkdir(parents=True, exist_ok=True)
            if _verb(words) == ["python", "-m", "edgecil.paper", "figures"]:
                words.append("--overwrite")
            module = ["-m", "edgecil", *words[1:]] if words[0] == "edgecil" else words[1:]
            program = [sys.executable, *module]
            subprocess.run(program, cwd=options.out, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
