"""A figure of a report: on the page for wide and narrow screens, and as files for papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from edgecil.report.drawing import NARROW, WIDE, Scene
from edgecil.report.paint import paint
from edgecil.report.svg import inline_svg, svg_file

_TEXT_INCHES = 7.0  # width of a page's text in a paper
_COLUMN_INCHES = 3.4  # width of one of two columns
_COLUMN = "column.pdf"
KINDS = {"svg": "SVG", "png": "PNG", "pdf": "PDF", _COLUMN: "PDF, one column"}
SVG_ONLY = {"svg": "SVG"}


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A figure, drawn wide for desks and papers, and narrow for phones and a paper's column."""

    name: str
    caption: str
    wide: Scene
    narrow: Scene

    @classmethod
    def of(
        cls, name: str, caption: str, draw: Callable[[float], Scene], wide: float = WIDE
    ) -> ReportFigure:
        """A figure of which a function draws both widths."""
        return cls(name, caption, draw(wide), draw(NARROW))

    @property
    def html(self) -> Markup:
        """Both drawings; the page's style sheet shows the one that fits."""
        cells = f"cells-{self.name}"
        wide = inline_svg(self.wide, self.caption, css_class="wide", cells=cells)
        narrow = inline_svg(self.narrow, self.caption, css_class="narrow", cells=cells, again=True)
        return Markup(f"{wide}\n{narrow}")

    def files(self, kinds: Iterable[str] = KINDS) -> Iterator[tuple[str, bytes]]:
        """The files for papers and slides of some kinds, by name."""
        yield f"{self.name}.svg", svg_file(self.wide, self.caption)
        if "pdf" in kinds:
            inches = _TEXT_INCHES * self.wide.width / WIDE
            for kind, content in paint(self.wide, ["png", "pdf"], inches=inches).items():
                yield f"{self.name}.{kind}", content
            column = paint(self.narrow, ["pdf"], inches=_COLUMN_INCHES)
            yield f"{self.name}.{_COLUMN}", column["pdf"]
