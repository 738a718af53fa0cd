"""Several similarities of one dataset's classes, as a TOML file or a recipe describes them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edgecil.classes import select_classes
from edgecil.errors import UsageError, unknown_name_error
from edgecil.recipes import COMPARE_SIMILARITIES, read_experiment_file, require_verb
from edgecil.similarity.build import build_similarity, find_classes
from edgecil.similarity.matrix import SimilarityMatrix

_TASK_SIZES = ("tasks", "base", "increment", "sizes")


@dataclass(frozen=True)
class DescribedSimilarities:
    """Similarities to compare, each described by options of :func:`build_similarity`.

    Attributes:
        dataset: whose classes they cover.
        options: the options of each similarity, by its name.
        tasks: task sizes of the sequences that they lead to, for :meth:`SequenceSpace.choose`.
    """

    dataset: str
    options: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[str, Any]

    def build(self, root: str | Path | None = None) -> dict[str, SimilarityMatrix]:
        """Return the similarities by name; `root` is the directory of the dataset's images."""
        return {name: self._build(options, root) for name, options in self.options.items()}

    def _build(self, options: Mapping[str, Any], root: str | Path | None) -> SimilarityMatrix:
        keywords = dict(options)
        if root is not None and "images" in options:
            keywords["root"] = root
        matrix = build_similarity(dataset=self.dataset, **keywords)
        if "names" not in options:
            return matrix
        # The options have other words for the classes: give them the names of the dataset.
        labels = find_classes(self.dataset).labels
        ids = select_classes(
            len(labels), count=options.get("classes"), seed=options.get("classes_seed")
        )
        return replace(matrix, names=tuple(labels[id_] for id_ in ids))


def read_described(source: str | Path) -> DescribedSimilarities:
    """Return the similarities that a TOML file or a recipe describes."""
    facts, settings = read_experiment_file(source)
    require_verb(source, facts, COMPARE_SIMILARITIES)
    dataset = settings.pop("dataset", None)
    options = settings.pop("similarities", None)
    if not isinstance(dataset, str) or not isinstance(options, dict):
        raise UsageError(f"{source} must have a 'dataset' and a table 'similarities'.")
    allowed = inspect.signature(build_similarity).parameters.keys() - {"dataset", "out"}
    for options_of_similarity in options.values():
        is_table = isinstance(options_of_similarity, dict)
        for option in options_of_similarity if is_table else [options_of_similarity]:
            if option not in allowed:
                raise unknown_name_error(
                    f"option of a similarity in {source}", str(option), allowed
                )
    for name in settings:
        if name not in _TASK_SIZES:
            allowed_settings = ("dataset", "similarities", *_TASK_SIZES)
            raise unknown_name_error(f"setting in {source}", name, allowed_settings)
    return DescribedSimilarities(dataset, options, settings)
