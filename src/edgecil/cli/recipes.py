"""`edgecil recipes`: experiment files that ship with the package."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table

NAME = "recipes"
HELP = "list the bundled experiment files, for 'edgecil run --config recipe:NAME'"
EXAMPLES = ("edgecil recipes '*quickdraw'", "edgecil recipes --show demo > mine.toml")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which recipes."""
    parser.add_argument("pattern", nargs="?", metavar="PATTERN", help="such as 'classic-*'")
    parser.add_argument("--show", metavar="NAME", help="print one recipe as TOML")


def run(*, json: bool, pattern: str = "*", show: str | None = None) -> None:
    """Print names and summaries, or one recipe."""
    from edgecil.cli.answers import Recipe, Recipes
    from edgecil.recipes import describe_recipe, read_recipe, recipe_names, recipe_text

    names = recipe_names(pattern) if show is None else (show,)
    if json:
        listed = [Recipe(name, describe_recipe(name), read_recipe(name)) for name in names]
        print_json(Recipes(recipes=listed))
    elif show is not None:
        print(recipe_text(show), end="")
    else:
        print_table(("recipe", "experiment"), ((name, describe_recipe(name)) for name in names))
