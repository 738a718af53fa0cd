"""The public names, which `lazy_loader` imports at their first use; the rest is in the stations."""

from . import (
    analysis as analysis,
    classes as classes,
    experiments as experiments,
    interop as interop,
    lab as lab,
    paper as paper,
    report as report,
    sequences as sequences,
    similarity as similarity,
)
from ._version import __version__ as __version__
from .analysis import Analysis as Analysis
from .analysis.analysis import analyze as analyze
from .analysis.comparison import compare as compare
from .analysis.next_runs import next_runs as next_runs
from .analysis.sources import export_runs as export_runs
from .classes import register_classes as register_classes
from .errors import (
    DataError as DataError,
    EdgecilError as EdgecilError,
    EdgecilWarning as EdgecilWarning,
    PrerequisiteError as PrerequisiteError,
    UsageError as UsageError,
)
from .experiments import (
    Data as Data,
    Execution as Execution,
    Experiment as Experiment,
    Training as Training,
    TrainingFailedError as TrainingFailedError,
)
from .methods import Method as Method, register_method as register_method
from .report import write_report as write_report
from .runs.reading import read as read
from .search import search_orders as search_orders
from .sequences import (
    ClassSequence as ClassSequence,
    Protocol as Protocol,
    SequenceSpace as SequenceSpace,
    choose_sequences as choose_sequences,
    protocol as protocol,
    register_protocol as register_protocol,
)
from .similarity import (
    SimilarityMatrix as SimilarityMatrix,
    SimilaritySource as SimilaritySource,
    build_similarity as build_similarity,
)
from .training.check import check as check
from .training.run import run as run
