"""`edgecil datasets`: every dataset with a name."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.output import print_json, print_table, yes_no

NAME = "datasets"
HELP = "list the datasets, their classes, and whether their images are here"
EXAMPLES = ("edgecil datasets", "edgecil datasets --root ~/data/cifar-100-python")


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to look for images."""
    parser.add_argument("--root", metavar="DIR", help="directory to look for images in")


def run(*, json: bool, **options: Any) -> None:
    """Print each dataset's name, number of classes, first classes, and where its images are."""
    from edgecil.classes import dataset_names, get_classes
    from edgecil.cli.answers import Dataset, Datasets
    from edgecil.data import IMAGE_DATASETS, dataset_status

    lists = [get_classes(name) for name in dataset_names()]
    rows = [
        Dataset(
            classes.name,
            len(classes),
            *(
                dataset_status(classes.name, **options)
                if classes.name in IMAGE_DATASETS
                else (False, "Class names only.")
            ),
        )
        for classes in lists
    ]
    if json:
        print_json(Datasets(datasets=rows))
        return
    print_table(
        ("dataset", "classes", "images", "labels 0, 1, 2, …"),
        (
            (row.name, str(row.classes), yes_no(row.images), ", ".join(classes.words[:3]) + ", …")
            for row, classes in zip(rows, lists, strict=True)
        ),
        right=("classes",),
    )
    print_table(("missing images", ""), ((row.name, row.note) for row in rows if not row.images))
