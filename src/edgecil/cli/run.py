"""`edgecil run`: train methods on sequences, store the results, go on where it stopped."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.inputs import add_space_options, parse_numbers
from edgecil.cli.output import console, note, print_json, print_table
from edgecil.cli.training import require_training
from edgecil.errors import EdgecilError

if TYPE_CHECKING:
    from edgecil.engine import RunConfig, RunResult, Summary
    from edgecil.engine.plan import Node, Prefix
    from edgecil.sequences import LabelledSequence

NAME = "run"
HELP = "train methods on the sequences of protocols; the same command resumes"


def configure(parser: argparse.ArgumentParser) -> None:
    """What to run, how, and where to keep it. Options not given come from --config."""
    what = parser.add_argument_group("what to run")
    what.add_argument("--config", metavar="FILE", help="TOML; the command line wins")
    what.add_argument("--method", dest="methods", metavar="A,B", help="see 'edgecil methods'")
    what.add_argument("--dataset", metavar="NAME", help="a known name, an .npz file or a folder")
    what.add_argument("--root", metavar="DIR", help="directory of the dataset's files")
    what.add_argument("--classes", type=int, metavar="N", help="only the first N classes")
    what.add_argument("--classes-seed", type=int, metavar="S", help="draw the N classes instead")
    what.add_argument("--class-ids", metavar="A,B,…", help="exactly these classes")
    what.add_argument(
        "--download", action=argparse.BooleanOptionalAction, help="fetch the dataset (CIFAR-100)"
    )
    add_space_options(parser)
    what.add_argument("--eval", dest="protocols", metavar="P,Q", help="protocols (default: edge)")
    what.add_argument("--runs", type=int, metavar="L", help="budget of each protocol")
    what.add_argument("--seed", type=int, metavar="S", help="of the protocols' own randomness")
    what.add_argument("--seeds", type=int, metavar="n", help="repeat each sequence n times")
    what.add_argument("--objective", metavar="NAME", help="what protocol 'optimal' optimises")
    what.add_argument("--encoder", metavar="NAME", help="of the class names")
    what.add_argument("--template", metavar="TEXT", help="prompt around a name")
    what.add_argument("--similarity", metavar="FILE", help="a matrix instead of an encoder")
    how = parser.add_argument_group("how")
    how.add_argument("--backbone", metavar="NAME", help="resnet-tiny (default), resnet32, resnet18")
    how.add_argument("--recipe", metavar="NAME", help="fast (default) or paper")
    how.add_argument("--epochs", type=int, metavar="E", help="instead of the recipe's")
    how.add_argument(
        "--memory-per-class", type=int, metavar="M", help="exemplars, instead of the recipe's"
    )
    how.add_argument("--image-size", type=int, metavar="PX", help="resize image files")
    how.add_argument("--device", metavar="NAME", help="auto (default), cpu, cuda, mps")
    how.add_argument(
        "--half", action=argparse.BooleanOptionalAction, help="mixed precision on CUDA"
    )
    how.add_argument("--compile", action=argparse.BooleanOptionalAction, help="torch.compile")
    how.add_argument("--threads", type=int, metavar="T", help="per worker (default: 1)")
    how.add_argument("--workers", type=int, metavar="W", help="nodes at a time (default: cores)")
    how.add_argument("--executor", default="local", metavar="NAME", help="local (default) or ray")
    how.add_argument("--address", metavar="HOST", help="of a Ray cluster")
    where = parser.add_argument_group("where")
    where.add_argument("--out", required=True, metavar="DIR", help="the run directory")
    where.add_argument("--fresh", action="store_true", help="forget what the directory holds")
    where.add_argument("--jsonl", metavar="FILE", help="also write one JSON row per result")
    where.add_argument("--tensorboard", metavar="DIR", help="also write TensorBoard event files")


def run(args: argparse.Namespace) -> None:
    """Train, store, and show what came out."""
    require_training()
    from edgecil.cli.progress import Progress
    from edgecil.engine import build_config, prefix_text, read_config
    from edgecil.engine import run as train
    from edgecil.engine.loggers import require_tensorboard, write_jsonl, write_tensorboard

    if args.tensorboard is not None:
        require_tensorboard()
    config = build_config(_merge(args, {} if args.config is None else read_config(args.config)))
    progress = Progress()
    try:
        with progress:
            store, summary = train(
                config,
                args.out,
                workers=args.workers,
                executor=args.executor,
                address=args.address,
                fresh=args.fresh,
                on_start=progress.start,
                on_finished=progress.advance,
            )
    except KeyboardInterrupt:
        note(f"Stopped; what is finished is kept in {args.out}. To go on: {_again()}")
        raise
    with closing(store):
        results, failures = store.runs(), store.failures()
        tables = _tables(store.sequences(), results, failures, config)
    if args.json:
        print_json(tables[0] if len(tables) == 1 else {"results": tables})
    else:
        _show(tables, summary, args.out)
    if args.jsonl is not None:
        write_jsonl(results.values(), Path(args.jsonl))
    if args.tensorboard is not None:
        write_tensorboard(results.values(), Path(args.tensorboard))
    if summary.failed:
        first = summary.failed[0]
        raise EdgecilError(
            f"{len(summary.failed)} of the trainings failed, the first ({first.method}, "
            f"{prefix_text(first.prefix)}) with {failures[first][0].rstrip('.')}; the others are "
            "kept, and the same command tries again."
        )


def _merge(args: argparse.Namespace, config: dict[str, Any]) -> dict[str, Any]:
    """The config file's settings with the command line's, which go by the same names, on top."""
    from edgecil.engine import RunConfig

    values = dict(config)
    if any(getattr(args, name) is not None for name in ("tasks", "increment", "sizes")):
        for name in ("tasks", "base", "increment", "sizes"):
            values.pop(name, None)
    if args.classes is not None or args.class_ids is not None:
        for name in ("classes", "classes_seed", "class_ids"):
            values.pop(name, None)
    for entry in fields(RunConfig):
        given = getattr(args, entry.name, None)
        if given is not None:
            values[entry.name] = given
    for name in ("sizes", "class_ids"):
        if isinstance(values.get(name), str):
            values[name] = parse_numbers(values[name], name)
    if args.epochs is not None:
        values["training"] = {**values.get("training", {}), "epochs": args.epochs}
    if args.memory_per_class is not None:
        values["memory"] = {**values.get("memory", {}), "per_class": args.memory_per_class}
    return values


def _tables(
    sequences: dict[str, list[LabelledSequence]],
    results: dict[tuple[str, int, Prefix], RunResult],
    failures: dict[Node, tuple[str, str]],
    config: RunConfig,
) -> list[dict[str, Any]]:
    """Per method and protocol: every run, what failed, and statistics of A(O) over sequences.

    With several training seeds a sequence counts by its mean; `seed_std` is the spread that
    remains within sequences.
    """
    import numpy as np

    tables = []
    for method in config.methods:
        for protocol in config.protocols:
            asked = [
                (labelled.label, (method, seed, labelled.sequence.tasks))
                for labelled in sequences[protocol]
                for seed in range(config.seeds)
            ]
            rows = [_row(label, results[key]) for label, key in asked if key in results]
            by_label: dict[str, list[float]] = {}
            for row in rows:
                by_label.setdefault(row["label"], []).append(row["accuracy"])
            found = np.array([np.mean(values) for values in by_label.values()])
            within = [np.var(values) for values in by_label.values()]
            tables.append(
                {
                    "method": method,
                    "protocol": protocol,
                    "sequences": rows,
                    "expected": len(sequences[protocol]),
                    "found": len(by_label),
                    "failed": _failed(method, sequences[protocol], failures),
                    **{
                        name: float(getattr(found, name)()) if len(found) else None
                        for name in ("mean", "std", "min", "max")
                    },
                    "seed_std": float(np.sqrt(np.mean(within))) if config.seeds > 1 else None,
                }
            )
    return tables


def _failed(
    method: str, runs: list[LabelledSequence], failures: dict[Node, tuple[str, str]]
) -> list[dict[str, Any]]:
    """The protocol's runs that a failed training is part of, with its error."""
    return [
        {"label": run.label, "seed": node.seed, "error": error}
        for run in runs
        for node, (error, _) in failures.items()
        if node.method == method and run.sequence.tasks[: len(node.prefix)] == node.prefix
    ]


