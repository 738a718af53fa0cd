"""From a judgement to tables: one function for each table of the report."""

from __future__ import annotations

from edgecil.estimation import MethodAnalysis, ProtocolRanking, default_estimator
from edgecil.report.evidence import Evidence, slug
from edgecil.report.tables import Cell, Column, Table
from edgecil.report.words import PAPER, found_range, of_default_estimator
from edgecil.sequences.sequence import ClassSequence

_MOST_RUNS = 12
_CRITERIA = (("lower", "worst order"), ("upper", "best order"), ("stability", "stability"))


def tabulate_ranges(evidence: Evidence) -> Table:
    """The short answer: the true range, how much of it each protocol finds, and r."""
    methods, protocols = evidence.judgement.methods, evidence.compared
    rows: list[tuple[Cell, ...]] = []
    for name, method in methods.items():
        true: list[Cell] = [None] * 3
        if method.truth is not None:
            low, high = evidence.ends(name)
            true = [low, high, high - low]
        found = [_width(method, protocol) for protocol in protocols]
        rows.append((name, *true, *found, _pearson(method)))
    table = Table(
        "ranges",
        "Accuracy of the worst and the best order, their distance in points, and how much of it "
        "each protocol finds (on average over draws of its random part); r: correlation of "
        f"accuracy with {evidence.predictor_name}.",
        (
            Column("method"),
            *(Column(title, 1) for title in ("worst", "best", "range")),
            *(Column(f"{protocol} finds", 1) for protocol in protocols),
            Column("r", 2, signed=True),
        ),
        tuple(rows),
    )
    if any(method.truth is not None for method in methods.values()):
        return table
    return Table(
        "ranges",
        "Distance of the worst and the best accuracy that each protocol found, in points.",
        (table.columns[0], *table.columns[4:-1]),
        tuple((row[0], *row[4:-1]) for row in rows),
    )


def tabulate_closeness(evidence: Evidence) -> Table:
    """Distance of every protocol's estimate from the truth, over draws and as it was run."""
    rows: list[tuple[Cell, ...]] = []
    for name, method in evidence.judgement.methods.items():
        for protocol in evidence.compared:
            average = of_default_estimator(method.averages, protocol)
            made = of_default_estimator(method.estimates, protocol)
            near = None if made is None else made.closeness
            if average is None and near is None:
                continue
            cells: list[Cell] = [None] * 7
            if average is not None:
                errors = average.standard_errors or {}
                cells = [
                    average.draws,
                    average.jsd,
                    errors.get("jsd"),
                    average.wasserstein,
                    errors.get("wasserstein"),
                    average.min_error,
                    average.max_error,
                ]
            once: list[Cell] = [None] * 4
            if near is not None:
                once = [near.jsd, near.wasserstein, abs(near.min_error), abs(near.max_error)]
            rows.append((name, protocol, default_estimator(protocol), *cells, *once))
    return Table(
        "closeness",
        "Distance from the truth: averaged over draws of what is random in a protocol with ± its "
        "standard error (0 where all possible draws were made), then of the one run that was made. "
        "JSD in nats, W₁ and the errors of the worst and the best order in points.",
        (
            Column("method"),
            Column("protocol"),
            Column("estimate"),
            Column("draws", 0),
            Column("JSD", 3),
            Column("± JSD", 4),
            Column("W₁", 2),
            Column("± W₁", 3),
            Column("worst", 2),
            Column("best", 2),
            Column("JSD, this run", 3),
            Column("W₁, this run", 2),
            Column("worst, this run", 2),
            Column("best, this run", 2),
        ),
        tuple(rows),
    )


