"""`edgecil toolbox`: drive an unmodified PyCIL or PILOT checkout."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from edgecil.cli.elsewhere import add_run_options, choose_classes, train_elsewhere
from edgecil.cli.inputs import add_similarity_options, add_space_options, read_space
from edgecil.cli.output import note
from edgecil.errors import UsageError, unknown

NAME = "toolbox"
HELP = "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """The checkout and its config, the classes, the sequences."""
    parser.add_argument("root", metavar="ROOT", help="of the checkout")
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="one of the toolbox's own (exps/….json)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a key of the config, VALUE in JSON or plain text; may be repeated",
    )
    parser.add_argument(
        "--python", metavar="PATH", help="of the toolbox's environment (default: this one's)"
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="T", help="per training (default: 1)"
    )
    add_similarity_options(parser)
    add_space_options(parser)
    add_run_options(parser)


def run(args: argparse.Namespace) -> None:
    """Train every sequence in a process of its own, store, and show what came out."""
    from edgecil.interop.configs import known_dataset, read_flat_config
    from edgecil.interop.toolbox import Toolbox
    from edgecil.sequences import SequenceSpace

    changes = dict(_setting(text) for text in args.set)
    _check_changes(changes, read_flat_config(args.config), args.config)
    toolbox = Toolbox.open(
        args.root,
        args.config,
        changes,
        python=args.python,
        threads=args.threads,
    )
    if not (args.dataset or args.names or args.similarity or args.embeddings):
        args.dataset = known_dataset(str(toolbox.settings["dataset"]))
    chosen = choose_classes(args)
    given = (args.tasks, args.base, args.increment, args.sizes)
    if all(option is None for option in given):
        space = SequenceSpace(toolbox.sizes(len(chosen.ids)))
    else:
        space = read_space(args, len(chosen.ids))
    sequences = chosen.sequences(args, space)
    train_elsewhere(toolbox.run(args.out, chosen.names, chosen.ids, sequences, args.seeds), args)


def _check_changes(changes: Mapping[str, Any], config: Mapping[str, Any], path: str) -> None:
    """Refuse keys that are not ours to change; say which ones the config does not have."""
    for key in changes:
        if key in ("seed", "shuffle"):
            raise UsageError(
                f"--set {key} has no effect: the protocol chooses the class orders (--eval, "
                "--seed), and --seeds n says how often each is trained."
            )
        if key not in config:
            note(f"{unknown(f'key of {path}', key, config)} It is added.")


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"--set takes KEY=VALUE. Got {text!r}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
