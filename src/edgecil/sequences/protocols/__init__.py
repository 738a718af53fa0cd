"""Protocols: objects that choose class sequences and say what claims may rest on them.

A new protocol is one file with a subclass of :class:`Protocol` and a name in `draw.py`, or, in
another package, :func:`register_protocol` or an entry point of the group `edgecil.protocols`.
"""

from edgecil.sequences.protocols.draw import (
    CONTINUED as CONTINUED,
    DEFAULT_PROTOCOL as DEFAULT_PROTOCOL,
    PROTOCOLS as PROTOCOLS,
    RECOMMENDED as RECOMMENDED,
    REPEATS as REPEATS,
    describe_duplicates as describe_duplicates,
    describe_origins as describe_origins,
    describe_source as describe_source,
    draw_protocols as draw_protocols,
    find_protocol as find_protocol,
    format_protocols as format_protocols,
    note_sequences as note_sequences,
    origin_sentences as origin_sentences,
    parse_protocols as parse_protocols,
    protocol as protocol,
    register_protocol as register_protocol,
    split_budget as split_budget,
)
from edgecil.sequences.protocols.enumeration import (
    ENUMERATE as ENUMERATE,
)
from edgecil.sequences.protocols.extremes import (
    GOALS as GOALS,
)
from edgecil.sequences.protocols.latin import (
    LATIN as LATIN,
)
from edgecil.sequences.protocols.protocol import (
    LabelledSequence as LabelledSequence,
    Protocol as Protocol,
    Request as Request,
    Role as Role,
)
from edgecil.sequences.protocols.random import (
    PAPER_SEEDS as PAPER_SEEDS,
    RANDOM as RANDOM,
)
