"""Colours by name for light and dark pages, the marks of protocols, and colours of values.

Categories have Okabe and Ito's colours, which colour-blind readers can tell apart; on a dark page
they are lighter. Every colour of text has a contrast of at least 4.5 with its background.
"""

from __future__ import annotations

from typing import Literal, TypeAlias
from zlib import crc32

Shape = Literal["circle", "square", "diamond", "up", "down", "cross"]
Style: TypeAlias = tuple[str, Shape]

_COLOURS = {  # on a light page, on a dark one
    "paper": ("#ffffff", "#14171c"),
    "panel": ("#f6f7f9", "#1c2027"),
    "line": ("#e3e5ea", "#2c313a"),
    "edge-line": ("#c6cad3", "#464d59"),
    "ink": ("#1b1f27", "#e8eaef"),
    "faint": ("#5b6270", "#a2a9b6"),
    "truth": ("#d5d9e0", "#3d444f"),
    "accent": ("#0b62a8", "#6cb8f0"),
    "good": ("#00704f", "#4fd0a5"),
    "bad": ("#b3450b", "#ff9d63"),
    "c0": ("#0072b2", "#56b4e9"),
    "c1": ("#d55e00", "#ff8a3c"),
    "c2": ("#009e73", "#2fc99b"),
    "c3": ("#b5588f", "#e6a3c8"),
    "c4": ("#b87a00", "#f0c04f"),
    "c5": ("#3a9bd1", "#9ad4f5"),
    "c6": ("#6b6f7a", "#b4b8c2"),
    "c7": ("#8a4fb5", "#c79df0"),
    "on-dark": ("#ffffff", "#ffffff"),
    "on-light": ("#000000", "#000000"),
}
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
_CATEGORIES = 8
# Values from low to high: cividis, made for colour-blind readers.
_CIVIDIS = (
    "00224e002a610031711c396f2d416d3a486c45506c50576c5b606e6568706e6f73777777"
    "817f788c8878969077a19975ada272b9ab6dc4b468d0be62dcc859e8d24ff5dc41fee838"
)
DARK_SHADES = 11  # the first ones, on which white text has more contrast than black text
SHADES = tuple(f"#{_CIVIDIS[start : start + 6]}" for start in range(0, len(_CIVIDIS), 6))

_PROTOCOLS: dict[str, Style] = {
    "random": ("c0", "circle"),
    "random-legacy": ("ink", "square"),
    "probes": ("c1", "diamond"),
    "edge": ("c3", "up"),
    "latin": ("c2", "square"),
    "optimal": ("c4", "down"),
}
_OTHERS: tuple[Style, ...] = (("c5", "up"), ("c3", "cross"), ("c7", "square"), ("c5", "down"))


def protocol_style(protocol: str) -> Style:
    """The colour and the shape of a protocol's marks in every chart; "" is that of no protocol."""
    if not protocol:
        return "faint", "circle"
    other = _OTHERS[crc32(protocol.encode()) % len(_OTHERS)]
    return _PROTOCOLS.get(protocol, other)


def category(place: int) -> tuple[str, tuple[float, ...]]:
    """The colour and the dashes of the method at a place; the ninth repeats the first, dashed."""
    dashes = ((), (7.0, 3.0), (2.0, 3.0))
    return f"c{place % _CATEGORIES}", dashes[place // _CATEGORIES % len(dashes)]


def shade_of(value: float, low: float, high: float) -> int:
    """The place of a value's colour in :data:`SHADES`; `low` may be the greater one."""
    share = (value - low) / (high - low) if high != low else 0.5
    return min(max(int(share * len(SHADES)), 0), len(SHADES) - 1)
