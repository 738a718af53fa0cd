"""Figures, one module each: `build_…` takes an analysis, `draw_…` takes plain arrays."""

from edgecil.report.figures.canvas import SUFFIXES, check_figure_path, save_figure
from edgecil.report.figures.sequences import draw_sequences

__all__ = ["SUFFIXES", "check_figure_path", "draw_sequences", "save_figure"]
