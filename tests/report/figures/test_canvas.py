"""Any method name can be drawn; letters that no font has are reported beforehand."""

from __future__ import annotations

import matplotlib
import pytest

from edgecil.report.figures import SUFFIXES, canvas


def drawn(text: str):
    with canvas.drawing():
        figure = canvas.new_figure(1.0)
        figure.text(0.1, 0.5, text)
    return figure


@pytest.fixture(autouse=True)
def _our_font_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fonts this machine has."""
    monkeypatch.setattr(canvas, "_WIDER_FONTS", ())


@pytest.mark.parametrize("name", ["$x_1$", r"LwF $\foo$", "a$b"])
def test_a_dollar_is_a_letter_like_any_other(name) -> None:
    assert canvas.render(drawn(name), ".svg").count(b"<use ") == len(name)


def test_letters_that_no_font_has_are_named_once() -> None:
    assert canvas.missing_letters("LwF é ω ₁ 学习学") == "学习"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_letters_that_no_font_has_are_drawn_without_a_warning(suffix) -> None:
    assert canvas.render(drawn("学习"), suffix)


def test_fonts_with_more_letters_are_asked_where_they_are_installed(monkeypatch) -> None:
    rare = "\u1d81"  # in STIX, which comes with matplotlib, but not in our font
    assert canvas.missing_letters(rare) == rare
    monkeypatch.setattr(canvas, "_WIDER_FONTS", ("No Such Font", "STIXGeneral"))
    with canvas.drawing():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans", "STIXGeneral"]
    assert canvas.missing_letters(rare) == ""
