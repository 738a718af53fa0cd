"""The verbs that list what there is: datasets, encoders, backbones, methods, protocols, recipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from edgecil.cli.verb import Option, Verb
from edgecil.report.answer_tables import entry_table
from edgecil.report.table import Table


def _lister(*kinds: str) -> Any:
    def call(**options: Any) -> dict[str, Any]:
        import edgecil

        return {kind: getattr(edgecil, f"list_{kind}")(**options) for kind in kinds}

    return call


def _show(answer: dict[str, Any]) -> Iterator[Table]:
    """Yield a table for each kind, with the columns that its entries have."""
    for kind, entries in answer.items():
        columns = [name for name in _COLUMNS if hasattr(entries[0], name)]
        yield entry_table(kind.removesuffix("s"), entries, *columns)


def _show_datasets(answer: dict[str, Any]) -> Iterator[Table]:
    yield entry_table("dataset", answer["datasets"], "name", "classes", "images", "first")
    missing = [it for it in answer["datasets"] if not it.images]
    yield entry_table("missing images", missing, "name", "note")


def _recipes(*, show: str | None = None, pattern: str = "*") -> dict[str, Any]:
    import edgecil

    if show is not None:
        return {"recipes": [], "toml": edgecil.recipe_text(show)}
    return {"recipes": edgecil.list_recipes(pattern=pattern), "toml": None}


def _show_recipes(answer: dict[str, Any]) -> Iterable[Table | str]:
    if answer["toml"] is not None:
        return (answer["toml"].rstrip("\n"),)
    return (entry_table("recipe", answer["recipes"], "name", "summary"),)


_COLUMNS = ("name", "goal", "available", "summary", "note", "order_share", "settings")

VERBS = (
    Verb(
        "datasets",
        "list the datasets, their classes, and whether their images are available",
        ("edgecil datasets", "edgecil datasets --root ~/data/cifar-100-python"),
        {"": ("root",)},
        _lister("datasets"),
        _show_datasets,
        api="edgecil.catalogue:list_datasets",
    ),
    Verb(
        "encoders",
        "list the text encoders and what each requires",
        ("edgecil encoders", "edgecil similarity cifar100 --encoder clip-vit-b-32"),
        {},
        _lister("encoders"),
        _show,
    ),
    Verb(
        "backbones",
        "list the networks, from scratch and pre-trained, and what each requires",
        ("edgecil backbones", "edgecil run --config recipe:demo --backbone resnet32 --out x"),
        {},
        _lister("backbones"),
        _show,
    ),
    Verb(
        "methods",
        "list the methods and their settings",
        ("edgecil methods", "edgecil methods --recipe paper --json"),
        {"": ("recipe",)},
        _lister("methods"),
        _show,
        api="edgecil.catalogue:list_methods",
    ),
    Verb(
        "protocols",
        "list the protocols, the generators they use, and the objectives",
        ("edgecil protocols", "edgecil sequences cifar100 --tasks 10 --protocol edge"),
        {},
        _lister("protocols", "generators", "objectives"),
        _show,
    ),
    Verb(
        "recipes",
        "list the bundled experiment files, for 'edgecil run --config recipe:NAME'",
        ("edgecil recipes '*quickdraw'", "edgecil recipes --show demo > mine.toml"),
        {"": ("[pattern]", Option("show", "NAME", "print one recipe as TOML"))},
        _recipes,
        _show_recipes,
        api="edgecil.catalogue:list_recipes",
    ),
)
