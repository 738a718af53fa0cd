"""The HTML templates; autoescape is on for all of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from edgecil.report.scene.layout import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def render_template(name: str, **values: object) -> Markup:
    """Render a template of this folder; strings are escaped, their control characters blanks."""
    return Markup(_environment().get_template(name).render(values))


def _finalize(value: object) -> object:
    """What is written for an expression."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("edgecil.report"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
