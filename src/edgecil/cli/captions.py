"""`edgecil captions`: captions of classes from a language model."""

from __future__ import annotations

import argparse

from edgecil.cli.options import add_dataset
from edgecil.cli.output import print_json, print_line
from edgecil.cli.progress import Progress

NAME = "captions"
HELP = "write captions of the classes with a language model, for 'similarity --captions'"
EXAMPLES = (
    "edgecil captions ham10000 --out captions.json",
    "edgecil captions --names classes.txt --model gpt-4o-mini --out captions.json",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Which classes, which model, and where the captions go."""
    add_dataset(parser)
    parser.add_argument("--names", metavar="FILE", help="class names: .txt, .csv or .json")
    parser.add_argument(
        "--model", metavar="NAME", help="the language model (default: $EDGECIL_LLM_MODEL)"
    )
    parser.add_argument("--out", required=True, metavar="FILE.json", help="save the captions here")


def run(
    *,
    json: bool,
    out: str,
    dataset: str | None = None,
    names: str | None = None,
    model: str | None = None,
) -> None:
    """Write a caption for each class and save them."""
    from edgecil.cli.answers import Captions
    from edgecil.io.language_model import LanguageModel
    from edgecil.similarity import find_classes
    from edgecil.similarity.captioning import write_captions
    from edgecil.similarity.captions import check_caption_path, save_captions

    check_caption_path(out)
    classes = find_classes(dataset, names)
    with Progress("captions") as progress:
        progress.start(len(classes))
        captions = write_captions(
            classes,
            LanguageModel.from_environment(model),
            on_caption=lambda label, caption: progress.advance(f"{label}: {caption}"),
        )
    save_captions(captions, out)
    if json:
        print_json(Captions(captions=captions, out=out))
    else:
        print_line(f"Saved {len(captions)} captions to {out}")
