"""What every figure shares: sizes, colours, and how it is written.

The same data give the same bytes. Matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.errors import UsageError
from edgecil.io.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
WIDTH = 6.0  # inches; text of 9 points stays readable on a phone
INK = "#1A1A1F"
FAINT = "#8A8A93"
TRUTH = "#C9C9CF"
# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = {
    "random": "#0072B2",
    "edge": "#D55E00",
    "latin": "#009E73",
    "optimal": "#CC79A7",
    "adversarial": "#E69F00",
    "maxcover": "#56B4E9",
}
MARKERS = {
    "random": "o",
    "edge": "D",
    "latin": "s",
    "optimal": "^",
    "adversarial": "v",
    "maxcover": "P",
}

_FONT = "DejaVu Sans"  # comes with matplotlib
# Where letters that it lacks may be found, such as Chinese ones.
_WIDER_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Microsoft YaHei",
    "Arial Unicode MS",
)
_DOTS_PER_INCH = 160
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.titlecolor": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "edgecil",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
# Without these no date and no random name is left in a file.
_METADATA = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def colour_of(protocol: str) -> str:
    """The colour of a protocol in every figure."""
    return COLOURS.get(protocol, FAINT)


def marker_of(protocol: str) -> str:
    """The marker of a protocol in every figure: told apart without colour too."""
    return MARKERS.get(protocol, "X")


@contextmanager
def drawing() -> Iterator[None]:
    """The style of all figures, whatever the user's own matplotlib settings are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "font.family": _fonts()})
        yield


def missing_letters(text: str) -> str:
    """The letters of a text that no font here can draw, each once."""
    from matplotlib.font_manager import findfont, get_font

    known: set[int] = set()
    for name in _fonts():
        known |= get_font(findfont(name)).get_charmap().keys()
    return "".join(letter for letter in dict.fromkeys(text) if ord(letter) not in known)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of a size in inches that arranges its parts itself."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def render(figure: Figure, suffix: str) -> bytes:
    """The figure as a file of that kind; on white as PNG, which is looked at alone.

    Letters that :func:`missing_letters` names are boxes in it.
    """
    file = io.BytesIO()
    kind = suffix[1:]
    with drawing(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(
            file,
            format=kind,
            dpi=_DOTS_PER_INCH,
            metadata=_METADATA[kind],
            transparent=kind != "png",
        )
    figure.set_layout_engine("none")  # its parts have found their places
    return file.getvalue()


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a .png, .svg or .pdf file."""
    path = check_figure_path(path)
    content = render(figure, path.suffix)
    with replace_file(path) as file:
        file.write(content)


def check_figure_path(path: str | Path) -> Path:
    """The path, if its ending says a figure can be drawn there; an error otherwise."""
    if Path(path).suffix not in SUFFIXES:
        raise UsageError(f"A figure is drawn as {', '.join(SUFFIXES)}. Got {path} instead.")
    return Path(path)


def bare(axes: Axes) -> None:
    """Leave an axis of accuracy alone: no ticks and no line on the left."""
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _fonts() -> list[str]:
    """Our font, and those installed that have more letters."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [_FONT, *(name for name in _WIDER_FONTS if name in installed)]
