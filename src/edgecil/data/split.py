"""A fixed split into training and test images, for datasets that come without one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from edgecil.io.arrays import Ints
from edgecil.io.files import read_toml

TEST_SHARE = 0.2

SPLITS = msgspec.convert(  # training and test images as published, by dataset and by author
    read_toml(Path(__file__).with_name("splits.toml")), dict[str, dict[str, tuple[int, int]]]
)


def hold_out(labels: Ints, groups: Sequence[str] | Ints | None = None) -> NDArray[np.bool_]:
    """Return which images are for testing, (n,): a fifth of each class, drawn with seed 0.

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
        drawn = np.random.default_rng(0).permutation(members)
        wanted = max(1, round(TEST_SHARE * sizes[members].sum()))
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
