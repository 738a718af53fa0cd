"""The names of this station, which `lazy_loader` imports at their first use."""

from .analysis import (
    Analysis as Analysis,
    AnalysisOptions as AnalysisOptions,
    DatasetAnalysis as DatasetAnalysis,
    MethodAnalysis as MethodAnalysis,
    PredictorSummary as PredictorSummary,
    analyze as analyze,
)
from .claims import Claim as Claim, Claims as Claims
from .comparison import (
    Comparison as Comparison,
    MethodComparison as MethodComparison,
    compare as compare,
    compare_pairs as compare_pairs,
    holm as holm,
)
from .correlation import (
    Correlation as Correlation,
    Predictor as Predictor,
    correlate as correlate,
    objective_predictor as objective_predictor,
)
from .next_runs import NextRuns as NextRuns, NextStep as NextStep
from .samples import Truth as Truth, find_truth as find_truth
