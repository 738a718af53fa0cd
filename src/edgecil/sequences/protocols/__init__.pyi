from .draw import (
    draw_protocols as draw_protocols,
    format_protocols as format_protocols,
    parse_protocols as parse_protocols,
    protocol_budgets as protocol_budgets,
)
from .extremes import GOALS as GOALS
from .latin import LATIN as LATIN
from .origins import (
    describe_duplicates as describe_duplicates,
    describe_origins as describe_origins,
    describe_source as describe_source,
    note_sequences as note_sequences,
    origin_sentences as origin_sentences,
)
from .protocol import (
    LabelledSequence as LabelledSequence,
    Protocol as Protocol,
    Request as Request,
    Role as Role,
)
from .random import (
    ENUMERATE as ENUMERATE,
    PAPER_SEEDS as PAPER_SEEDS,
    RANDOM as RANDOM,
    RS as RS,
)
from .registered import (
    CONFIRMATION as CONFIRMATION,
    CONTINUED as CONTINUED,
    DEFAULT_PROTOCOL as DEFAULT_PROTOCOL,
    PROTOCOLS as PROTOCOLS,
    RECOMMENDED as RECOMMENDED,
    REPEATS as REPEATS,
    SEARCH as SEARCH,
    USER_SEQUENCES as USER_SEQUENCES,
    find_protocol as find_protocol,
    register_protocol as register_protocol,
)
