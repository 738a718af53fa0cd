"""Random changes of training images, batched on the device: uint8 pixels in, normalised floats out.

Every random function takes floats (n, c, h, w) in [0, 1] and a generator on their device, and
returns the same; nothing reads the global random state.
"""

from edgecil.data.augment.pipeline import Pipeline, parse_steps
from edgecil.data.augment.steps import Normalise, channel_statistics

__all__ = ["Normalise", "Pipeline", "channel_statistics", "parse_steps"]
