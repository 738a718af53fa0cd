"""Settings of learners: frozen dataclasses whose types say which values they accept."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

from edgecil.errors import UsageError, unknown


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, without these two if `open`; part of a type, as in `Count`."""

    low: float
    high: float = inf
    open: bool = False

    def __contains__(self, value: float) -> bool:
        if self.open:
            return self.low < value < self.high
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == inf:
            return f"more than {self.low:g}" if self.open else f"{self.low:g} or more"
        words = "between {:g} and {:g}" if self.open else "from {:g} to {:g}"
        return words.format(self.low, self.high)


Count = Annotated[int, Range(1)]
Whole = Annotated[int, Range(0)]
Positive = Annotated[float, Range(0.0, open=True)]
NotNegative = Annotated[float, Range(0.0)]
Share = Annotated[float, Range(0.0, 1.0)]


@dataclass(frozen=True)
class Settings:
    """Base of frozen dataclasses that refuse values outside the ranges and choices of their types.

    >>> @dataclass(frozen=True)
    ... class MineConfig(Settings):
    ...     width: Count = 16
    >>> MineConfig(width=0)
    Traceback (most recent call last):
    edgecil.errors.UsageError: Setting 'width' of Mine must be 1 or more. Got 0.
    """

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name)
            if get_origin(hint) is Literal and value not in get_args(hint):
                raise unknown(name, value, get_args(hint))
            for part in (hint, *get_args(hint)):
                for limit in getattr(part, "__metadata__", ()):
                    if value is not None and value not in limit:
                        kind = type(self).__name__.removesuffix("Config")
                        raise UsageError(
                            f"Setting {name!r} of {kind} must be {limit}. Got {value}."
                        )
