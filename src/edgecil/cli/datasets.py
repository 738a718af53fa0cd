"""`edgecil datasets`: every class list known by name."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table

NAME = "datasets"
HELP = "list the datasets whose class names are known"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> None:
    """Print name, number of classes and the first few of them."""
    from edgecil.classes import dataset_names, get_classes

    lists = [get_classes(name) for name in dataset_names()]
    if args.json:
        rows = [{"name": known.name, "classes": len(known)} for known in lists]
        print_json({"datasets": rows})
        return
    print_table(
        ("dataset", "classes", "labels 0, 1, 2, …"),
        ((known.name, str(len(known)), ", ".join(known.words[:4]) + ", …") for known in lists),
        right=("classes",),
    )
