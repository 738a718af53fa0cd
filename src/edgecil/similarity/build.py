"""The similarity of a dataset's classes, from whichever source the arguments name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgecil.classes import ClassList, get_classes, read_classes, select_classes, words_of
from edgecil.classes.lists import CLASS_LISTS
from edgecil.errors import UsageError
from edgecil.io.files import check_new
from edgecil.io.progress_bar import Progress
from edgecil.options import Options, checked, option
from edgecil.similarity import similarity_files as files
from edgecil.similarity.captions import bundled_captions, read_captions
from edgecil.similarity.images import image_similarity
from edgecil.similarity.matrix import Similarity, SimilarityMatrix, align, numbered_names
from edgecil.similarity.text import DEFAULT_ENCODER, TEMPLATE, Encoder, text_similarity

Names = str | Path | Sequence[str] | ClassList
Captions = str | Path | Mapping[str, str] | Sequence[str]

_NAME_FILES = (".txt", ".csv", ".json")
BUNDLED_CAPTIONS = "bundled"
FILE_OPTIONS = ("file", "embeddings")
TEXT_OPTIONS = ("names", "encoder", "template", "captions", "weights", "encoder_half")


def _is_names(value: Any) -> bool:
    """Whether a value is a list of names of classes."""
    is_list = isinstance(value, (list, tuple)) and len(value) > 0
    return is_list and all(isinstance(name, str) for name in value)


@dataclass(frozen=True)
class SimilaritySource(Options):
    """Where the similarity of the classes comes from: a file, or texts and an encoder."""

    file: str | None = option(
        "file with a similarity matrix, in place of an encoder (.npz, .npy or .csv)",
        metavar="FILE",
        flag="similarity",
    )
    embeddings: str | None = option(
        "file with class vectors, in place of an encoder (.npy or .npz)", metavar="FILE"
    )
    names: str | tuple[str, ...] | None = option(
        "file with class names for the similarity (.txt, .csv or .json); in Python also a list",
        metavar="FILE",
    )
    encoder: str = option("text encoder of the class similarity", DEFAULT_ENCODER)
    template: str = option(
        "text around class names (`{name}`) or around the labels of the dataset (`{label}`)",
        TEMPLATE,
        metavar="TEXT",
    )
    captions: str | None = option(
        "file with captions to encode in place of names (.json, .csv or .txt), or `bundled`",
        metavar="FILE",
    )
    weights: str | None = option(
        "weights of the encoder: a folder, a file or a hub id", metavar="PATH"
    )
    encoder_half: bool = option(
        "let CLIP use half precision on a GPU, as OpenAI's package does", False
    )

    @classmethod
    def options_in(cls, value: Any) -> dict[str, Any]:
        """Return the options in a value; a path alone is `file`, a list of texts is `names`."""
        if _is_names(value):
            return super().options_in({"names": tuple(value)})
        is_path = isinstance(value, (str, os.PathLike))
        return super().options_in({"file": value} if is_path else value)

    def read(self) -> SimilarityMatrix | None:
        """Return the similarity in the file, or of its class vectors; None if there is no file."""
        if self.file is not None:
            return files.read_similarity(self.file)
        return None if self.embeddings is None else files.read_embeddings(self.embeddings)

    def __post_init__(self) -> None:
        super().__post_init__()
        changed = self.changed()
        sources = [name for name in FILE_OPTIONS if name in changed]
        if len(sources) > 1:
            raise UsageError("Give either a similarity `file` or `embeddings`, not both.")
        for name in TEXT_OPTIONS:
            if sources and name in changed:
                raise UsageError(
                    f"`{name}` cannot be combined with a similarity from a file (`{sources[0]}`); "
                    "leave one of them out."
                )


@checked
def build_similarity(
    *,
    dataset: str | None = None,
    names: Names | None = None,
    encoder: str | Encoder | None = None,
    template: str | None = None,
    captions: Captions | None = None,
    weights: str | Path | None = None,
    encoder_half: bool = False,
    images: str | None = None,
    root: str | Path | None = None,
    image_size: int | None = None,
    threads: int | None = None,
    classes: int | None = None,
    classes_seed: int | None = None,
    class_ids: Sequence[int] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> SimilarityMatrix:
    """Compute the cosine similarity of classes from names, captions or inputs.

    Args:
        dataset: a dataset's name, a folder of images or an .npz file.
        names: class names, in place of the dataset's: a .txt, .csv or .json file, or the name of a
            class list (`ham10000-paper` and `eyepacs-paper` are the paper's). In Python also a
            list.
        encoder: name of a text encoder, `minilm-bundled` by default. In Python also an encoder.
        template: the text around a name; "a photo of a {name}." by default. `{label}` stands for
            the raw label, as the paper's authors encode it.
        captions: file with a text for each class in place of its name, or `bundled` for the
            captions that come with edgecil. In Python also a mapping or a list.
        weights: weights of the encoder: a folder, a file or a hub id.
        encoder_half: let CLIP use half precision on a GPU, as OpenAI's package does.
        images: use the dataset's training inputs in place of text: `pixels` (or vectors, if it has
            these), or the name of a pre-trained network whose features are averaged per class.
        root: directory of the dataset's images.
        image_size: width and height in pixels to which image files are scaled.
        threads: number of threads of the network; 1 by default.
        classes: see :class:`edgecil.classes.ClassChoice`.
        classes_seed: see :class:`edgecil.classes.ClassChoice`.
        class_ids: see :class:`edgecil.classes.ClassChoice`.
        out: .npz file to save the matrix to.
        overwrite: replace the file if it exists.
        progress: whether to show the progress of images on stderr, as :func:`edgecil.run` does.

    >>> matrix = build_similarity(dataset="cifar100", classes=6)
    >>> matrix.names[:3], matrix.values.shape
    (('apple', 'aquarium_fish', 'baby'), (6, 6))
    """
    if out is not None:
        check_new(files.check_similarity_path(out), overwrite=overwrite)
    choice: dict[str, Any] = {"count": classes, "seed": classes_seed, "ids": class_ids}
    text_options = {
        "encoder": encoder,
        "template": template,
        "captions": captions,
        "weights": weights,
        "names": names,
    }
    image_options = {"root": root, "image_size": image_size, "threads": threads}
    if images is not None:
        _refuse_options(text_options, "cannot be combined with `images`; leave one out")
        if dataset is None:
            raise UsageError("`images` requires a `dataset`.")
        if threads is not None and threads < 1:
            raise UsageError(f"`threads` must be at least 1. Got {threads} instead.")
        from edgecil.data import load_dataset

        loaded = load_dataset(dataset, root=root, size=image_size, **choice)
        with Progress("classes", shown=progress) as bar:
            matrix = image_similarity(loaded, images, threads=threads or 1, on_progress=bar.update)
    else:
        _refuse_options(image_options, "is used with images only; give `images` as well")
        class_list = find_classes(dataset, names)
        if len(class_list) < 2:
            raise UsageError(
                f"A similarity requires at least 2 classes. {class_list.name!r} has 1."
            )
        matrix = text_similarity(
            class_list,
            encoder=DEFAULT_ENCODER if encoder is None else encoder,
            template=TEMPLATE if template is None else template,
            captions=None if captions is None else find_captions(class_list, captions),
            weights=weights,
            half=encoder_half,
        )
        if any(value is not None for value in choice.values()):
            matrix = matrix.take(select_classes(len(matrix), **choice))
    if out is not None:
        files.save_similarity(matrix, out)
    return matrix


def _refuse_options(options: Mapping[str, Any], reason: str) -> None:
    """Raise an error about the first of these options that the user set."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"`{name}` {reason}.")


