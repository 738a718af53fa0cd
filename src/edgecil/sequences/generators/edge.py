"""EDGE: the paper's hard and easy sequences, by every reading of its Algorithms 1 and 2.

The paper clusters the classes at many granularities, makes balanced tasks of the clusters, orders
the tasks greedily, and keeps the candidate with the most extreme S. Pseudo-code, text and released
code differ in how they do it. Each reading is a :class:`Variant` that can be called by itself; all
of them give candidates at all granularities, and S chooses, which is the paper's own last step.
No candidate is improved afterwards: `optimal` searches for the argmin and argmax of S.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from edgecil.io.arrays import Floats, Ints
from edgecil.registry import Registry
from edgecil.sequences import edge_kernels as kernels
from edgecil.sequences.canonical import canonical_order
from edgecil.sequences.generators.registry import MOST_CLASSES, register
from edgecil.sequences.inner_loops import fast
from edgecil.sequences.objective import adjacent
from edgecil.sequences.sampling import score_orders
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

_EVERY_GRANULARITY_UP_TO = 256
_EVERY_BLOCK_COUNT_UP_TO = 128
_GRID = 64

Goal = Literal["hard", "easy"]
Similar = Literal["similar", "dissimilar"]
Fill = Literal["printed", "coherent", "dealt"]
Order = tuple[str, str, str]


@dataclass(frozen=True)
class Variant:
    """One way to read the paper's algorithms.

    Attributes:
        name: its name in :data:`VARIANTS`.
        goal: `hard` minimises S over the granularities, `easy` maximises it.
        summary: where it comes from, in one line.
        cluster: whether a cluster holds similar classes (complete linkage on 1 - D) or dissimilar
            ones (on D).
        fill: how clusters become tasks. `printed`: whole clusters, or pieces as large as a task, to
            the smallest task, then what is too much moves on. `coherent`: always the largest
            cluster to the roomiest task, and what fits least is cut off. `dealt`: one class after
            another to all tasks in turn, so that a cluster is spread over the tasks.
        blocks: whether g clusters become g blocks, which are ordered and then cut into K tasks, as
            in the released code, in place of K tasks at once.
        by_fit: whether the classes of a cluster are sorted by how well they fit in before it is
            divided; else they stay in the order of the matrix.
        start: whether the first task is the one `least` or `most` similar to all others.
        follow: whether the next task is the `least` or `most` similar one …
        to: … to `all` chosen tasks (the pseudo-code) or to the `last` one (the text).
    """

    name: str
    goal: Goal
    summary: str
    cluster: Similar
    fill: Fill
    blocks: bool
    by_fit: bool
    start: Literal["least", "most"]
    follow: Literal["least", "most"]
    to: Literal["all", "last"]

    def __call__(self, similarity: Similarity, space: SequenceSpace) -> ClassSequence:
        """Return the variant's sequence; how the classes are numbered has no influence on it."""
        space.require_similarity(similarity)
        ids = canonical_order(similarity)
        return _to_sequence(ids[self.build(similarity.take(ids), space)], space)

    def build(self, similarity: Similarity, space: SequenceSpace) -> Ints:
        """Return the variant's order, shape (N,); the numbers of the classes break ties."""
        values = similarity.submatrix(np.arange(space.classes))
        return _search(values, space, [self])[0]


def _algorithm(name: str, goal: Goal, summary: str, **options: str) -> Variant:
    """Return a variant that makes K tasks of the clusters, as the paper does."""
    choices = {
        "cluster": "similar",
        "fill": "printed",
        "start": "least" if goal == "hard" else "most",
        "follow": "least" if goal == "hard" else "most",
        "to": "all",
    } | options
    return Variant(name, goal, summary, blocks=False, by_fit=True, **choices)  # type: ignore[arg-type]


def _released(name: str, goal: Goal, summary: str, start: str, to: str) -> Variant:
    """Return a variant that orders blocks, as the constructors of the released code do."""
    hard = goal == "hard"
    return Variant(
        name,
        goal,
        summary,
        cluster="similar" if hard else "dissimilar",
        fill="printed",
        blocks=True,
        by_fit=False,
        start=start,  # type: ignore[arg-type]
        follow="least" if hard else "most",
        to=to,  # type: ignore[arg-type]
    )


_TEXT_ORDER = "with the next task by its similarity to the last one, as in the text"
VARIANTS: Registry[Variant] = Registry("variant of EDGE")
"""Every variant of the paper's algorithms by name."""

for _variant in (
    _algorithm("algorithm-1", "hard", "Algorithm 1 as printed"),
    _algorithm("algorithm-1-text-order", "hard", f"Algorithm 1 {_TEXT_ORDER}", to="last"),
    _algorithm(
        "text-hard", "hard", "the text: large clusters stay whole", fill="coherent", to="last"
    ),
    _algorithm(
        "text-hard-printed-order", "hard", "the text with the printed order", fill="coherent"
    ),
    _released(
        "released-hard",
        "hard",
        "the released construct_max with the right N, argmin, and every granularity",
        "most",
        "all",
    ),
    _released(
        "released-hard-least-first", "hard", "the same from the least similar block", "least", "all"
    ),
    _released("released-hard-text-order", "hard", f"the same {_TEXT_ORDER}", "least", "last"),
    _algorithm(
        "algorithm-2",
        "easy",
        "Algorithm 2 as printed: dissimilar classes share a task, dissimilar tasks follow",
        cluster="dissimilar",
        start="least",
        follow="least",
    ),
    _algorithm(
        "algorithm-2-similar-order",
        "easy",
        "Algorithm 2 with the most similar task next",
        cluster="dissimilar",
    ),
    _algorithm(
        "algorithm-2-text-order",
        "easy",
        f"Algorithm 2 {_TEXT_ORDER}",
        cluster="dissimilar",
        to="last",
    ),
    _algorithm(
        "text-easy", "easy", "the text: similar classes in different tasks", fill="dealt", to="last"
    ),
    _algorithm("text-easy-printed-order", "easy", "the text with the printed order", fill="dealt"),
    _released(
        "released-easy",
        "easy",
        "the released construct_min with the right N, argmax, and every granularity",
        "most",
        "all",
    ),
    _released(
        "released-easy-least-first", "easy", "the same from the least similar block", "least", "all"
    ),
    _released("released-easy-text-order", "easy", f"the same {_TEXT_ORDER}", "most", "last"),
):
    VARIANTS.add(_variant.name, _variant)


