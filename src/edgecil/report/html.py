"""The pieces of an HTML page that needs nothing but itself: no network, no script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template

from edgecil.report.figures.canvas import COLOURS, FAINT, INK, TRUTH

_LARGER = 1.2  # than on paper, where there is room
_LETTER = re.compile(r'<path id="([^"]+)"(?: d="[^"]*")? transform="scale\(0\.015625\)"/>\s*')
_PAGE = Template(
    """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
$style
</style>
</head>
<body>
<main>
$body
</main>
</body>
</html>
"""
)


def page(title: str, body: str) -> str:
    """A whole page."""
    style = (files("edgecil.report") / "style.css").read_text(encoding="utf-8")
    return _PAGE.substitute(
        title=html.escape(title), style=style.strip(), body=_share_letters(body)
    )


def heading(title: str) -> str:
    """What the page is called."""
    return f"<h1>{html.escape(title)}</h1>"


def links(parts: Mapping[str, str]) -> str:
    """The way to the sections of the page, by their names."""
    ways = (f'<a href="#{name}">{html.escape(title)}</a>' for name, title in parts.items())
    return f"<nav>{' '.join(ways)}</nav>"


def section(name: str, title: str, *parts: str, level: int = 2) -> str:
    """Parts under a heading that can be linked to."""
    inside = "\n".join(parts)
    return f'<section id="{name}">\n<h{level}>{html.escape(title)}</h{level}>\n{inside}\n</section>'


def paragraph(*sentences: str, kind: str | None = None) -> str:
    """Plain sentences as one paragraph."""
    style = "" if kind is None else f' class="{kind}"'
    return f"<p{style}>{html.escape(' '.join(sentences))}</p>"


def bullets(items: Iterable[str]) -> str:
    """Plain texts as a list."""
    inside = "\n".join(f"<li>{html.escape(item)}</li>" for item in items)
    return f'<ul class="answer">\n{inside}\n</ul>'


def side_by_side(*parts: str) -> str:
    """Parts beside each other where the screen is wide enough."""
    inside = "\n".join(parts)
    return f'<div class="pair">\n{inside}\n</div>'


def code(text: str) -> str:
    """Text to be copied as it stands."""
    return f"<pre><code>{html.escape(text)}</code></pre>"


def folded(summary: str, *parts: str) -> str:
    """Parts that are shown on demand, and always on paper."""
    inside = "\n".join(parts)
    return f"<details><summary>{html.escape(summary)}</summary>\n{inside}\n</details>"


def figure(name: str, svg: bytes, caption: str, *, captioned: bool = True) -> str:
    """A drawing that follows the reader's light or dark theme; the caption may be read out only."""
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if captioned else ""
    drawn = _inline(svg, name, caption)
    return f'<figure class="drawing" id="figure-{name}">{drawn}{below}</figure>'


def _inline(svg: bytes, name: str, label: str) -> str:
    """An SVG file as part of a page: ids of its own, colours of the page, size of its place."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = _short(_own_ids(text, name))
    for variable, colour in {"ink": INK, "faint": FAINT, "truth": TRUTH, **COLOURS}.items():
        text = re.sub(colour, f"var(--{variable})", text, flags=re.IGNORECASE)
    width = re.search(r'<svg[^>]*?\swidth="([\d.]+)pt"', text)
    assert width is not None
    text = re.sub(r'(<svg[^>]*?)\swidth="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?)\sheight="[^"]*"', r"\1", text, count=1)
    points = _LARGER * float(width[1])
    start = f'<svg role="img" aria-label="{html.escape(label)}" style="max-width:{points:.0f}pt"'
    return text.replace("<svg", start, 1)


def _own_ids(svg: str, name: str) -> str:
    """Ids that nothing refers to are gone, others begin with `name`; letters keep theirs."""
    letters, wanted = set(_LETTER.findall(svg)), set(re.findall(r"#([\w.-]+)", svg))
    svg = re.sub(r'\sid="([^"]+)"', lambda id_: id_[0] if id_[1] in wanted else "", svg)
    return re.sub(
        r'(\sid="|href="#|url\(#)([\w.-]+)',
        lambda place: place[0] if place[2] in letters else f"{place[1]}{name}-{place[2]}",
        svg,
    )


def _short(svg: str) -> str:
    """The same drawing in fewer bytes: hundredths of a point are finer than any screen."""
    numbers = r"(?<!scale\()(?<![\d.])\d+\.\d{3,}"
    svg = re.sub(numbers, lambda number: f"{float(number[0]):.2f}", svg)
    svg = re.sub(r'xlink:(href="[^"]*") transform="translate\(([\d.]+) 0\)"', r'\1 x="\2"', svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _share_letters(body: str) -> str:
    """The page's drawings with every letter's outline once, in front of them all."""
    letters = {found[1]: found[0] for found in _LETTER.finditer(body)}
    body = re.sub(r"<defs>\s*</defs>\s*", "", _LETTER.sub("", body))
    if not letters:
        return body
    start = '<svg width="0" height="0" style="position:absolute" aria-hidden="true">'
    return f"{start}<defs>\n{''.join(letters.values())}</defs></svg>\n{body}"
