"""Protocols: objects that choose class sequences and say what claims may rest on them.

A new protocol is one file with a subclass of :class:`Protocol` and a name in `draw.py`, or, in
another package, :func:`register_protocol` or an entry point of the group `edgecil.protocols`.
"""

from edgecil.sequences.protocols.draw import (
    CONTINUED,
    DEFAULT_PROTOCOL,
    PROTOCOLS,
    RECOMMENDED,
    REPEATS,
    describe_duplicates,
    describe_origins,
    describe_source,
    draw_protocols,
    find_protocol,
    format_protocols,
    note_sequences,
    origin_sentences,
    parse_protocols,
    protocol,
    register_protocol,
    split_budget,
)
from edgecil.sequences.protocols.enumeration import ENUMERATE
from edgecil.sequences.protocols.extremes import GOALS
from edgecil.sequences.protocols.latin import LATIN
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol, Request, Role
from edgecil.sequences.protocols.random import PAPER_SEEDS, RANDOM

__all__ = [
    "CONTINUED",
    "DEFAULT_PROTOCOL",
    "ENUMERATE",
    "GOALS",
    "LATIN",
    "PAPER_SEEDS",
    "PROTOCOLS",
    "RANDOM",
    "RECOMMENDED",
    "REPEATS",
    "LabelledSequence",
    "Protocol",
    "Request",
    "Role",
    "describe_duplicates",
    "describe_origins",
    "describe_source",
    "draw_protocols",
    "find_protocol",
    "format_protocols",
    "note_sequences",
    "origin_sentences",
    "parse_protocols",
    "protocol",
    "register_protocol",
    "split_budget",
]
