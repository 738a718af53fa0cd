"""Captions in place of class names: one text per class that describes how it looks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from edgecil.classes import ClassList, get_classes
from edgecil.errors import UsageError, format_value, unknown_name_error
from edgecil.io.csv_files import check_header, read_rows
from edgecil.io.files import read_json, read_text, replace_file

CAPTIONED = ("ham10000", "eyepacs", "quickdraw")


def check_captions(
    classes: ClassList, captions: Mapping[str, str] | Sequence[str]
) -> tuple[str, ...]:
    """Return one caption per class, in label order.

    Args:
        classes: N classes.
        captions: N texts in label order, or a mapping from each class (its label as the dataset
            spells it, or its words) to its text.
    """
    if isinstance(captions, Mapping):
        captions = _in_label_order(classes, captions.items())
    if isinstance(captions, str) or len(captions) != len(classes):
        number = "a single text" if isinstance(captions, str) else f"{len(captions)}"
        raise UsageError(
            f"Dataset {classes.name!r} needs {len(classes)} captions, one per class in label "
            f"order. Got {number}."
        )
    for label, caption in zip(classes.labels, captions, strict=True):
        if not isinstance(caption, str) or not caption.strip():
            raise UsageError(
                f"The caption of class {label!r} must be a text. Got {format_value(caption)}."
            )
    return tuple(caption.strip() for caption in captions)


def read_captions(path: str | Path, classes: ClassList) -> tuple[str, ...]:
    """Return the captions in a file, in label order; every class must have exactly one.

    - .json: an object from label to caption;
    - .csv: columns headed `name` and `caption`;
    - .txt: one caption per line, in label order.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    try:
        if suffix == ".txt":
            return check_captions(classes, read_text(path).rstrip("\n").split("\n"))
        if suffix == ".csv":
            return check_captions(classes, _in_label_order(classes, _csv_pairs(path)))
        captions = read_json(path) if suffix == ".json" else None
        if not isinstance(captions, dict):
            raise UsageError(
                "captions must be a .json object from class label to caption, or in a .csv or .txt "
                "file."
            )
        return check_captions(classes, captions)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def bundled_captions(dataset: str) -> tuple[str, ...]:
    """Return captions that come with edgecil, in label order: what each class looks like.

    >>> bundled_captions("eyepacs")[1]
    'retina fundus with only a few tiny round red dots, microaneurysms near the macula'
    """
    classes = get_classes(dataset)
    if classes.name not in CAPTIONED:
        raise UsageError(
            f"Captions come bundled for {', '.join(CAPTIONED)} only. Got {format_value(dataset)}; "
            "give a file of captions instead."
        )
    path = Path(__file__).parent / "data" / "captions" / f"{classes.name}.json"
    return read_captions(path, classes)


def save_captions(captions: Mapping[str, str], path: str | Path) -> None:
    """Write captions by class label to a .json file, as :func:`read_captions` reads it."""
    with replace_file(check_caption_path(path)) as file:
        file.write((json.dumps(dict(captions), ensure_ascii=False, indent=2) + "\n").encode())


def check_caption_path(path: str | Path) -> Path:
    """Return the path, if captions can be saved under its name."""
    if Path(path).suffix.lower() != ".json":
        raise UsageError(f"Captions are saved to a .json file. Got {path} instead.")
    return Path(path)


def _in_label_order(classes: ClassList, pairs: Iterable[tuple[str, str]]) -> list[str]:
    label_of = dict(zip(classes.words, classes.labels, strict=True))
    label_of |= {label: label for label in classes.labels}
    captions: dict[str, str] = {}
    for name, caption in pairs:
        if name not in label_of:
            raise unknown_name_error(f"class of {classes.name!r}", str(name), classes.labels)
        label = label_of[name]
        if label in captions:
            raise UsageError(f"Class {label!r} has more than one caption; give exactly one.")
        captions[label] = caption
    missing = [label for label in classes.labels if label not in captions]
    if missing:
        raise UsageError(
            f"{len(missing)} of the {len(classes)} classes of {classes.name!r} have no caption, "
            f"{missing[0]!r} first; give every class one."
        )
    return [captions[label] for label in classes.labels]


def _csv_pairs(path: Path) -> list[tuple[str, str]]:
    rows = read_rows(path)
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    check_header(header, str(path))
    if not {"name", "caption"} <= set(header):
        raise UsageError("captions need a header line with the columns name and caption.")
    name_column, caption_column = header.index("name"), header.index("caption")
    if any(len(row) != len(header) for row in rows):
        raise UsageError(
            f"a row does not have {len(header)} columns; put captions with commas in quotes."
        )
    return [(row[name_column].strip(), row[caption_column]) for row in rows[1:]]
