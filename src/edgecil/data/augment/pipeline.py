"""Augmentation of a batch, from the names of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from edgecil.data.augment import steps
from edgecil.data.augment.policy import auto_augment
from edgecil.data.augment.steps import Normalise, to_float
from edgecil.errors import UsageError, format_value, unknown_name_error

Apply = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


# Each takes images and a generator on their device.
STEPS: dict[str, Callable[..., torch.Tensor]] = {
    "crop": steps.random_crop,
    "flip": steps.horizontal_flip,
    "colour": steps.colour_jitter,
    "cutout": steps.cutout,
    "resized-crop": steps.resized_crop,
    "autoaugment": auto_augment,
}
# The option that a number behind a step's name sets, and the number's type.
_NUMBERS: dict[str, tuple[str, type[int] | type[float]]] = {
    "crop": ("padding", int),
    "colour": ("brightness", float),
    "cutout": ("size", int),
    "resized-crop": ("least", float),
}


@dataclass(frozen=True)
class Pipeline:
    """The changes to a batch of pixels before the network gets it.

    Attributes:
        steps: names of the steps in order, some with a number: `("crop:4", "flip")`. The number
            is the crop's padding, the side of the cutout, the range of brightness or the least
            area of a resized crop.
        mean: c channel means, for values in [0, 1] (:func:`channel_statistics`); empty for vectors,
            which are not changed.
        std: c standard deviations.
        size: height and width of the result; larger images are cropped at the centre, or by
            `resized-crop`. None keeps the size of the images.
    """

    steps: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    size: tuple[int, int] | None = None
    _apply: tuple[Apply, ...] = field(init=False, repr=False, compare=False)
    _normalise: Normalise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        apply = tuple(_parse_step(step, self.size) for step in self.steps)
        object.__setattr__(self, "_apply", apply)
        object.__setattr__(self, "_normalise", Normalise(self.mean, self.std))

    def __call__(self, pixels: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Return augmented and normalised floats for training, from (n, c, h, w) uint8 pixels."""
        if not self.mean:
            return pixels
        images = to_float(pixels)
        for apply in self._apply:
            images = apply(images, generator)
        return self._normalise(self._cropped(images))

    def plain(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return normalised floats for testing, from (n, c, h, w) uint8 pixels."""
        if not self.mean:
            return pixels
        return self._normalise(to_float(self._cropped(pixels)))

    def _cropped(self, images: torch.Tensor) -> torch.Tensor:
        """Return the centre of images that are larger than `size`."""
        if self.size is None or images.shape[2:] == self.size:
            return images
        height, width = images.shape[2:]
        new_height, new_width = self.size
        if height < new_height or width < new_width:
            raise UsageError(
                f"Images must have at least {new_height}×{new_width} pixels. Got {height}×{width}."
            )
        top, left = (height - new_height) // 2, (width - new_width) // 2
        return images[:, :, top : top + new_height, left : left + new_width]


def parse_steps(text: str) -> tuple[str, ...]:
    """Return the checked step names in a comma-separated text.

    >>> parse_steps("crop:4, flip")
    ('crop:4', 'flip')
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        _parse_step(name)
    return names


def _parse_step(text: str, size: tuple[int, int] | None = None) -> Apply:
    name, colon, number = text.partition(":")
    if name not in STEPS:
        raise unknown_name_error("augmentation step", name, STEPS)
    options: dict[str, Any] = {"size": size} if name == "resized-crop" else {}
    if colon:
        if name not in _NUMBERS:
            raise UsageError(
                f"Augmentation step {name!r} takes no number. Got {format_value(text)}."
            )
        option, kind = _NUMBERS[name]
        try:
            options[option] = kind(number)
        except ValueError:
            options[option] = -1
        if not 0 <= options[option] < float("inf"):
            allowed = "an integer" if kind is int else "a number"
            raise UsageError(
                f"The {option} of step {name!r} must be {allowed}, 0 or more, as in '{name}:4'. "
                f"Got {format_value(text)} instead."
            )
    return partial(STEPS[name], **options)
