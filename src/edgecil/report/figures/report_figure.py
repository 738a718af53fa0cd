"""A figure of a report: on the page for wide and narrow screens, and as files for papers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from edgecil.report.scene.marks import Scene
from edgecil.report.scene.paint import paint
from edgecil.report.scene.svg import inline_svg, svg_file

TEXT_INCHES = 7.0  # width of a page's text in a paper
COLUMN_INCHES = 3.4  # width of one of two columns
WIDE = 1040.0  # pixels of a chart on a desk
NARROW = 360.0  # pixels of a chart on a phone, and of a column of a paper

SVG_ONLY = ("svg",)
WIDE_ONLY = ("svg", "png", "pdf")
_COLUMN = "column.pdf"
FILE_KINDS = {"svg": "SVG", "png": "PNG", "pdf": "PDF", _COLUMN: "PDF, one column"}


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A figure and its description.

    Attributes:
        name: stem of its file names.
        caption: the text below it, and its text alternative.
        wide: the drawing for desks and for the width of a paper's text.
        narrow: the drawing for phones and for one column of a paper.
        kinds: suffixes of its files.
    """

    name: str
    caption: str
    wide: Scene
    narrow: Scene
    kinds: tuple[str, ...] = tuple(FILE_KINDS)

    @property
    def file_kinds(self) -> dict[str, str]:
        """What a page calls the files, by suffix."""
        return {suffix: FILE_KINDS[suffix] for suffix in self.kinds}

    @property
    def html(self) -> Markup:
        """Both drawings; the page's style sheet shows the one that fits."""
        if self.narrow is self.wide:
            return inline_svg(self.wide, self.caption)
        cells = f"cells-{self.name}"
        wide = inline_svg(self.wide, self.caption, css_class="wide", cells=cells)
        narrow = inline_svg(self.narrow, self.caption, css_class="narrow", cells=cells, again=True)
        return Markup(f"{wide}\n{narrow}")

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The files for papers and slides, by name."""
        painted = self._painted()
        for suffix in self.kinds:
            content = svg_file(self.wide, self.caption) if suffix == "svg" else painted[suffix]
            yield f"{self.name}.{suffix}", content

    def _painted(self) -> dict[str, bytes]:
        """The files that Matplotlib draws, by suffix."""
        files = {}
        wide = [kind for kind in self.kinds if kind in ("png", "pdf")]
        if wide:
            files = paint(self.wide, wide, inches=TEXT_INCHES * self.wide.width / WIDE)
        if _COLUMN in self.kinds:
            files[_COLUMN] = paint(self.narrow, ["pdf"], inches=COLUMN_INCHES)["pdf"]
        return files
