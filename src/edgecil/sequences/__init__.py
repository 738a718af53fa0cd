"""Class sequences: what they are, what they are worth, and how to choose them."""

from edgecil.sequences.certificate import Bounds, bounds
from edgecil.sequences.moments import Moments, moments
from edgecil.sequences.objective import OBJECTIVES, Objective, get_objective
from edgecil.sequences.optimal import Certificate, Optimum, find_optimum
from edgecil.sequences.profile import Profile, profile, score
from edgecil.sequences.protocols import (
    PROTOCOLS,
    LabelledSequence,
    Protocol,
    protocol,
    register_protocol,
)
from edgecil.sequences.protocols.latin import latin
from edgecil.sequences.protocols.random import seeded
from edgecil.sequences.sampling import sample_scores, score_orders
from edgecil.sequences.scored import (
    ChosenSequences,
    ScoredSequence,
    choose_sequences,
    profile_file,
)
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

__all__ = [
    "OBJECTIVES",
    "PROTOCOLS",
    "Bounds",
    "Certificate",
    "ChosenSequences",
    "ClassSequence",
    "LabelledSequence",
    "Moments",
    "Objective",
    "Optimum",
    "Profile",
    "Protocol",
    "ScoredSequence",
    "SequenceSpace",
    "bounds",
    "choose_sequences",
    "find_optimum",
    "get_objective",
    "latin",
    "moments",
    "profile",
    "profile_file",
    "protocol",
    "register_protocol",
    "sample_scores",
    "score",
    "score_orders",
    "seeded",
]
