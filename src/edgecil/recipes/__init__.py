"""Experiment files that ship with the package: the paper's experiments and small twins of them.

A recipe is a TOML file. Most are configurations of :func:`edgecil.run`; the recipes
`text-images-*` and `captions-*` name similarities to compare.

>>> read_recipe("demo")["method"]
['finetune', 'er', 'lwf', 'acil']
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

from edgecil.io.files import read_toml
from edgecil.registry import Registry

__all__ = ["describe_recipe", "read_recipe", "recipe_names", "recipe_text"]


def recipe_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the bundled recipes that match a shell pattern, in alphabetical order.

    >>> recipe_names("samples-*")
    ('samples-cub200', 'samples-quickdraw')
    """
    return _registry().names(pattern)


def read_recipe(name: str) -> dict[str, Any]:
    """Return the settings of a bundled recipe; an unknown name is a `UsageError`."""
    with as_file(files(__name__) / f"{_registry().resolve(name)}.toml") as path:
        return read_toml(path)


def recipe_text(name: str) -> str:
    """Return a bundled recipe as TOML text, ready to be saved and changed."""
    resource = files(__name__) / f"{_registry().resolve(name)}.toml"
    return resource.read_text(encoding="utf-8")


def describe_recipe(name: str) -> str:
    """Return what a recipe is for: the comment at its beginning, on one line.

    >>> describe_recipe("captions-ham10000").split(":")[0]
    'Names and captions of HAM10000 against images'
    """
    words = []
    for line in recipe_text(name).splitlines():
        if not line.startswith("#"):
            break
        words.append(line.lstrip("# ").strip())
    return " ".join(words)


def _registry() -> Registry[str]:
    names = (entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".toml"))
    stems = sorted(name.removesuffix(".toml") for name in names)
    return Registry("recipe", {stem: stem for stem in stems})
