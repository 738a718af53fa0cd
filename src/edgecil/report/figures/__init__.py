"""Figures: each function draws one, from plain arrays; `canvas` writes them."""

from edgecil.report.figures.canvas import SUFFIXES, check_figure_path, save_figure
from edgecil.report.figures.sequences import draw_sequences

__all__ = ["SUFFIXES", "check_figure_path", "draw_sequences", "save_figure"]
