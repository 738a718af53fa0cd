"""Names of images by their content, computed once per set of images.

Hashing all images of CIFAR-100 at 224 pixels takes many seconds, and every task selects some of
them. Names computed for a whole split are passed on to its selections.
"""

from __future__ import annotations

import hashlib

import torch
from torch.utils.weak import WeakIdKeyDictionary

_names: WeakIdKeyDictionary = WeakIdKeyDictionary()


def names_of(inputs: torch.Tensor) -> list[bytes]:
    """16 bytes per image of uint8 images (n, c, h, w), equal for equal content.

    Names are kept as long as the tensor exists. Tensors of images must not be modified in place.
    """
    return _of(inputs).read(inputs)


def take_named(inputs: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Selected images `inputs[chosen]`; names computed for either are known for both."""
    source, places = _of(inputs), chosen.tolist()
    selected = inputs[chosen]
    if isinstance(source, _Part):
        places = [source.chosen[place] for place in places]
    _names[selected] = _Part(source.whole, places)
    return selected


def _of(inputs: torch.Tensor) -> _Names | _Part:
    if inputs not in _names:
        _names[inputs] = _Names(len(inputs))
    names: _Names | _Part = _names[inputs]
    return names


class _Names:
    """The names of a tensor's images, None where they are not computed yet."""

    def __init__(self, count: int) -> None:
        self.names: list[bytes | None] = [None] * count

    @property
    def whole(self) -> _Names:
        """This object."""
        return self

    def read(self, inputs: torch.Tensor) -> list[bytes]:
        """Return all names."""
        return [self.name(place, inputs, place) for place in range(len(self.names))]

    def name(self, place: int, inputs: torch.Tensor, source: int) -> bytes:
        """Return the name at a place, computed from `inputs[source]` if necessary."""
        name = self.names[place]
        if name is None:
            content = inputs[source].cpu().contiguous().numpy().tobytes()
            name = hashlib.blake2b(content, digest_size=16).digest()
            self.names[place] = name
        return name


class _Part:
    """Names of selected images, which are those of the whole."""

    def __init__(self, whole: _Names, chosen: list[int]) -> None:
        self.whole = whole
        self.chosen = chosen

    def read(self, inputs: torch.Tensor) -> list[bytes]:
        """Return all names."""
        return [self.whole.name(place, inputs, source) for source, place in enumerate(self.chosen)]
