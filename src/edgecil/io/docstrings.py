"""What docstrings say about the fields of a class and the parameters of a function."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from inspect import Parameter, cleandoc, signature
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def read_section(docstring: str | None, title: str = "Attributes") -> dict[str, str]:
    r"""Return the entries of a section of a docstring, by name, each on one line.

    >>> read_section("A pair.\n\nAttributes:\n    left: the first\n        one.\n    right: other.")
    {'left': 'the first one.', 'right': 'other.'}
    """
    section = cleandoc(docstring or "").partition(f"{title}:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}


def with_options(
    options: type[Any], meanings: Mapping[str, str]
) -> Callable[[_Function], _Function]:
    """Return a decorator that names every option of `**options` in signature and docstring.

    `help` and notebooks then show them; the function itself does not change.

    Args:
        options: the TypedDict that annotates the function's `**options`.
        meanings: what each option means.
    """

    def decorate(function: _Function) -> _Function:
        whole = signature(function)
        *own, rest = whole.parameters.values()
        assert rest.kind is Parameter.VAR_KEYWORD
        further = {
            name: getattr(kind, "__forward_arg__", kind)
            for name, kind in options.__annotations__.items()
            if name not in whole.parameters
        }
        added = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=None if str(kind).endswith("None") else ...,
                annotation=kind,
            )
            for name, kind in further.items()
        ]
        function.__dict__["__signature__"] = whole.replace(parameters=[*own, *added])
        entries = (
            textwrap.fill(
                f"{name}: {meanings[name]}", 96, initial_indent=" " * 4, subsequent_indent=" " * 8
            )
            for name in further
        )
        text = cleandoc(function.__doc__ or "")
        entry = re.search(r"^    options: .*(?:\n {8}.*)*", text, flags=re.MULTILINE)
        assert entry is not None
        function.__doc__ = "\n".join([text[: entry.end()], *entries]) + text[entry.end() :]
        return function

    return decorate
