from .certificate import Bounds as Bounds, bounds as bounds
from .objective import (
    OBJECTIVES as OBJECTIVES,
    Objective as Objective,
    get_objective as get_objective,
)
from .optimal import find_optimum as find_optimum
from .optimum import Certificate as Certificate, Optimum as Optimum
from .protocols import (
    PROTOCOLS as PROTOCOLS,
    LabelledSequence as LabelledSequence,
    Protocol as Protocol,
    register_protocol as register_protocol,
)
from .protocols.draw import protocol as protocol
from .protocols.latin import latin as latin
from .protocols.random import seeded as seeded
from .scored import (
    ChosenSequences as ChosenSequences,
    ScoredSequence as ScoredSequence,
    choose_sequences as choose_sequences,
    profile_file as profile_file,
)
from .scores import (
    Moments as Moments,
    Profile as Profile,
    moments as moments,
    profile as profile,
    sample_scores as sample_scores,
    score as score,
    score_orders as score_orders,
)
from .sequence import ClassSequence as ClassSequence
from .space import SequenceSpace as SequenceSpace