@register(
    "edge",
    "hard",
    "the least S among all readings of the paper's Algorithm 1",
    most_classes=MOST_CLASSES,
)
def edge_hard(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return the paper's hard sequence: low similarity between neighbouring tasks."""
    return _extreme(similarity, space, "hard")


@register(
    "edge",
    "easy",
    "the greatest S among all readings of the paper's Algorithm 2",
    most_classes=MOST_CLASSES,
)
def edge_easy(
    similarity: Similarity, space: SequenceSpace, rng: np.random.Generator
) -> ClassSequence:
    """Return the paper's easy sequence: high similarity between neighbouring tasks."""
    return _extreme(similarity, space, "easy")


def granularities(classes: int, tasks: int) -> list[int]:
    """Return the numbers of clusters to try: all if that is fast, or else a grid with K."""
    if classes <= _EVERY_GRANULARITY_UP_TO:
        return list(range(2, classes + 1))
    return sorted({*_grid(classes), tasks} - {1})


def block_counts(classes: int) -> list[int]:
    """Return the numbers of blocks to try: all if that is fast, or else a grid and divisors."""
    if classes <= _EVERY_BLOCK_COUNT_UP_TO:
        return list(range(2, classes + 1))
    divisors = [count for count in range(2, classes + 1) if classes % count == 0]
    return sorted({*_grid(classes), *divisors})


def _grid(classes: int) -> list[int]:
    grid: list[int] = np.geomspace(2, classes, _GRID).round().astype(int).tolist()
    return grid


def _extreme(similarity: Similarity, space: SequenceSpace, goal: Goal) -> ClassSequence:
    values = similarity.submatrix(np.arange(space.classes))
    variants = [variant for variant in VARIANTS.values() if variant.goal == goal]
    candidates = np.array(_search(values, space, variants))
    if space.tasks == 1:
        return _to_sequence(candidates[0], space)
    scores = score_orders(similarity, space, candidates, adjacent(space))
    chosen = np.argmin(scores) if goal == "hard" else np.argmax(scores)
    return _to_sequence(candidates[int(chosen)], space)


def _search(values: Floats, space: SequenceSpace, variants: Iterable[Variant]) -> list[Ints]:
    """Return the best order of each group of variants that share their clusters and tasks."""
    fills = {
        "printed": kernels.FILL_PRINTED,
        "coherent": kernels.FILL_COHERENT,
        "dealt": kernels.FILL_DEALT,
    }
    trees: dict[str, Ints] = {}
    orders = []
    for (goal, cluster, fill, blocks, by_fit), group in _grouped(variants):
        if cluster not in trees:
            trees[cluster] = cluster_tree(values, cluster)
        wanted = np.zeros(space.classes + 1, dtype=np.bool_)
        wanted[
            block_counts(space.classes) if blocks else granularities(space.classes, space.tasks)
        ] = True
        fit = (1.0 if cluster == "similar" else -1.0) if by_fit else 0.0
        ways = [
            (_sign(variant.start), _sign(variant.follow), float(variant.to == "all"))
            for variant in group
        ]
        search = fast(kernels.search_granularities, float(wanted.sum()) * values.size)
        order, _ = search(
            values,
            trees[cluster],
            wanted,
            np.array(space.sizes),
            blocks,
            fills[fill],
            fit,
            np.array(ways),
            1.0 if goal == "hard" else -1.0,
        )
        orders.append(order)
    return orders


def _grouped(
    variants: Iterable[Variant],
) -> Iterator[tuple[tuple[Goal, Similar, Fill, bool, bool], list[Variant]]]:
    def key(variant: Variant) -> tuple[Goal, Similar, Fill, bool, bool]:
        return variant.goal, variant.cluster, variant.fill, variant.blocks, variant.by_fit

    for shared, group in groupby(sorted(variants, key=key), key=key):
        yield shared, list(group)


def _sign(word: str) -> float:
    return 1.0 if word == "least" else -1.0


def cluster_tree(values: Floats, cluster: str) -> Ints:
    """Merge similar or dissimilar classes by complete linkage; shape (N - 1, 2)."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    # Any constant added to all distances gives the same tree; this one keeps them non-negative.
    distances = values.max() - values if cluster == "similar" else values - values.min()
    np.fill_diagonal(distances, 0.0)
    merges: Ints = linkage(squareform(distances, checks=False), method="complete")[:, :2].astype(
        np.int64
    )
    return merges


def _to_sequence(order: Ints, space: SequenceSpace) -> ClassSequence:
    return ClassSequence.from_order(order.tolist(), space.sizes)
