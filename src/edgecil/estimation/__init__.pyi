from .analysis import (
    Analysis as Analysis,
    AnalysisOptions as AnalysisOptions,
    DatasetAnalysis as DatasetAnalysis,
    MethodAnalysis as MethodAnalysis,
    PredictorSummary as PredictorSummary,
    analyze as analyze,
)
from .claims import Answer as Answer, Claim as Claim
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
from .distributions import Distribution as Distribution
from .next_runs import NextRuns as NextRuns, NextStep as NextStep
from .samples import Truth as Truth, find_truth as find_truth
from .variance import OrderEffect as OrderEffect, split_variance as split_variance
