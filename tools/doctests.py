"""Shows doctests of docstrings as code on the site; Markdown would take `>>>` for quotations."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Put fences around the lines of a doctest, up to the next empty line."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is None or ">>> " not in obj.docstring.value:
            return
        lines: list[str] = []
        inside = False
        for line in [*obj.docstring.value.splitlines(), ""]:
            if line.startswith(">>> ") and not inside:
                lines += ["", "```pycon"]
                inside = True
            if inside and not line.strip():
                lines.append("```")
                inside = False
            lines.append(line)
        obj.docstring.value = "\n".join(lines)
