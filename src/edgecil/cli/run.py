"""`edgecil run`: train methods on sequences, store the results, go on where it stopped."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.inputs import add_space_options, parse_numbers
from edgecil.cli.output import note
from edgecil.cli.results import announce, print_results, tabulate
from edgecil.io.packages import require_training

if TYPE_CHECKING:
    from edgecil.engine import Store
    from edgecil.engine.prepare import Prepared

NAME = "run"
HELP = "train methods on the sequences of protocols; the same command resumes"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """What to run, how, and where to keep it. Options not given come from --config."""
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--config", metavar="FILE", help="TOML, or JSON of PyCIL or PILOT; options win"
    )
    what.add_argument("--method", metavar="A,B", help="see 'edgecil methods'")
    what.add_argument("--dataset", metavar="NAME", help="a known name, an .npz file or a folder")
    what.add_argument("--root", metavar="DIR", help="directory of the dataset's files")
    what.add_argument("--classes", type=int, metavar="N", help="only the first N classes")
    what.add_argument("--classes-seed", type=int, metavar="S", help="draw the N classes instead")
    what.add_argument("--class-ids", metavar="A,B,…", help="exactly these classes")
    what.add_argument(
        "--download", action=argparse.BooleanOptionalAction, help="fetch the dataset (CIFAR-100)"
    )
    add_space_options(parser)
    what.add_argument("--eval", dest="protocol", metavar="P,Q", help="protocols (default: latin)")
    what.add_argument(
        "--runs", dest="budget", type=int, metavar="L", help="budget of each protocol"
    )
    what.add_argument(
        "--seed", dest="order_seed", type=int, metavar="S", help="of the protocols' own randomness"
    )
    what.add_argument(
        "--seeds", dest="repeats", type=int, metavar="n", help="repeat each sequence n times"
    )
    what.add_argument("--objective", metavar="NAME", help="what protocol 'optimal' optimises")
    what.add_argument("--encoder", metavar="NAME", help="of the class names")
    what.add_argument("--template", metavar="TEXT", help="prompt around a name")
    what.add_argument("--similarity", metavar="FILE", help="a matrix instead of an encoder")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--backbone", metavar="NAME", help="resnet-tiny (default); see 'edgecil backbones'"
    )
    how.add_argument(
        "--pretrained", metavar="NAME", help="frozen model: vit-quickdraw (default), file, hub id"
    )
    how.add_argument("--recipe", metavar="NAME", help="fast (default) or paper")
    how.add_argument("--epochs", type=int, metavar="E", help="instead of the recipe's")
    how.add_argument(
        "--memory-per-class", type=int, metavar="M", help="exemplars, instead of the recipe's"
    )
    how.add_argument("--image-size", type=int, metavar="PX", help="resize image files")
    how.add_argument("--device", metavar="NAME", help="auto (default), cpu, cuda, mps")
    how.add_argument(
        "--half", dest="amp", action=argparse.BooleanOptionalAction, help="mixed precision on CUDA"
    )
    how.add_argument("--compile", action=argparse.BooleanOptionalAction, help="torch.compile")
    how.add_argument("--threads", type=int, metavar="T", help="per worker (default: 1)")
    how.add_argument("--workers", type=int, metavar="W", help="nodes at a time (default: cores)")
    how.add_argument("--executor", metavar="NAME", help="local (default) or ray")
    how.add_argument("--address", metavar="HOST", help="of a Ray cluster")
    where = parser.add_argument_group("where")
    where.add_argument("--out", required=True, metavar="DIR", help="the run directory")
    how.add_argument(
        "--no-sharing",
        dest="share",
        action="store_false",
        default=None,
        help="compute everything anew for each sequence",
    )
    where.add_argument(
        "--fresh", dest="overwrite", action="store_true", help="forget what the directory holds"
    )
    where.add_argument("--jsonl", metavar="FILE", help="also write one JSON row per result")
    where.add_argument("--tensorboard", metavar="DIR", help="also write TensorBoard event files")


def run(args: argparse.Namespace) -> None:
    """Train, store, and show what came out."""
    require_training()
    from edgecil.cli.progress import Progress
    from edgecil.engine import Store, TrainingFailedError, build_config
    from edgecil.engine.run import run as train
    from edgecil.interop.configs import cut_tasks

    values = _merge(args, _read_config(args.config))
    if _is_toolbox_config(args.config) and args.increment is None:
        values = cut_tasks(values)
    config, failed = build_config(values), None
    progress = Progress("tasks")

    def start(prepared: Prepared, store: Store) -> None:
        announce(prepared.sequences)
        progress.start(len(prepared.plan), len(set(prepared.plan) & set(store.done())))

    try:
        with progress:
            experiment = train(
                out=args.out,
                config=values,
                overwrite=args.overwrite,
                jsonl=args.jsonl,
                tensorboard=args.tensorboard,
                on_start=start,
                on_finished=lambda finished: progress.advance(finished.job.node.method),
            )
    except TrainingFailedError as error:
        experiment, failed = error.experiment, error
    except KeyboardInterrupt:
        note(f"Stopped; what is finished is kept in {args.out}. To go on: {_again()}")
        raise
    assert experiment.summary is not None
    with closing(Store(args.out)) as store:
        tables = tabulate(store, config.method, config.protocol, config.repeats)
    print_results(tables, experiment.summary, args, "task trainings")
    if failed is not None:
        raise failed


def _read_config(path: str | None) -> dict[str, Any]:
    """The settings in a TOML file of ours, or in a JSON file of PyCIL's or PILOT's."""
    from edgecil.engine import read_config
    from edgecil.interop.configs import read_toolbox_config

    if path is None:
        return {}
    if not _is_toolbox_config(path):
        return read_config(path)
    values, remarks = read_toolbox_config(path)
    for remark in remarks:
        note(remark)
    return values


def _is_toolbox_config(path: str | None) -> bool:
    return path is not None and Path(path).suffix.lower() == ".json"


def _merge(args: argparse.Namespace, config: dict[str, Any]) -> dict[str, Any]:
    """The config file's settings with the command line's, which go by the same names, on top."""
    from edgecil.engine.config import OPTIONS, merge_options

    values = merge_options(config, {name: getattr(args, name, None) for name in OPTIONS})
    for name in ("sizes", "class_ids"):
        if isinstance(values.get(name), str):
            values[name] = parse_numbers(values[name], name)
    return values


def _again() -> str:
    """This command, without what would make it start over."""
    words = [word for word in sys.argv[1:] if len(word) < 3 or not "--fresh".startswith(word)]
    return "edgecil " + " ".join(shlex.quote(word) for word in words)
