"""What the verbs share that have another program train: `external` and `toolbox`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgecil.cli.inputs import read_names, read_whole_similarity
from edgecil.cli.output import note
from edgecil.cli.results import announce, print_results, report_failures, tabulate
from edgecil.errors import UsageError, unknown

if TYPE_CHECKING:
    from edgecil.engine import Node, WholeRun
    from edgecil.interop.external import ExternalRun
    from edgecil.sequences import LabelledSequence, SequenceSpace
    from edgecil.similarity import Similarity


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Which sequences, how often, how many at a time, and where the results go."""
    parser.add_argument(
        "--eval", dest="protocols", default="edge", metavar="P,Q", help="protocols (default: edge)"
    )
    parser.add_argument("--runs", type=int, metavar="L", help="budget of each protocol")
    parser.add_argument("--seed", type=int, metavar="S", help="of the protocols' own randomness")
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="n", help="repeat each sequence n times"
    )
    parser.add_argument(
        "--workers", type=int, default=1, metavar="W", help="programs at a time (default: 1)"
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="a training that takes longer has failed"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the run directory")
    parser.add_argument("--fresh", action="store_true", help="forget what the directory holds")


@dataclass(frozen=True)
class Chosen:
    """The classes that take part, and what is known of them.

    Attributes:
        names: of the N classes.
        ids: the dataset's own ids of these.
        similarity: over these; None where no protocol needs it.
    """

    names: tuple[str, ...]
    ids: tuple[int, ...]
    similarity: Similarity | None

    def sequences(
        self, args: argparse.Namespace, space: SequenceSpace
    ) -> dict[str, list[LabelledSequence]]:
        """The sequences of every protocol asked for."""
        from edgecil.engine.experiment import stored_answers
        from edgecil.sequences import protocol

        names = _protocols(args)
        answered = {} if args.fresh else stored_answers(args.out)
        return {
            name: protocol(
                name,
                space,
                similarity=self.similarity,
                budget=None if name == "enumerate" and len(names) > 1 else args.runs,
                order_seed=args.seed,
                answered=answered.get(name),
            )
            for name in names
        }


def choose_classes(args: argparse.Namespace) -> Chosen:
    """The classes that the options mean; similarity is computed only if a protocol needs it."""
    from edgecil.classes import select_classes
    from edgecil.sequences import PROTOCOLS

    needed = any(PROTOCOLS[name].needs_similarity for name in _protocols(args))
    by_file = args.similarity is not None or args.embeddings is not None
    whole = read_whole_similarity(args) if needed or by_file else None
    if whole is not None:
        names = tuple(whole.names)
    elif args.dataset is not None or args.names is not None:
        names = read_names(args).labels
    elif args.classes is not None:
        names = tuple(str(id_) for id_ in range(args.classes))
    else:
        raise UsageError(
            "Say which classes there are: a DATASET, --names, --similarity, or --classes N."
        )
    ids = select_classes(len(names), count=args.classes, seed=args.classes_seed)
    similarity = None if whole is None else whole.take(ids)
    return Chosen(tuple(names[id_] for id_ in ids), tuple(ids.tolist()), similarity)


def train_elsewhere(run: ExternalRun, args: argparse.Namespace) -> None:
    """Have everything trained, and show what came out."""
    from edgecil.interop.external import run_external

    announce(run.sequences)
    total, ended = len(run.nodes()), 0

    def tell(node: Node, result: WholeRun | str) -> None:
        nonlocal ended
        ended += 1
        if isinstance(result, str):
            note(f"failed: {node.method}, {node.prefix}: {result}")
        elif sys.stderr.isatty():
            note(f"{ended} of at most {total} sequences trained")

    try:
        store, summary = run_external(
            run,
            args.out,
            workers=args.workers,
            timeout=args.timeout,
            fresh=args.fresh,
            on_finished=tell,
        )
    except KeyboardInterrupt:
        note(f"Stopped; what is finished is kept in {args.out}. The same command goes on.")
        raise
    with closing(store):
        tables = tabulate(store, [run.method], list(run.sequences), args.seeds)
        failures = store.failures()
    print_results(tables, summary, args, "sequences trained")
    report_failures(summary, failures)


def _protocols(args: argparse.Namespace) -> list[str]:
    from edgecil.sequences import PROTOCOLS

    names = list(dict.fromkeys(name.strip() for name in args.protocols.split(",")))
    for name in names:
        if name not in PROTOCOLS:
            raise unknown("protocol", name, PROTOCOLS)
    if args.seeds < 1:
        raise UsageError(f"--seeds must be at least 1. Got {args.seeds} instead.")
    return names
