"""Questions: what a file does not say and a guess could get wrong, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from edgecil.errors import UsageError


class ReadingQuestion(UsageError):  # noqa: N818
    """A result file can be read in several ways, of which the user has to say which is right.

    Attributes:
        options: the options that answer the question, each with the answers there are. One answer
            of every option makes the reading right.
    """

    def __init__(self, sentence: str, options: Mapping[str, Sequence[Any]] | None = None) -> None:
        super().__init__(sentence)
        self.options: dict[str, list[Any]] = {
            name: list(answers) for name, answers in (options or {}).items()
        }