def choose_similarity(
    similarity: SimilaritySource
    | Similarity
    | Mapping[str, Any]
    | Sequence[str]
    | str
    | Path
    | None = None,
    *,
    dataset: str | None = None,
    classes: int | None = None,
    classes_seed: int | None = None,
) -> Similarity:
    """Return the similarity that a user chose: an object, a file, or names and an encoder.

    Args:
        similarity: a similarity, a file, or options of :class:`SimilaritySource`.
        dataset: name of the dataset whose classes are compared. Classes of a similarity or a file
            are matched to them by name, or by position where they have no names.
        classes: see :class:`edgecil.classes.ClassChoice`.
        classes_seed: see :class:`edgecil.classes.ClassChoice`.
    """
    name_in_errors = "The similarity"
    if isinstance(similarity, SimilarityMatrix):
        matrix = similarity
    else:
        source = SimilaritySource.from_value(similarity)
        matrix_of_file = source.read()
        if matrix_of_file is None:
            text_options = {name: getattr(source, name) for name in TEXT_OPTIONS}
            return build_similarity(
                dataset=dataset, classes=classes, classes_seed=classes_seed, **text_options
            )
        matrix = matrix_of_file
        name_in_errors = source.file or source.embeddings or name_in_errors
    choice: dict[str, Any] = {"count": classes, "seed": classes_seed}
    if dataset is not None:
        return _match_to_dataset(matrix, dataset, name_in_errors, **choice)
    if classes is None and classes_seed is None:
        return matrix
    return matrix.take(select_classes(len(matrix), **choice))