def tabulate_estimates(evidence: Evidence) -> Table:
    """Every estimator's answer from every protocol's runs."""
    rows: list[tuple[Cell, ...]] = []
    for name, method in evidence.judgement.methods.items():
        for protocol, estimates in method.estimates.items():
            for estimator, judged in estimates.items():
                if judged.estimate is None:
                    continue
                made, average = judged.estimate, method.averages.get(protocol, {}).get(estimator)
                rows.append(
                    (
                        name,
                        protocol,
                        estimator,
                        made.distribution.mean,
                        made.distribution.std,
                        made.min,
                        made.max,
                        None if average is None else average.jsd,
                        None if average is None else average.wasserstein,
                    )
                )
    return Table(
        "estimates",
        "What each estimator makes of each protocol's runs, in per cent, and its mean distance "
        "from the truth over draws where the truth is known.",
        (
            Column("method"),
            Column("protocol"),
            Column("estimator"),
            *(Column(title, 2) for title in ("mean", "std", "worst", "best")),
            Column("JSD", 3),
            Column("W₁", 2),
        ),
        tuple(rows),
    )


def tabulate_rankings(evidence: Evidence) -> Table:
    """Ranks of the methods by three criteria: the true ones, and each protocol's."""
    judgement = evidence.judgement
    ranked = {
        protocol: found[PAPER] for protocol, found in judgement.rankings.items() if PAPER in found
    }
    rows: list[tuple[Cell, ...]] = []
    for criterion, title in _CRITERIA:
        for name in judgement.methods:
            true = judgement.true_ranking
            rows.append(
                (
                    title,
                    name,
                    None if true is None else getattr(true, criterion)[name],
                    *(
                        None if ranking is None else getattr(ranking, criterion).get(name)
                        for ranking in (found.ranking for found in ranked.values())
                    ),
                )
            )
    if any(found.error is not None or found.average is not None for found in ranked.values()):
        rows += _ranking_errors(list(ranked.values()))
    return Table(
        "rankings",
        "Ranks of the methods, 1 the best, by the worst and the best order's accuracy and by the "
        "standard deviation, from the one set of runs that each protocol made; below, how far that "
        "ranking is from the true one (Σ |rank − true rank|), and how far rankings are over draws "
        "of what is random in the protocol.",
        (
            Column("by"),
            Column("method"),
            Column("truth", 1),
            *(Column(protocol, 1) for protocol in ranked),
        ),
        tuple(rows),
    )


def _ranking_errors(ranked: list[ProtocolRanking]) -> list[tuple[Cell, ...]]:
    """Rows on how far each ranking is from the true one: as run, and over draws."""
    averages = [found.average for found in ranked]
    shares = [None if average is None else 100.0 * average.correct_share for average in averages]
    errors: dict[str, list[float | None]] = {
        "error of this run": [found.error for found in ranked],
        "mean error over draws": [None if found is None else found.error for found in averages],
        "draws without error, %": shares,
    }
    return [(title, "all", None, *cells) for title, cells in errors.items()]


def tabulate_comparisons(evidence: Evidence) -> Table:
    """Pairs of methods on the orders that both ran."""
    rows = []
    for first, others in evidence.judgement.comparisons.items():
        for second, found in others.items():
            low, high = found.interval or (None, None)
            better = 100.0 * found.probability_of_improvement
            rows.append(
                (first, second, found.n, found.difference, low, high, better, found.p_value)
            )
    return Table(
        "comparisons",
        "Two methods on the same orders: mean difference in points with its 95 % interval, on how "
        "many orders of a hundred the first is better, and Wilcoxon's p.",
        (
            Column("first"),
            Column("second"),
            Column("orders", 0),
            Column("difference", 2, signed=True),
            Column("from", 2, signed=True),
            Column("to", 2, signed=True),
            Column("first better, %", 0),
            Column("p", 4),
        ),
        tuple(rows),
    )


def tabulate_correlations(evidence: Evidence) -> Table:
    """What every predictor is worth for every method."""
    rows = []
    for name, method in evidence.judgement.methods.items():
        for predictor, found in method.correlations.items():
            low, high = found.pearson_interval or (None, None)
            rows.append((name, predictor, found.n, found.pearson, low, high, found.spearman))
    return Table(
        "correlations",
        "Correlation of accuracy with each predictor over the orders: Pearson's r with its 95 % "
        "interval, and Spearman's ρ; 'adjacent' is the paper's S.",
        (
            Column("method"),
            Column("predictor"),
            Column("orders", 0),
            *(Column(title, 2, signed=True) for title in ("r", "from", "to", "ρ")),
        ),
        tuple(rows),
    )