def _row(label: str, result: RunResult) -> dict[str, Any]:
    main = result.reading()
    return {
        "label": label,
        "seed": result.seed,
        "tasks": [list(task) for task in result.sequence.tasks],
        "accuracy": main.accuracy,
        "a_last": main.last,
        "a_avg": main.average,
        "forgetting": main.forgetting,
        "matrix": [[value for value in row if value == value] for row in main.matrix.tolist()],
        "readings": {name: result.reading(name).accuracy for name in result.readings},
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
    }


def _show(tables: list[dict[str, Any]], summary: Summary, out: str) -> None:
    rows = []
    for table in tables:
        found, expected = table["found"], table["expected"]
        numbers = ["n/a"] * 4
        if found:
            numbers = [f"{table[name]:.2f}" for name in ("mean", "std", "min", "max")]
        count = str(found) if found == expected else f"{found} of {expected}"
        rows.append((table["method"], table["protocol"], count, *numbers))
    columns = ("method", "protocol", "sequences", "mean A(O)", "std", "min", "max")
    print_table(columns, rows, right=columns[2:])
    console().print(
        f"{summary.trained} task trainings now, {summary.reused} from before; kept in {out}",
        markup=False,
    )


def _again() -> str:
    """This command, without what would make it start over."""
    words = [word for word in sys.argv[1:] if len(word) < 3 or not "--fresh".startswith(word)]
    return "edgecil " + " ".join(shlex.quote(word) for word in words)
