"""Text, tables and figures that notebooks show."""

from __future__ import annotations

import base64
import html
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from edgecil.errors import UsageError
from edgecil.io.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIKE_TO_PANDAS = ("to_dataframe", "to_df", "to_frame", "dataframe", "df")


def show_printed(self: object, printer: Any, cycle: bool) -> None:
    """Show what `print` shows in IPython, also inside lists, as `_repr_pretty_` of a class."""
    printer.text(str(self))


class VerbModule(ModuleType):
    """A module that is called like the verb of the command line with its name."""

    _function: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function that does what the verb does."""
        return getattr(self, self._function)(*arguments, **options)


def make_callable(module: str, function: str) -> None:
    """Let a module be called, as in `edgecil.report("results.csv")`; its function answers."""
    sys.modules[module].__class__ = VerbModule
    sys.modules[module]._function = function  # type: ignore[attr-defined]


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text as an HTML table; the first is the header.

    >>> html_table([["a"], ["1 < 2"]])
    '<table><tr><th>a</th></tr><tr><td>1 &lt; 2</td></tr></table>'
    """
    lines = []
    for index, row in enumerate(rows):
        tag = "th" if index == 0 else "td"
        lines.append("".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row))
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def html_figure(draw: Callable[[Axes], Any], description: str, size: tuple[float, float]) -> str:
    """Return a figure as an HTML image; pyplot does not show it a second time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="{html.escape(description)}" src="data:image/png;base64,{data}">'


def new_axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure of pyplot, which a notebook shows after its cell."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=size, layout="constrained")
    return axes


def save_figure(axes: Axes, path: str | Path) -> None:
    """Write the figure of the axes to a file in the format of its suffix, such as .png."""
    path = Path(path)
    canvas = axes.figure.canvas
    formats = sorted(canvas.get_supported_filetypes())
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in formats:
        raise UsageError(
            f"The suffix of a figure's file must be one of {', '.join(formats)}. "
            f"Got {path} instead."
        )
    with replace_file(path) as file:
        canvas.figure.savefig(file, format=suffix)


class WithPandas:
    """An object with `to_pandas`, which the names of this method in other libraries point to."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise an error, which names `to_pandas` where that was probably meant."""
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in _LIKE_TO_PANDAS:
                message += ". Did you mean: 'to_pandas'?"
            raise AttributeError(message)
