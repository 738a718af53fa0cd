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

SPLITS = msgspec.convert(  # numbers of training and test images as published, by author
    read_toml(Path(__file__).with_name("splits.toml")), dict[str, dict[str, tuple[int, int]]]
)


def hold_out(labels: Ints, groups: Sequence[str] | Ints | None = None) -> NDArray[np.bool_]:
    """Return which images are for testing, (n,): a fifth of each class, drawn with seed 0.

    The draw in a class depends on the class's own images alone, so that other classes have no
    influence. At least one image or group is held out and never all of them: a class with a single
    one has nothing to test with.

    Args:
        labels: (n,) class of each image, in a fixed order.
        groups: (n,) of images that belong together, such as photographs of one lesion or the two
            eyes of a patient; a whole group falls on one side. A group with several classes is
            counted with the rarest of them.
    """
    keys = np.arange(len(labels)) if groups is None else np.asarray(groups)
    group = np.unique(keys, return_inverse=True)[1]
    sizes = np.bincount(group)
    is_held_out = np.zeros(len(sizes), dtype=np.bool_)  # by group
    is_free = np.ones(len(sizes), dtype=np.bool_)
    frequency = np.bincount(labels)
    rarest_first = np.argsort(frequency, kind="stable")
    for label in rarest_first[frequency[rarest_first] > 0]:  # one label may be a million
        groups_of_class = group[labels == label]
        _, first_places = np.unique(groups_of_class, return_index=True)
        members = groups_of_class[np.sort(first_places)]
        members = members[is_free[members]]
        is_free[members] = False
        drawn = np.random.default_rng(0).permutation(members)
        wanted_images = max(1, round(TEST_SHARE * sizes[members].sum()))
        images_before = np.cumsum(sizes[drawn]) - sizes[drawn]
        count = np.count_nonzero(images_before < wanted_images)
        is_held_out[drawn[: min(count, len(drawn) - 1)]] = True
    return is_held_out[group]


def held_out_note(reason: str, testing: NDArray[np.bool_], what: str) -> str:
    """Return a sentence about the split of :func:`hold_out`, and its reason."""
    return (
        f"{reason}: {testing.sum()} of its {len(testing)} {what}, {TEST_SHARE:.0%} of each class, "
        "are held out for testing (always the same ones)."
    )
