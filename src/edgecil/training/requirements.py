"""What an experiment requires: datasets, encoders and weights that are found or missing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from edgecil.data.dataset import Dataset
from edgecil.data.items import Items
from edgecil.data.load import open_dataset
from edgecil.data.split import SPLITS
from edgecil.errors import DataError, EdgecilError, PrerequisiteError
from edgecil.io.arrays import Ints
from edgecil.io.cache import user_cache

_WEIGHTS = (".pt", ".pth", ".bin", ".safetensors")


@dataclass(frozen=True)
class Requirement:
    """Something that a run requires.

    Attributes:
        name: dataset, similarity, backbone, device, directory, disk or method, and which.
        available: whether it is there.
        about: where it is, or what is missing and what to do.
    """

    name: str
    available: bool
    about: str


class Requirements(list[Requirement]):
    """The requirements that were looked for, found or missing.

    Args:
        strict: whether the first thing that is missing is an error, in place of an entry.
    """

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self.is_strict = strict

    def add(self, name: str, about: str, available: bool = True) -> None:
        """Note a requirement."""
        self.append(Requirement(name, available, about))

    def add_dataset(self, name: str, root: str | Path | None = None) -> Dataset | Items | None:
        """Note the inputs of a dataset, and return it; None if they are missing."""
        with self.trying(f"dataset {name}", PrerequisiteError, DataError):
            opened = open_dataset(name, root=root)
            train, test = split_labels(opened)
            counts = describe_counts(opened.name, len(train), len(test), opened.notes)
            self.add(f"dataset {name}", counts)
            return opened
        return None

    def add_encoder(self, name: str, weights: str | Path | None = None) -> None:
        """Note a text encoder, and the tokenizer that CLIP's need."""
        from edgecil.similarity.clip import tokenizer_status
        from edgecil.similarity.text import ENCODERS, cached_weights, encoder_status

        available, sentence = encoder_status(name)
        weights_path = None if weights is None else Path(weights).expanduser()
        if weights_path is not None and not weights_path.exists():
            weights_path = None
        available = available or weights_path is not None
        self.add(f"encoder {name}", sentence if available else with_caches(sentence), available)
        entry = ENCODERS[ENCODERS.resolve(name)]
        if entry.kind == "clip":
            has_tokenizer, sentence = tokenizer_status(weights_path or cached_weights(entry))
            self.add("tokenizer of CLIP", sentence, has_tokenizer)

    def add_backbone(self, name: str) -> None:
        """Note the weights of a network."""
        from edgecil.backbones import backbone_status

        available, about = backbone_status(name)
        self.add(f"backbone {name}", about if available else with_caches(about), available)

    @contextmanager
    def trying(self, name: str, *kinds: type[EdgecilError]) -> Iterator[None]:
        """Note an error, of these kinds if some are given, as something that is missing."""
        noted = kinds or (EdgecilError,)
        try:
            yield
        except noted as error:
            if self.is_strict:
                raise
            self.add(name, str(error), False)


def split_labels(opened: Dataset | Items) -> tuple[Ints, Ints]:
    """Return the labels of the training and of the test inputs."""
    if isinstance(opened, Dataset):
        return opened.train.labels, opened.test.labels
    return opened.labels[~opened.testing], opened.labels[opened.testing]


def describe_counts(name: str, train: int, test: int, notes: Sequence[str] = ()) -> str:
    """Return the sizes of both parts, and whether they are published ones, or notes on them."""
    counts = f"{train:,} training and {test:,} test inputs"
    if notes:
        return f"{counts}. {' '.join(notes)}"
    published = SPLITS.get(name)
    if published is None:
        return counts
    for whose, expected in published.items():
        if (train, test) == expected:
            return f"{counts}, the {whose} split"
    splits = " or ".join(f"{a:,} and {b:,} ({whose})" for whose, (a, b) in published.items())
    return f"{counts}; published: {splits}. Results are of another split"


def with_caches(sentence: str) -> str:
    """Add the weight files in the caches of CLIP and torch, which can be given by their path."""
    torch_home = Path(os.environ.get("TORCH_HOME") or user_cache() / "torch")
    folders = (user_cache() / "clip", torch_home / "hub" / "checkpoints")
    files = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    weights = [str(path) for path in files if path.suffix in _WEIGHTS]
    if not weights:
        return sentence
    return f"{sentence} Weights in caches, to be given by their path: {', '.join(weights)}."
