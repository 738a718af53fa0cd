"""From a few accuracies to their distribution over class orders, and how far to trust it."""

from edgecil.engine.run_files import read_runs, write_runs
from edgecil.engine.runs import Orders, Runs
from edgecil.estimation.analysis import (
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    MethodAnalysis,
    PredictorSummary,
)
from edgecil.estimation.analyze import analyze
from edgecil.estimation.analyze_table import analyze_table
from edgecil.estimation.claims import Answer, Claim
from edgecil.estimation.compare import MethodComparison, compare
from edgecil.estimation.comparison import Comparison, compare_accuracies, compare_pairs, holm
from edgecil.estimation.correlation import Correlation, correlate
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.next_runs import NextRuns, next_runs
from edgecil.estimation.next_step import NextStep
from edgecil.estimation.predictors import (
    Predictor,
    column_predictor,
    objective_predictor,
    pilot_predictor,
)
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import OrderEffect, split_variance

__all__ = [
    "Analysis",
    "AnalysisOptions",
    "Answer",
    "Claim",
    "Comparison",
    "Correlation",
    "DatasetAnalysis",
    "Distribution",
    "MethodAnalysis",
    "MethodComparison",
    "NextRuns",
    "NextStep",
    "OrderEffect",
    "Orders",
    "Predictor",
    "PredictorSummary",
    "Runs",
    "Truth",
    "analyze",
    "analyze_table",
    "column_predictor",
    "compare",
    "compare_accuracies",
    "compare_pairs",
    "correlate",
    "find_truth",
    "holm",
    "next_runs",
    "objective_predictor",
    "pilot_predictor",
    "read_runs",
    "split_variance",
    "write_runs",
]
