"""Axes: from values to positions, and round numbers to label them with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from edgecil.io.arrays import Floats
from edgecil.report.scene.marks import Line, Mark, Text


@dataclass(frozen=True)
class Scale:
    """A linear map from values to positions.

    Attributes:
        low: the value at `start`.
        high: the value at `end`.
        start: a position.
        end: a position.
    """

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(
        cls,
        values: Iterable[float],
        start: float,
        end: float,
        *,
        margin: float = 0.05,
        limits: tuple[float, float] | None = None,
    ) -> Scale:
        """A scale with room for all values.

        Args:
            values: finite numbers, at least one.
            start: the position of its lower end.
            end: the position of its upper end.
            margin: what is added at both ends, in shares of the range.
            limits: values beyond which no room is added.
        """
        numbers = list(values)
        low, high = min(numbers), max(numbers)
        room = margin * (high - low) or 1.0
        wide_low, wide_high = low - room, high + room
        if limits is not None:
            wide_low = min(max(wide_low, limits[0]), low)
            wide_high = max(min(wide_high, limits[1]), high)
        return cls(wide_low, wide_high, start, end)

    def __call__(self, value: float) -> float:
        """The position of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def map(self, values: Floats) -> Floats:
        """The positions of values, shape (n,)."""
        return self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 8) -> list[float]:
        """Round values on the scale."""
        return nice_ticks(self.low, self.high, most)


def nice_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Round numbers between two values: multiples of 1, 2 or 5 times a power of ten.

    >>> nice_ticks(47.3, 63.9, 6)
    [50.0, 55.0, 60.0]
    """
    if not high > low:
        return [low]
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)
    digits = max(0, -math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, digits) + 0.0 for place in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A tick's label, with a true minus sign.

    >>> tick_text(50.0), tick_text(-2.5)
    ('50', '−2.5')
    """
    return f"{value:g}".replace("-", "−")


def x_axis(
    scale: Scale, top: float, bottom: float, *, most: int = 8, title: str = "", size: float = 12.0
) -> list[Mark]:
    """Grid lines from top to bottom, labels below them and a title below the labels."""
    marks: list[Mark] = []
    for tick in scale.ticks(most):
        at = scale(tick)
        marks.append(Line(((at, top), (at, bottom)), "line"))
        marks.append(Text(at, bottom + size + 4.0, tick_text(tick), size, "middle", colour="faint"))
    if title:
        middle = (scale.start + scale.end) / 2.0
        marks.append(Text(middle, bottom + 2.0 * size + 12.0, title, size, "middle"))
    return marks


def y_axis(
    scale: Scale, left: float, right: float, *, most: int = 6, title: str = "", size: float = 12.0
) -> list[Mark]:
    """Grid lines from left to right, labels to their left and a title above them."""
    marks: list[Mark] = []
    for tick in scale.ticks(most):
        at = scale(tick)
        marks.append(Line(((left, at), (right, at)), "line"))
        label = Text(left - 7.0, at + 0.35 * size, tick_text(tick), size, "end", colour="faint")
        marks.append(label)
    if title:
        marks.append(Text(left, min(scale.start, scale.end) - size - 2.0, title, size))
    return marks
