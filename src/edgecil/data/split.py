"""A fixed split into training and test images, for datasets that come without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgecil.io.arrays import Ints

TEST_SHARE = 0.2
SEED = 0

# Training and test images as published: by the dataset's authors, and as PILOT distributes them.
# PILOT links to the files of RevisitingCIL (github.com/zhoudw-zdw/RevisitingCIL). The final
# accuracies in that repository's logs are fractions of 2,358, 6,000 and 1,519 test images and, of
# all counts within 3 % of a fifth, of no other but 6,071 for ImageNet-R. The other images of each
# dataset, which has 11,788, 30,000 and 7,500, are for training. Official CUB-200: Wah et al. 2011.
SPLITS: dict[str, dict[str, tuple[int, int]]] = {
    "cifar10": {"official": (50_000, 10_000)},
    "cifar100": {"official": (50_000, 10_000)},
    "cub200": {"official": (5_994, 5_794), "PILOT's": (9_430, 2_358)},
    "imagenet-r": {"PILOT's": (24_000, 6_000)},
    "imagenet-a": {"PILOT's": (5_981, 1_519)},
    "tiny-imagenet": {"official": (100_000, 10_000)},
    "food101": {"official": (75_750, 25_250)},
}


def hold_out(
    labels: Ints,
    groups: Sequence[str] | Ints | None = None,
    *,
    share: float = TEST_SHARE,
    seed: int = SEED,
) -> NDArray[np.bool_]:
    """Return which images are for testing, (n,): `share` of each class, drawn with `seed`.

    `labels` (n,) are the class of each image, in a fixed order. The draw in a class depends on
    nothing but the class's own images, so adding or leaving out another class changes nothing.
    Where images belong together (`groups` (n,): photographs of one lesion, the two eyes of a
    patient), a whole group falls on one side; a group that holds several classes is counted with
    the rarest of them. At least one image or group is held out and never all of them: a class of a
    single one has nothing to test with.
    """
    keys = np.arange(len(labels)) if groups is None else np.asarray(groups)
    group = np.unique(keys, return_inverse=True)[1]
    sizes = np.bincount(group)
    held = np.zeros(len(sizes), dtype=np.bool_)
    frequency = np.bincount(labels)
    free = np.ones(len(sizes), dtype=np.bool_)
    order = np.argsort(frequency, kind="stable")
    for label in order[frequency[order] > 0]:  # one label may be a million
        _, first = np.unique(group[labels == label], return_index=True)
        members = group[labels == label][np.sort(first)]
        members = members[free[members]]
        free[members] = False
        drawn = np.random.default_rng(seed).permutation(members)
        wanted = max(1, round(share * sizes[members].sum()))
        before = np.cumsum(sizes[drawn]) - sizes[drawn]
        taken = np.count_nonzero(before < wanted)
        held[drawn[: min(taken, len(drawn) - 1)]] = True
    return held[group]


def held_out_note(reason: str, testing: NDArray[np.bool_], what: str) -> str:
    """Return the sentence that says what :func:`hold_out` did, and why."""
    return (
        f"{reason}: {testing.sum()} of its {len(testing)} {what}, {TEST_SHARE:.0%} of each class, "
        "are held out for testing (always the same ones)."
    )
