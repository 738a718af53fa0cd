"""Colours by name for light and dark pages, the marks of protocols, and colours of values.

Categories have Okabe and Ito's colours, which colour-blind readers can tell apart; on a dark page
they are lighter. Every colour of text has a contrast of at least 4.5 with its background.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias
from zlib import crc32

from edgecil.io.files import read_toml

Shape = Literal["circle", "square", "diamond", "up", "down", "cross"]
Style: TypeAlias = tuple[str, Shape]

_COLOURS: dict[str, tuple[str, str]] = read_toml(Path(__file__).with_name("colours.toml"))
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
    "rs": ("c0", "square"),
    "probes": ("c1", "diamond"),
    "edge": ("c3", "up"),
    "latin": ("c2", "square"),
    "optimal": ("c4", "down"),
}
_OTHERS: tuple[Style, ...] = (("c5", "up"), ("c3", "cross"), ("c7", "square"), ("c5", "down"))


def protocol_style(protocol: str) -> Style:
    """The colour and the shape of a protocol's marks in every chart; "" stands for no protocol."""
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
