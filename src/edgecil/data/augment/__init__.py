"""Random changes of training images, batched on the device: uint8 pixels in, normalised floats out.

Every random function takes floats (n, c, h, w) in [0, 1] and a generator on their device, and
returns the same; nothing reads the global random state.
"""

from edgecil.data.augment.pipeline import Pipeline, parse_steps, step_names
from edgecil.data.augment.policy import auto_augment
from edgecil.data.augment.steps import (
    Normalise,
    channel_statistics,
    colour_jitter,
    cutout,
    horizontal_flip,
    random_affine,
    random_crop,
    resized_crop,
    to_float,
)

__all__ = [
    "Normalise",
    "Pipeline",
    "auto_augment",
    "channel_statistics",
    "colour_jitter",
    "cutout",
    "horizontal_flip",
    "parse_steps",
    "random_affine",
    "random_crop",
    "resized_crop",
    "step_names",
    "to_float",
]
