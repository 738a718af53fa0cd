"""Options that several verbs share."""

from __future__ import annotations

from edgecil.cli import inputs
from edgecil.similarity import DEFAULT_ENCODER, TEMPLATE


def test_the_command_lines_defaults_are_the_librarys() -> None:
    assert (inputs._ENCODER, inputs._TEMPLATE) == (DEFAULT_ENCODER, TEMPLATE)
