"""Experiment files that ship with the package: the paper's experiments and small twins of them.

A recipe is a TOML file with the options of one verb, which its table `recipe` names: most are
configurations of `edgecil run`, and `text-images-*` and `captions-*` of
`python -m edgecil.paper compare-similarities`. A copy of a recipe may keep the table.

>>> read_recipe("demo")["method"]
['finetune', 'er', 'lwf', 'acil']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from edgecil.errors import UsageError, format_value, unknown_name_error
from edgecil.io.files import read_toml
from edgecil.registry import Registry

__all__ = [
    "COMPARE_SIMILARITIES",
    "RECIPE_PREFIX",
    "RUN",
    "RecipeFacts",
    "describe_recipe",
    "read_experiment_file",
    "read_recipe",
    "recipe_facts",
    "recipe_names",
    "recipe_text",
    "require_verb",
]

RECIPE_PREFIX = "recipe:"
RUN, COMPARE_SIMILARITIES = "run", "paper compare-similarities"
_COMMANDS = {
    RUN: "edgecil run",
    COMPARE_SIMILARITIES: "python -m edgecil.paper compare-similarities",
}
_FACTS = "recipe"  # the table of a file that is not an option


@dataclass(frozen=True)
class RecipeFacts:
    """What a recipe says about itself in its table `recipe`.

    Attributes:
        verb: the verb whose options the file has: `run` or `paper compare-similarities`; empty if
            the file does not say it.
        shows: the tables and figures of the paper that the experiment fills; empty for none.
        twin: the recipe with the same experiment on bundled data; empty for a twin itself.
    """

    verb: str = ""
    shows: str = ""
    twin: str = ""


def recipe_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the bundled recipes that match a shell pattern, in alphabetical order.

    >>> recipe_names("samples-*")
    ('samples-cub200', 'samples-quickdraw')
    """
    return _recipes().names(pattern)


def read_recipe(name: str) -> dict[str, Any]:
    """Return the settings of a bundled recipe; an unknown name is a `UsageError`."""
    return read_experiment_file(f"{RECIPE_PREFIX}{name}")[1]


def recipe_facts(name: str) -> RecipeFacts:
    """Return the verb of a bundled recipe, what it shows of the paper, and its twin.

    >>> recipe_facts("samples-cub200")
    RecipeFacts(verb='run', shows='Figure A7', twin='samples-quickdraw')
    """
    return read_experiment_file(f"{RECIPE_PREFIX}{name}")[0]


def read_experiment_file(source: str | Path) -> tuple[RecipeFacts, dict[str, Any]]:
    """Return the facts and the settings in a TOML file or a bundled recipe (`recipe:NAME`).

    A file with a table `similarities` has options of `paper compare-similarities`.
    """
    text = str(source)
    is_bundled = text.startswith(RECIPE_PREFIX)
    path = _recipes()[text.removeprefix(RECIPE_PREFIX)] if is_bundled else Path(source)
    settings = read_toml(path)
    default = COMPARE_SIMILARITIES if "similarities" in settings else ""
    stated = settings.pop(_FACTS, {})
    if not isinstance(stated, Mapping) or not all(
        isinstance(text, str) for text in stated.values()
    ):
        raise UsageError(
            f"In {text}, `recipe` must be a table of texts. Got {format_value(stated)}."
        )
    for name in stated:
        if name not in RecipeFacts.__annotations__:
            raise unknown_name_error(
                f"entry of `recipe` in {text}", name, RecipeFacts.__annotations__
            )
    facts = RecipeFacts(**{"verb": default, **stated})
    if facts.verb not in ("", *_COMMANDS):
        raise unknown_name_error(f"verb of `recipe` in {text}", str(facts.verb), _COMMANDS)
    return facts, settings


def require_verb(source: str | Path, facts: RecipeFacts, verb: str) -> None:
    """Raise an error that names the right verb if a file has the options of another one."""
    if facts.verb not in ("", verb):
        raise UsageError(
            f"{source} has the options of another verb; run: {_COMMANDS[facts.verb]} "
            f"--config {source}"
        )


def recipe_text(name: str) -> str:
    """Return a bundled recipe as TOML text, ready to be saved and changed."""
    return _recipes()[name].read_text(encoding="utf-8")


def describe_recipe(name: str) -> str:
    """Return what a recipe is for: the comment at its beginning, on one line.

    >>> describe_recipe("captions-ham10000").split(":")[0]
    'Names and captions of HAM10000 against images'
    """
    lines = takewhile(lambda line: line.startswith("#"), recipe_text(name).splitlines())
    return " ".join(line.lstrip("# ").strip() for line in lines)


def _recipes() -> Registry[Path]:
    files = sorted(Path(__file__).parent.glob("*.toml"), key=lambda path: path.stem)
    return Registry("recipe", {path.stem: path for path in files})
