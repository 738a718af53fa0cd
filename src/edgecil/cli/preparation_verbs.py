"""The verbs before an experiment: list, similarity, features, sequences, score and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.verb import Option, Verb

if TYPE_CHECKING:
    from edgecil.catalogue import EntryKind
    from edgecil.report.table import Table

_COLUMNS = ("name", "classes", "images", "first", "available", "network", "summary")
_RECIPE_COLUMNS = ("name", "twin", "shows")
_DETAILS = ("preparation", "note", "verb", "settings")
_LINE = 100  # letters of a line in a longer list
_FEW = 3  # entries that are shown with all their details


def _list(*, kind: EntryKind, show: str | None = None, **options: Any) -> dict[str, Any]:
    from edgecil.catalogue import list_entries
    from edgecil.recipes import recipe_text

    if show is not None:
        return {"kind": kind, "entries": [], "toml": recipe_text(show)}
    return {"kind": kind, "entries": list_entries(kind, **options), "toml": None}


def _show_list(answer: dict[str, Any]) -> Iterator[Table | str]:
    from edgecil.report.verb_tables import entry_table

    if answer["toml"] is not None:
        yield answer["toml"].rstrip("\n")
        return
    entries = answer["entries"]
    kind = answer["kind"].removesuffix("s")
    is_recipe = kind == "recipe"
    column_names: tuple[str, ...] = _COLUMNS
    detail_names: tuple[str, ...] = _DETAILS
    if is_recipe:  # their summaries have no room beside the other columns
        column_names = _RECIPE_COLUMNS
        detail_names = ("summary", *_DETAILS)
    columns = [name for name in column_names if entries and name in entries[0]]
    details = [name for name in detail_names if _any_entry_has(entries, name)]
    if not entries:
        yield f"No {kind} has this name; to see all: edgecil list {kind}s"
    elif len(entries) <= _FEW:
        yield entry_table(kind, entries, *columns)
        yield from (entry_table(kind, entries, "name", name) for name in details)
    elif columns == ["name"]:
        yield entry_table(kind, entries, *columns, *details, width=_LINE)
    else:
        yield entry_table(kind, entries, *columns, width=None if is_recipe else _LINE)
        for name in _first_with_details(entries, details):
            yield f"For the {' and '.join(details)} of one: edgecil list {kind}s {name}"


def _any_entry_has(entries: Sequence[Mapping[str, Any]], name: str) -> bool:
    return any(entry.get(name) for entry in entries)


def _first_with_details(
    entries: Sequence[Mapping[str, Any]], details: Sequence[str]
) -> Iterator[str]:
    """Yield the name of the first entry that has the first detail, if there is one."""
    for entry in entries:
        if details and entry[details[0]]:
            yield entry["name"]
            return


def _similarity(*, out: str | None = None, **options: Any) -> Any:
    from edgecil.similarity import build_similarity

    matrix = build_similarity(out=out, **options)
    return matrix.summary(path=None if out is None else Path(out))


PREPARATION_VERBS = (
    Verb(
        "list",
        "list methods, backbones, datasets, encoders, protocols, objectives, recipes or setups",
        ("edgecil list methods --setup paper", "edgecil list recipes --show demo > mine.toml"),
        "edgecil.catalogue:list_entries",
        _show_list,
        arguments=("kind", "pattern"),
        further=(Option("show", "print one recipe as TOML"),),
        call=_list,
    ),
    Verb(
        "similarity",
        "build a class-similarity matrix from names, captions or images",
        (
            "edgecil similarity cifar100 --out cifar100.npz",
            "edgecil similarity quickdraw --images pixels --classes 10",
        ),
        "edgecil.similarity.build:build_similarity",
        "edgecil.report.verb_tables:similarity_tables",
        arguments=("dataset",),
        call=_similarity,
    ),
    Verb(
        "features",
        "compute the features of images with any network, as vectors for 'run'",
        (
            "edgecil features quickdraw --backbone vit-quickdraw --out f.npz",
            "edgecil features photos --backbone timm:resnet50 --device cuda --out f.npz",
        ),
        "edgecil.backbones.extract:features",
        lambda answer: (f"Saved the features to {answer}.",),
        arguments=("dataset",),
        plain=lambda answer: {"features": str(answer)},
    ),
    Verb(
        "sequences",
        "choose class sequences by a protocol and profile them",
        (
            "edgecil sequences cifar100 --tasks 10 --protocol edge",
            "edgecil sequences cub200 --base 100 --increment 20 --protocol edge,random --json",
        ),
        "edgecil.sequences.scored:choose_sequences",
        "edgecil.report.verb_tables:sequence_tables",
        arguments=("dataset",),
        plain=lambda answer: {
            "names": answer.names,
            "sequences": answer.scored,
            "notes": answer.notes,
        },
        front=(
            *("dataset", "classes", "tasks", "base", "increment", "sizes", "protocol", "budget"),
            *("order_seed", "objective", "file", "names", "encoder"),
        ),
    ),
)
