"""Sizes, colours, fonts and file formats of all figures.

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
# Fallback fonts for letters that it lacks, such as Chinese ones.
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
    "text.parse_math": False,  # dollar signs in names are printed
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
# Tables by which letters are placed. A PDF has the place of every letter and does not read them.
_LAYOUT_TABLES = ("GDEF", "GPOS", "GSUB", "kern")
# Without these entries files hold no date and no random id.
_METADATA = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def colour_of(protocol: str) -> str:
    """The colour of a protocol in every figure."""
    return COLOURS.get(protocol, FAINT)


def marker_of(protocol: str) -> str:
    """The marker of a protocol in every figure, for readers who do not see the colour."""
    return MARKERS.get(protocol, "X")


def shorten(name: str, most: int = 28) -> str:
    """A name for a place with room for few letters; control characters become spaces.

    >>> shorten("icarl"), shorten("x" * 40, 5)
    ('icarl', 'xxxx…')
    """
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return line if len(line) <= most else line[: most - 1] + "…"


@contextmanager
def drawing() -> Iterator[None]:
    """Apply the style of all figures, independent of the user's matplotlib settings."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "font.family": _fonts()})
        yield


@contextmanager
def small_fonts() -> Iterator[None]:
    """Embed fonts in PDF files without their layout tables.

    Matplotlib embeds the letters that a figure uses. It leaves the tables to the defaults of
    fontTools, which takes more time for layout tables than for all other ones.
    """
    from fontTools.subset import Options

    default = getattr(Options, "_drop_tables_default", [])
    setattr(Options, "_drop_tables_default", [*default, *_LAYOUT_TABLES])  # noqa: B010
    try:
        yield
    finally:
        setattr(Options, "_drop_tables_default", default)  # noqa: B010


def missing_letters(text: str) -> str:
    """The letters of a text that no installed font can draw, each once."""
    from matplotlib.font_manager import findfont, get_font

    drawable: set[int] = set()
    for name in _fonts():
        drawable |= get_font(findfont(name)).get_charmap().keys()
    return "".join(letter for letter in dict.fromkeys(text) if ord(letter) not in drawable)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of the given size in inches, with constrained layout."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def render(figure: Figure, suffix: str) -> bytes:
    """The figure as the content of a file; PNG has a white background, SVG and PDF have none.

    Letters that :func:`missing_letters` returns are drawn as boxes.
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
    figure.set_layout_engine("none")  # the layout is final
    return file.getvalue()


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a .png, .svg or .pdf file."""
    path = check_figure_path(path)
    content = render(figure, path.suffix)
    with replace_file(path) as file:
        file.write(content)


def check_figure_path(path: str | Path) -> Path:
    """The path if its suffix is .png, .svg or .pdf; an error otherwise."""
    if Path(path).suffix not in SUFFIXES:
        raise UsageError(
            f"The file of a figure must end in {', '.join(SUFFIXES)}. Got {str(path)!r} instead."
        )
    return Path(path)


def bare(axes: Axes) -> None:
    """Remove the y-axis: no ticks and no line on the left."""
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _fonts() -> list[str]:
    """The default font, then the installed fallback fonts."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [_FONT, *(name for name in _WIDER_FONTS if name in installed)]
