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
from edgecil.io.files import user_cache

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
    """The requirements that were looked for, found or missing."""

    def add(self, name: str, about: str, available: bool = True) -> None:
        """Note a requirement."""
        self.append(Requirement(name, available, about))

    def add_dataset(self, name: str, root: str | Path | None = None) -> Dataset | Items | None:
        """Note the inputs of a dataset, and return it; None if they are missing."""
        try:
            opened = open_dataset(name, root=root)
            train, test = map(len, split_labels(opened))
        except (PrerequisiteError, DataError) as error:
            self.add(f"dataset {name}", str(error), False)
            return None
        self.add(f"dataset {name}", describe_counts(opened.name, train, test, opened.notes))
        return opened

    def add_encoder(self, name: str, weights: str | Path | None = None) -> None:
        """Note a text encoder, and the tokenizer that CLIP's need."""
        from edgecil.similarity.clip import tokenizer_status
        from edgecil.similarity.text import ENCODERS, cached_weights, encoder_status

        available, sentence = encoder_status(name)
        given = weights is not None and Path(weights).expanduser().exists()
        about = sentence if available or given else with_caches(sentence)
        self.add(f"encoder {name}", about, available or given)
        entry = ENCODERS[ENCODERS.resolve(name)]
        if entry.kind == "clip":
            place = Path(str(weights)).expanduser() if given else cached_weights(entry)
            there, about = tokenizer_status(place)
            self.add("tokenizer of CLIP", about, there)

    def add_backbone(self, name: str) -> None:
        """Note the weights of a network."""
        from edgecil.backbones import backbone_status

        available, about = backbone_status(name)
        self.add(f"backbone {name}", about if available else with_caches(about), available)

    @contextmanager
    def trying(self, name: str) -> Iterator[None]:
        """Note an error as something that is missing."""
        try:
            yield
        except EdgecilError as error:
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
    listed = " or ".join(f"{a:,} and {b:,} ({whose})" for whose, (a, b) in published.items())
    return f"{counts}; published: {listed}. Results are of another split"


def with_caches(sentence: str) -> str:
    """Add the weight files in the caches of CLIP and torch, which can be given by their path."""
    torch_home = Path(os.environ.get("TORCH_HOME") or user_cache() / "torch")
    folders = (user_cache() / "clip", torch_home / "hub" / "checkpoints")
    files = [path for it in folders if it.is_dir() for path in sorted(it.iterdir())]
    listed = [str(path) for path in files if path.suffix in _WEIGHTS]
    if not listed:
        return sentence
    return f"{sentence} Weights in caches, to be given by their path: {', '.join(listed)}."
