"""`edgecil agree`: how far similarity matrices agree."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.inputs import add_space_options, read_space
from edgecil.cli.output import print_json, print_table
from edgecil.cli.similarity import add_source_options, build
from edgecil.errors import UsageError, unknown

if TYPE_CHECKING:
    from edgecil.sequences import Agreement
    from edgecil.similarity import SimilarityMatrix

NAME = "compare-similarities"
HELP = "compare similarity matrices: MAE, Spearman, and the sequences they lead to (CSG)"
EXAMPLES = ("", "")
LEGACY = True

_SPACE = ("tasks", "base", "increment", "sizes")
_SETTINGS = ("dataset", *_SPACE, "similarities")


def configure(parser: argparse.ArgumentParser) -> None:
    """Matrices and the tasks to make of their classes."""
    parser.add_argument("left", nargs="?", metavar="A", help="a matrix: .npz, .npy or .csv")
    parser.add_argument("right", nargs="?", metavar="B", help="a matrix over the same classes")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML instead: 'dataset', tasks, and a table 'similarities' of those to build, each "
        "with the options of 'edgecil similarity'; all pairs are compared",
    )
    parser.add_argument("--root", metavar="DIR", help="directory of the images of --config")
    add_space_options(parser)


def run(args: argparse.Namespace) -> None:
    """Print how far each pair agrees."""
    matrices = _read_two(args) if args.config is None else _build_all(args)
    found = {pair: _compare(matrices, pair, args) for pair in combinations(matrices, 2)}
    if args.json:
        if args.config is None:
            print_json(found["A", "B"].as_dict())
        else:
            pairs = ({"left": a, "right": b, **found[a, b].as_dict()} for a, b in found)
            print_json({"agreements": list(pairs)})
        return
    for pair, agreement in found.items():
        title = "agreement" if args.config is None else " and ".join(pair)
        print_table((title, ""), _rows(agreement))


def _read_two(args: argparse.Namespace) -> dict[str, SimilarityMatrix]:
    """The two files, as A and B."""
    from edgecil.similarity import read_similarity

    if args.left is None or args.right is None or args.root is not None:
        raise UsageError("Give two matrices A and B, or --config FILE (and --root with it).")
    return {"A": read_similarity(args.left), "B": read_similarity(args.right)}


def _build_all(args: argparse.Namespace) -> dict[str, SimilarityMatrix]:
    """The similarities of --config by name; its tasks count unless the command line has some."""
    if args.left is not None:
        raise UsageError(f"--config says what to compare; leave {args.left} out.")
    space, sources = read_experiment(args.config, root=args.root)
    if all(getattr(args, name) is None for name in _SPACE):
        vars(args).update(space)
    built: dict[str, SimilarityMatrix] = {}
    for name, source in sorted(sources.items(), key=lambda item: item[1].images is not None):
        built[name] = build(source)
        read_space(args, len(built[name]))  # a slip in the tasks is told before images are read
    return {name: built[name] for name in sources}


def read_experiment(
    path: str | Path, *, root: str | None
) -> tuple[dict[str, Any], dict[str, argparse.Namespace]]:
    """What a TOML file says is to be compared.

    Returns:
        The options that say the tasks, and by name the options of each similarity, as those of
        `edgecil similarity`; `root` is that of all images.
    """
    from edgecil.io.toml import read_toml

    config = read_toml(path)
    for name in config:
        if name not in _SETTINGS:
            raise unknown(f"setting in {path}", name, _SETTINGS)
    dataset, wanted = config.get("dataset"), config.get("similarities")
    if not isinstance(dataset, str) or not isinstance(wanted, Mapping) or len(wanted) < 2:
        raise UsageError(f"{path} needs a 'dataset' and a table of two or more 'similarities'.")
    space = {name: config.get(name) for name in _SPACE}
    if isinstance(space["sizes"], list):
        space["sizes"] = ",".join(map(str, space["sizes"]))
    for name, value in space.items():
        _require_kind(str(path), name, value, str if name == "sizes" else int)
    sources = {
        name: _options(f"similarity {name!r} in {path}", dataset, given)
        for name, given in wanted.items()
    }
    with_images = [source for source in sources.values() if source.images is not None]
    if root is not None and not with_images:
        raise UsageError(f"{path} asks for no images; leave --root {root} out.")
    for source in with_images:
        source.root = source.root if root is None else root
    return space, sources


def _options(whose: str, dataset: str, given: Any) -> argparse.Namespace:
    """Options of `edgecil similarity` as a table says them."""
    parser = argparse.ArgumentParser()
    add_source_options(parser)
    options = parser.parse_args([])
    options.dataset = dataset
    if not isinstance(given, Mapping):
        raise UsageError(f"The {whose} must be a table of options. Got {given!r}.")
    for name, value in given.items():
        if name not in vars(options):
            raise unknown(f"option of {whose}", name, vars(options))
        number = name in {"classes", "classes_seed", "image_size", "threads"}
        _require_kind(whose, name, value, int if number else str)
        setattr(options, name, value)
    return options


def _require_kind(whose: str, name: str, value: Any, kind: type) -> None:
    if value is not None and type(value) is not kind:
        wanted = "a whole number" if kind is int else "a text"
        raise UsageError(f"{name!r} of {whose} must be {wanted}. Got {value!r}.")


def _compare(
    matrices: Mapping[str, SimilarityMatrix], pair: tuple[str, str], args: argparse.Namespace
) -> Agreement:
    from edgecil.sequences import agree

    left, right = (matrices[name] for name in pair)
    _require_same_classes(left, right, pair)
    return agree(left, right, read_space(args, len(left)))


def _rows(found: Agreement) -> list[tuple[str, str]]:
    rho = (
        "n/a (one matrix is constant)"
        if found.spearman is None
        else f"{found.spearman:.3f} (p = {found.p_value:.4f}, {found.permutations} permutations)"
    )
    rows = [("mean absolute error", f"{found.mae:.4f}"), ("Spearman ρ", rho)]
    for goal, csg in found.csg.items():
        rows.append((f"CSG {goal}", f"{csg.position:.2f} by position, {csg.matched:.2f} matched"))
    return rows


def _require_same_classes(
    left: SimilarityMatrix, right: SimilarityMatrix, pair: tuple[str, str]
) -> None:
    """An error if both matrices name their classes and not alike; numbered ones fit anything."""
    from edgecil.similarity.matrix import numbered_names

    numbered = numbered_names(len(left))
    if len(left) != len(right) or numbered in (left.names, right.names):
        return
    for label, (first, second) in enumerate(zip(left.names, right.names, strict=True)):
        if first != second:
            raise UsageError(
                f"The matrices name different classes: label {label} is {first!r} in {pair[0]} and "
                f"{second!r} in {pair[1]}; both must cover the same classes in the same order."
            )