def tabulate_samples(evidence: Evidence) -> Table:
    """Distance from the truth as the number of runs grows."""
    return Table(
        "samples",
        "Mean distance of the paper's Gaussian from the truth with n runs, over many draws.",
        (Column("method"), Column("protocol"), Column("n", 0), Column("JSD", 3), Column("W₁", 2)),
        tuple(
            (name, protocol, point.budget, point.jsd, point.wasserstein)
            for name, method in evidence.judgement.methods.items()
            for protocol, points in method.by_budget.items()
            for point in points
        ),
    )


def tabulate_captures(evidence: Evidence) -> Table:
    """How many orders lie outside the ends that a protocol found."""
    return Table(
        "captures",
        "Orders whose accuracy lies outside the ends that a protocol's own runs found.",
        (
            Column("method"),
            Column("protocol"),
            Column("its worst", 1),
            Column("its best", 1),
            Column("orders below", 0),
            Column("orders above", 0),
            Column("of", 0),
        ),
        tuple(
            (name, protocol, found.low, found.high, found.below, found.above, found.n)
            for name, method in evidence.judgement.methods.items()
            for protocol, found in method.outside_range.items()
        ),
    )


def tabulate_normality(evidence: Evidence) -> Table:
    """Whether accuracies look normal, as the paper tests it."""
    return Table(
        "normality",
        "p-values of three tests of normality after a Box-Cox transformation; small ones speak "
        "against a Gaussian.",
        (
            Column("method"),
            Column("λ", 2),
            Column("Shapiro-Wilk", 3),
            Column("D'Agostino", 3),
            Column("Kolmogorov-Smirnov", 3),
            Column("why not"),
        ),
        tuple(
            (
                name,
                method.normality.boxcox_lambda,
                method.normality.shapiro_p,
                method.normality.dagostino_p,
                method.normality.ks_p,
                method.normality.reason,
            )
            for name, method in evidence.judgement.methods.items()
        ),
    )


def tabulate_sequences(evidence: Evidence, name: str) -> Table:
    """A method's runs with their class names: every protocol's, and the truth's worst and best."""
    rows: list[tuple[Cell, ...]] = []
    for protocol in evidence.protocols:
        orders = evidence.table.orders(name, protocol)
        for label, sequence, accuracy in list(
            zip(orders.labels, orders.sequences, orders.accuracies, strict=True)
        )[:_MOST_RUNS]:
            rows.append(_sequence_row(evidence, protocol, label, sequence, float(accuracy)))
    truth = evidence.judgement.methods[name].truth
    if truth is not None:
        for label, place in (
            ("worst", int(truth.accuracies.argmin())),
            ("best", int(truth.accuracies.argmax())),
        ):
            accuracy = float(truth.accuracies[place])
            rows.append(_sequence_row(evidence, "truth", label, truth.sequences[place], accuracy))
    return Table(
        f"sequences-{slug(name)}",
        f"Sequences that {name} ran (at most {_MOST_RUNS} of a protocol), tasks separated by |; z: "
        f"{evidence.predictor_name} in standard deviations from its mean over all orders.",
        (
            Column("protocol"),
            Column("label"),
            Column("z", 2, signed=True),
            Column("accuracy", 1),
            Column("classes"),
        ),
        tuple(rows),
    )


def _sequence_row(
    evidence: Evidence, protocol: str, label: str, sequence: ClassSequence, accuracy: float
) -> tuple[Cell, ...]:
    z = None if evidence.predictor is None else float(evidence.predictor.z([sequence])[0])
    return (protocol, label, z, accuracy, evidence.describe(sequence))


def _width(method: MethodAnalysis, protocol: str) -> float | None:
    ends = found_range(method, protocol)
    return None if ends is None else ends[1] - ends[0]


def _pearson(method: MethodAnalysis) -> float | None:
    return None if method.predictor is None else method.correlations[method.predictor].pearson
