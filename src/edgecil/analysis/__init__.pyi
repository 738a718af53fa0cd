"""The names of this station, which `lazy_loader` imports at their first use."""

from .analysis import analyze as analyze
from .answers import (
    Analysis as Analysis,
    AnalysisOptions as AnalysisOptions,
    DatasetAnalysis as DatasetAnalysis,
    MethodAnalysis as MethodAnalysis,
    PredictorSummary as PredictorSummary,
)
from .claims import Claim as Claim, Claims as Claims
from .comparison import MethodComparison as MethodComparison, compare as compare
from .correlation import (
    Correlation as Correlation,
    Predictor as Predictor,
    correlate as correlate,
    objective_predictor as objective_predictor,
)
from .estimate import Estimate as Estimate
from .next_runs import (
    DatasetNextRuns as DatasetNextRuns,
    NextRuns as NextRuns,
    NextStep as NextStep,
)
from .pair_verdicts import (
    Comparison as Comparison,
    OverallComparison as OverallComparison,
    compare_tables as compare_tables,
    holm as holm,
)
from .samples import Truth as Truth, find_truth as find_truth
