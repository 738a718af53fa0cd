"""`edgecil captions`: have a language model say what each class looks like."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from edgecil.cli.inputs import read_names
from edgecil.cli.output import console, note, print_json

NAME = "captions"
HELP = "have a language model write captions of the classes, for 'similarity --captions'"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Which classes, who writes, and where to."""
    parser.add_argument("dataset", nargs="?", metavar="DATASET", help="see 'edgecil datasets'")
    parser.add_argument("--names", metavar="FILE", help="class names: .txt, .csv or .json")
    parser.add_argument(
        "--model", metavar="NAME", help="at the endpoint (default: $EDGECIL_LLM_MODEL)"
    )
    parser.add_argument("--out", required=True, metavar="FILE.json", help="save the captions here")


def run(args: argparse.Namespace) -> None:
    """Write a caption for each class and save them all."""
    from edgecil.errors import UsageError
    from edgecil.io.files import replace_file
    from edgecil.io.language_model import LanguageModel
    from edgecil.similarity.captioning import write_captions

    path = Path(args.out)
    if path.suffix.lower() != ".json":
        raise UsageError(f"Captions are saved to a .json file. Got {path} instead.")
    classes = read_names(args)

    def tell(label: str, caption: str) -> None:
        if sys.stderr.isatty():
            note(f"{label}: {caption}")

    captions = write_captions(classes, LanguageModel.from_environment(args.model), on_caption=tell)
    with replace_file(path) as file:
        file.write((json.dumps(captions, ensure_ascii=False, indent=2) + "\n").encode())
    if args.json:
        print_json({"captions": captions, "out": args.out})
    else:
        console().print(f"{len(captions)} captions saved to {args.out}", markup=False)
