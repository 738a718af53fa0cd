"""How much each variant of EDGE depends on the numbers of the classes, which break its ties.

    python benchmarks/numberings.py [--permutations 20]

z of S on bare class names in ten tasks: with the canonical numbering, which `edge` and a variant
called by itself use; with the dataset's own, which the transcription of the paper's algorithms
uses; and the range over that one and random ones. Then in how many cases another numbering makes
a variant more extreme than `edge`. About 20 seconds.
"""

from __future__ import annotations

import argparse

import numpy as np

from edgecil import ClassSequence, SequenceSpace, SimilarityMatrix
from edgecil.classes import get_classes
from edgecil.sequences import profile
from edgecil.sequences.edge import VARIANTS, Variant
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.similarity import text_similarity

DATASETS = ("cifar100", "cub200", "imagenet-r", "imagenet-a")
SIGNS = {"hard": 1.0, "easy": -1.0}


def renumbered(
    variant: Variant, similarity: SimilarityMatrix, space: SequenceSpace, numbers: np.ndarray
) -> ClassSequence:
    """The variant's sequence if class `numbers[i]` had the number i, in the dataset's numbers."""
    order = numbers[variant.build(similarity.take(numbers), space)]
    return ClassSequence.from_order(order.tolist(), space.sizes)


def main() -> None:
    """Print a table for each end, and how often `edge` is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--permutations", type=int, default=20)
    permutations = parser.parse_args().permutations
    print(f"Canonical / own (range over own and {permutations} random numberings).\n")
    compared = passed = 0
    cells: dict[str, list[str]] = {}
    for dataset in DATASETS:
        similarity = text_similarity(get_classes(dataset), template="{name}")
        space = SequenceSpace.equal(len(similarity), 10)
        draws = (np.random.default_rng(seed) for seed in range(permutations))
        numberings = [np.arange(space.classes), *(rng.permutation(space.classes) for rng in draws)]
        reached = {}
        for goal in SIGNS:
            sequence = EDGE.construct(similarity, space, goal, np.random.default_rng(0))
            reached[goal] = profile(similarity, sequence).z
            cells.setdefault(f"{goal} edge", []).append(f"{reached[goal]:+.1f}")
        for name, variant in VARIANTS.items():
            canonical = profile(similarity, variant(similarity, space)).z
            z = [
                profile(similarity, renumbered(variant, similarity, space, numbers)).z
                for numbers in numberings
            ]
            sign = SIGNS[variant.goal]
            compared += len(z)
            passed += sum(sign * value < sign * reached[variant.goal] - 1e-9 for value in z)
            cells.setdefault(f"{variant.goal} {name}", []).append(
                f"{canonical:+.1f} / {z[0]:+.1f} ({min(z):+.1f} to {max(z):+.1f})"
            )
    print(f"| variant | {' | '.join(DATASETS)} |\n|---|{'---|' * len(DATASETS)}")
    for label, row in sorted(cells.items(), reverse=True):
        print(f"| {label} | {' | '.join(row)} |")
    print(f"\nMore extreme than `edge`: {passed} of {compared}.")


if __name__ == "__main__":
    main()
