"""`edgecil datasets`: every class list known by name."""

from __future__ import annotations

import argparse

from edgecil.cli.output import print_json, print_table

NAME = "datasets"
HELP = "list the datasets whose class names are known, and where their images are"


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to look for images."""
    parser.add_argument("--root", metavar="DIR", help="directory to look for images in")


def run(args: argparse.Namespace) -> None:
    """Print name, number of classes, the first few of them, and whether images are at hand."""
    from edgecil.classes import dataset_names, get_classes
    from edgecil.data import IMAGE_DATASETS, dataset_status

    rows = []
    for name in dataset_names():
        known = get_classes(name)
        here, sentence = (False, "Names only.")
        if name in IMAGE_DATASETS:
            here, sentence = dataset_status(name, args.root)
        rows.append((known, here, sentence))
    if args.json:
        print_json(
            {
                "datasets": [
                    {"name": known.name, "classes": len(known), "images": here, "note": sentence}
                    for known, here, sentence in rows
                ]
            }
        )
        return
    print_table(
        ("dataset", "classes", "images", "labels 0, 1, 2, …"),
        (
            (
                known.name,
                str(len(known)),
                "yes" if here else "no",
                ", ".join(known.words[:3]) + ", …",
            )
            for known, here, _ in rows
        ),
        right=("classes",),
    )
    print_table(
        ("images of", ""), ((known.name, sentence) for known, here, sentence in rows if not here)
    )