def _match_to_dataset(
    similarity: Similarity, dataset: str, name_in_errors: str, **choice: Any
) -> Similarity:
    """Return the similarity of the chosen classes of a dataset, in label order."""
    labels = find_classes(dataset).labels
    ids = select_classes(len(labels), **choice)
    has_names = similarity.names != numbered_names(len(similarity))
    if not has_names and len(similarity) == len(labels):
        return align(similarity, labels, name_in_errors).take(ids)
    return align(similarity, [labels[id_] for id_ in ids], name_in_errors)


def find_classes(dataset: str | None = None, names: Names | None = None) -> ClassList:
    """Return the class list of a dataset, or other names for its classes.

    Args:
        dataset: a dataset's name, a folder of images or an .npz file.
        names: a file, a list, or the name of a class list; with a dataset as many as it has.
    """
    from edgecil.data import dataset_classes

    if names is None:
        if dataset is None:
            raise UsageError("The classes are not specified; give `dataset` or `names`.")
        if Path(dataset).suffix in _NAME_FILES and Path(dataset).is_file():
            raise UsageError(
                "`dataset` must be the name of a dataset, a folder of images or an .npz file. Got "
                f"{dataset} instead; a file with the names of the classes is `names`."
            )
        return dataset_classes(dataset)
    if isinstance(names, ClassList):
        class_list = names
    elif isinstance(names, str) and names in CLASS_LISTS and not Path(names).exists():
        class_list = get_classes(names)
    elif isinstance(names, (str, Path)):
        class_list = read_classes(names)
    else:
        class_list = ClassList("names", names)  # type: ignore[arg-type]
    if dataset is not None:
        expected = dataset_classes(dataset)
        check_same_order(class_list.labels, expected.labels, str(names))
        if len(class_list) != len(expected):
            raise UsageError(
                f"Class list {class_list.name!r} has {len(class_list)} names but {len(expected)} "
                "classes were expected."
            )
    return class_list


def check_same_order(names: Sequence[str], labels: Sequence[str], what: str) -> None:
    """Refuse other names of classes that are the same names in another order."""
    words = list(map(words_of, names))
    expected_words = list(map(words_of, labels))
    if words != expected_words and sorted(words) == sorted(expected_words):
        places = range(len(expected_words))
        place = next(index for index in places if words[index] != expected_words[index])
        raise UsageError(
            f"{what} has the names of the classes in another order: {names[place]!r} at place "
            f"{place}, which is {labels[place]!r} in the dataset; write them in label order."
        )


def find_captions(classes: ClassList, captions: Captions) -> Mapping[str, str] | Sequence[str]:
    """Return the captions of classes that are bundled, in a file, or in an object of Python."""
    if captions == BUNDLED_CAPTIONS:
        return bundled_captions(classes.name)
    if isinstance(captions, (str, Path)):
        return read_captions(captions, classes)
    return captions
