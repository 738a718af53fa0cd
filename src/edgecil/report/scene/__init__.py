"""Charts as lists of marks: one description gives the page's SVG and the files for papers."""

from edgecil.report.scene.marks import Cells, Dots, Line, Mark, Rect, Scene, Text
from edgecil.report.scene.scale import Scale, nice_ticks

__all__ = ["Cells", "Dots", "Line", "Mark", "Rect", "Scale", "Scene", "Text", "nice_ticks"]
