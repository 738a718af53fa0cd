"""From a few accuracies to their distribution over class orders, and how far to trust it."""

from edgecil.engine.accuracies import AccuracyTable, OrderAccuracies, Run
from edgecil.engine.accuracy_files import read_accuracies, write_accuracies
from edgecil.estimation.analysis import (
    Analysis,
    AnalysisOptions,
    DatasetAnalysis,
    MethodAnalysis,
    PredictorSummary,
    ProtocolEstimate,
    ProtocolRanking,
)
from edgecil.estimation.analyze import analyze
from edgecil.estimation.analyze_table import analyze_table
from edgecil.estimation.budgets import BudgetPoint, OutsideRange, budget_curve, count_outside
from edgecil.estimation.claims import Answer, Claim
from edgecil.estimation.closeness import (
    AverageCloseness,
    Closeness,
    average_closeness,
    closeness,
)
from edgecil.estimation.compare import MethodComparison, compare
from edgecil.estimation.comparison import Comparison, compare_accuracies, compare_pairs, holm
from edgecil.estimation.correlation import Correlation, correlate
from edgecil.estimation.distances import grid, jensen_shannon, wasserstein
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.estimators import (
    ESTIMATORS,
    Estimate,
    Estimator,
    Observations,
    default_estimator,
    get_estimator,
)
from edgecil.estimation.next_runs import NextRuns, next_runs
from edgecil.estimation.next_step import NextStep
from edgecil.estimation.normality import Normality, check_normality
from edgecil.estimation.placebo import ProtocolComparison, Ratio, compare_protocols
from edgecil.estimation.predictors import (
    Predictor,
    column_predictor,
    objective_predictor,
    pilot_predictor,
)
from edgecil.estimation.ranking import (
    AverageRanking,
    Ranking,
    average_ranking,
    rank,
    ranking_error,
)
from edgecil.estimation.redraws import RedrawnEstimates
from edgecil.estimation.truth import Truth, find_truth
from edgecil.estimation.variance import OrderEffect, split_variance

__all__ = [
    "ESTIMATORS",
    "AccuracyTable",
    "Analysis",
    "AnalysisOptions",
    "Answer",
    "AverageCloseness",
    "AverageRanking",
    "BudgetPoint",
    "Claim",
    "Closeness",
    "Comparison",
    "Correlation",
    "DatasetAnalysis",
    "Distribution",
    "Estimate",
    "Estimator",
    "MethodAnalysis",
    "MethodComparison",
    "NextRuns",
    "NextStep",
    "Normality",
    "Observations",
    "OrderAccuracies",
    "OrderEffect",
    "OutsideRange",
    "Predictor",
    "PredictorSummary",
    "ProtocolComparison",
    "ProtocolEstimate",
    "ProtocolRanking",
    "Ranking",
    "Ratio",
    "RedrawnEstimates",
    "Run",
    "Truth",
    "analyze",
    "analyze_table",
    "average_closeness",
    "average_ranking",
    "budget_curve",
    "check_normality",
    "closeness",
    "column_predictor",
    "compare",
    "compare_accuracies",
    "compare_pairs",
    "compare_protocols",
    "correlate",
    "count_outside",
    "default_estimator",
    "find_truth",
    "get_estimator",
    "grid",
    "holm",
    "jensen_shannon",
    "next_runs",
    "objective_predictor",
    "pilot_predictor",
    "rank",
    "ranking_error",
    "read_accuracies",
    "split_variance",
    "wasserstein",
    "write_accuracies",
]
