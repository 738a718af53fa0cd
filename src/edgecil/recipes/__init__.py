"""Experiment files that ship with the package: the paper's experiments and small twins of them.

A recipe is a TOML file. Most are configurations of :func:`edgecil.run`; the recipes
`text-images-*` and `captions-*` name similarities to compare.

>>> read_recipe("demo")["method"]
['finetune', 'er', 'lwf', 'acil']
"""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

from edgecil.io.files import read_toml
from edgecil.registry import Registry

__all__ = ["describe_recipe", "read_recipe", "recipe_names", "recipe_text"]


def recipe_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the bundled recipes that match a shell pattern, in alphabetical order.

    >>> recipe_names("samples-*")
    ('samples-cub200', 'samples-quickdraw')
    """
    return _recipes().names(pattern)


def read_recipe(name: str) -> dict[str, Any]:
    """Return the settings of a bundled recipe; an unknown name is a `UsageError`."""
    return read_toml(_recipes()[name])


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
