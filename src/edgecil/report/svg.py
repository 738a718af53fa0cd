"""SVG files as parts of a page: colours of the page, shared letters, tooltips, small size."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from edgecil.report.figures.canvas import COLOURS, FAINT, INK, TRUTH
from edgecil.report.figures.report_figure import ReportFigure

_LETTER = re.compile(r'<path id="([^"]+)"(?: d="[^"]*")? transform="scale\(0\.015625\)"/>\s*')
_VARIABLES = {"ink": INK, "faint": FAINT, "truth": TRUTH, **COLOURS}


def inline_figures(figures: Iterable[ReportFigure]) -> tuple[Markup, dict[str, Markup]]:
    """Prepare figures for one page.

    Returns:
        An invisible SVG with the outline of every letter, which must stand on the page once; and
        by name, each figure as an SVG that uses these letters.
    """
    letters: dict[str, str] = {}
    drawings = {}
    for figure in figures:
        svg = _inline(figure)
        letters |= {match[1]: match[0] for match in _LETTER.finditer(svg)}
        drawings[figure.name] = Markup(re.sub(r"<defs>\s*</defs>\s*", "", _LETTER.sub("", svg)))
    start = '<svg width="0" height="0" style="position:absolute" aria-hidden="true">'
    return Markup(f"{start}<defs>\n{''.join(letters.values())}</defs></svg>"), drawings


def _inline(figure: ReportFigure) -> str:
    text = figure.svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text, tooltips = _mark_tooltips(text, figure.tooltips)
    text = _shorten(_own_ids(text, figure.name))
    for variable, colour in _VARIABLES.items():
        text = re.sub(colour, f"var(--{variable})", text, flags=re.IGNORECASE)
    width = re.search(r'<svg[^>]*?\swidth="([\d.]+)pt"', text)
    assert width is not None
    text = re.sub(r'(<svg[^>]*?)\swidth="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?)\sheight="[^"]*"', r"\1", text, count=1)
    points = figure.scale * float(width[1])
    text = re.sub(r"<title>@(\d+)", lambda place: f"<title>{tooltips[int(place[1])]}", text)
    label = html.escape(figure.caption)
    start = f'<svg role="img" aria-label="{label}" style="max-width:{points:.0f}pt"'
    return text.replace("<svg", start, 1)


def _mark_tooltips(svg: str, tooltips: Mapping[str, Sequence[str]]) -> tuple[str, list[str]]:
    """Give every mark of the named groups a title, which browsers show on hover.

    Returns:
        The SVG with `@0`, `@1`, … as titles, and the escaped texts that belong there.
    """
    escaped: list[str] = []
    for group, texts in tooltips.items():
        start = svg.index(f'<g id="{group}">')
        end = svg.index("</g>", svg.index("<use", start))
        places = iter(range(len(escaped), len(escaped) + len(texts)))
        marks = re.split(r"(?<=<use )([^>]*?)/>", svg[start:end])
        for place in range(1, len(marks), 2):
            marks[place] += f"><title>@{next(places)}</title></use>"
        svg = svg[:start] + "".join(marks) + svg[end:]
        escaped += [html.escape(text) for text in texts]
    return svg, escaped


def _own_ids(svg: str, name: str) -> str:
    """Remove ids that nothing refers to and prefix the others; letters keep their ids."""
    letters, used = set(_LETTER.findall(svg)), set(re.findall(r"#([\w.-]+)", svg))
    svg = re.sub(r'\sid="([^"]+)"', lambda id_: id_[0] if id_[1] in used else "", svg)
    return re.sub(
        r'(\sid="|href="#|url\(#)([\w.-]+)',
        lambda place: place[0] if place[2] in letters else f"{place[1]}{name}-{place[2]}",
        svg,
    )


def _shorten(svg: str) -> str:
    """Round coordinates to hundredths of a point and remove blanks."""
    numbers = r"(?<!scale\()(?<![\d.])\d+\.\d{3,}"
    svg = re.sub(numbers, lambda number: f"{float(number[0]):.2f}", svg)
    svg = re.sub(r'xlink:(href="[^"]*") transform="translate\(([\d.]+) 0\)"', r'\1 x="\2"', svg)
    return re.sub(r"\s*\n\s*", "\n", svg)
