"""`edgecil run`: train methods on class sequences and store the results."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from edgecil.cli.options import (
    SPACE,
    Settings,
    add_classes,
    add_dataset,
    add_experiment,
    add_images,
    add_matrix,
    add_protocol,
    add_repeats,
    add_space,
    add_texts,
    names,
    numbers,
)
from edgecil.cli.output import note
from edgecil.cli.results import note_repeats, print_experiment, train

if TYPE_CHECKING:
    from edgecil.cli.progress import Progress
    from edgecil.engine import Experiment, Store
    from edgecil.engine.executors import Finished
    from edgecil.engine.prepare import Prepared

NAME = "run"
HELP = "train methods on the sequences of protocols; the same command resumes"
EXAMPLES = (
    "edgecil run --config recipe:demo --out demo",
    "edgecil run --method icarl --dataset quickdraw --classes 10 --tasks 5 --out x --epochs 2",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the experiment, each of which a TOML file may hold under the same name."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML, 'recipe:NAME', or JSON of PyCIL or PILOT; options take precedence over it",
    )
    add_experiment(parser)
    parser.add_argument("--jsonl", metavar="FILE", help="also write one JSON object per run")
    parser.add_argument("--tensorboard", metavar="DIR", help="also write TensorBoard event files")
    add_dataset(parser, positional=False)
    classes = parser.add_argument_group("classes and their similarity")
    add_images(classes)
    classes.add_argument(
        "--download", action=argparse.BooleanOptionalAction, help="download CIFAR-100 if missing"
    )
    add_classes(classes)
    classes.add_argument("--class-ids", type=numbers, metavar="A,B,…", help="exactly these classes")
    add_texts(classes)
    add_matrix(classes)
    add_space(parser)
    sequences = parser.add_argument_group("sequences")
    add_protocol(sequences, several=True)
    add_repeats(sequences, workers="one per core, or one on a GPU")
    training = parser.add_argument_group("training")
    training.add_argument("--method", type=names, metavar="A,B", help="see 'edgecil methods'")
    for option, kind, metavar, text in (
        ("--backbone", str, "NAME", "network from scratch (default: resnet-tiny)"),
        ("--pretrained", str, "NAME", "pre-trained model: name, file or hub id"),
        ("--recipe", str, "NAME", "fast (default) or paper"),
        ("--epochs", int, "E", "epochs per task, in place of the recipe's"),
        ("--memory-per-class", int, "M", "exemplars per class, in place of the recipe's"),
        ("--device", str, "NAME", "auto (default), cpu, cuda or mps"),
        ("--threads", int, "T", "threads of each worker (default: 1)"),
        ("--executor", str, "NAME", "local (default) or ray"),
        ("--address", str, "HOST", "address of a Ray cluster"),
    ):
        training.add_argument(option, type=kind, metavar=metavar, help=text)
    for option, metavar, text in (
        ("--training", "NAME=VALUE", "change a setting of the recipe"),
        ("--memory", "NAME=VALUE", "change a setting of the exemplar memory"),
        ("--set", "METHOD.NAME=VALUE", "change a method's own setting"),
    ):
        training.add_argument(option, action=Settings, metavar=metavar, help=text + "; repeatable")
    for option, text in (
        ("--amp", "mixed precision on CUDA"),
        ("--compile", "use torch.compile"),
        ("--share", "share features and parts of learners between sequences (default)"),
    ):
        training.add_argument(option, action=argparse.BooleanOptionalAction, help=text)


def run(*, json: bool, out: str, config: Any = None, **options: Any) -> None:
    """Train, store, and show the results."""
    import edgecil
    from edgecil.cli.answers import Run

    if config is not None and config.lower().endswith(".json"):
        from edgecil.interop.configs import cut_tasks, read_toolbox_config

        config, remarks = read_toolbox_config(config)
        if options.keys().isdisjoint(SPACE):
            config = cut_tasks(config | {name: options[name] for name in _SIZING & options.keys()})
        for remark in remarks:
            note(remark)

    def call(progress: Progress) -> Experiment:
        def start(prepared: Prepared, store: Store) -> None:
            note_repeats(prepared.sequences)
            tasks = set(prepared.plan)
            progress.start(len(tasks), len(tasks & store.done().keys()))

        def advance(finished: Finished) -> None:
            progress.advance(finished.job.node.method)

        return edgecil.run(out=out, config=config, on_start=start, on_finished=advance, **options)

    def show(experiment: Experiment) -> None:
        last = experiment.config
        assert last is not None
        print_experiment(
            Run,
            experiment,
            json=json,
            unit="tasks",
            methods=last.method,
            protocols=last.protocol,
            repeats=last.repeats,
        )

    train(call, show, "tasks", out)


_SIZING = {"dataset", "classes", "class_ids"}
