"""`edgecil estimate`: what the accuracies of a few orders say about all of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from edgecil.cli.judging import add_judging_options, judge_source
from edgecil.cli.output import console, note, print_json, print_table
from edgecil.errors import EdgecilError

if TYPE_CHECKING:
    from edgecil.estimation import AverageCloseness, DatasetAnalysis, MethodAnalysis, Ranking, Run

NAME = "analyze"
HELP = "distributions, distances, normality, correlation and ranking from accuracies"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the accuracies are, and what to predict them with."""
    add_judging_options(parser)
    parser.add_argument("--csv", metavar="FILE", help="also write the runs as CSV")


def run(args: argparse.Namespace) -> None:
    """Judge every dataset of the source."""
    if args.csv is not None:
        _export(args)
    found = judge_source(args)
    from edgecil.io.json import to_plain

    judgements = [judged.judgement for judged in found]
    if args.json:
        print_json({"datasets": [to_plain(judgement) for judgement in judgements]})
    else:
        for judgement in judgements:
            _show(judgement)
    for judged in found:
        for sentence in judged.remarks:
            note(sentence)


def _export(args: argparse.Namespace) -> None:
    """Write the runs with the ids that their classes have in the dataset, as a CSV is read."""
    from edgecil.classes import get_classes
    from edgecil.estimation import read_accuracies, write_accuracies

    runs: list[Run] = []
    for table in read_accuracies(args.source):
        numbered = table
        if table.names is not None:
            try:
                numbered = table.numbered_by(get_classes(table.dataset).labels)
            except EdgecilError as error:
                note(
                    f"The class ids in {args.csv} are the run's own, 0 to {len(table.names) - 1}, "
                    f"and no labels of a dataset; judge it with --similarity FILE. {error}"
                )
        runs += numbered.runs
    write_accuracies(runs, args.csv)


def _show(judgement: DatasetAnalysis) -> None:
    screen = console()
    for name, method in judgement.methods.items():
        screen.print(f"{name} on {judgement.dataset}: {_told(method)}", style="bold", markup=False)
        for warning in method.warnings:
            screen.print(f"Warning: {warning}", style="bold yellow", markup=False)
        _show_estimates(method)
        _show_averages(method)
        _show_predictors(method)
    _show_ranking(judgement)
    for first, others in judgement.comparisons.items():
        for second, found in others.items():
            screen.print(
                f"{first} minus {second}: {found.difference:+.2f} points over {found.n} orders; "
                f"better on {found.probability_of_improvement:.0%} of them (ties half)",
                markup=False,
            )


def _told(method: MethodAnalysis) -> str:
    """The truth, normality and variance in one line."""
    parts = ["no truth is known"]
    if method.truth is not None:
        true, n = method.truth, len(method.truth.sequences)
        over = f"{n} random orders, which stand for Ω"
        if method.truth.kind == "enumerated":
            some = f"{n} of " if n < method.truth.space_size else ""
            over = f"{some}all {method.truth.space_size} orders"
        parts = [f"{true.mean:.2f} ± {true.std:.2f}, {true.min:.2f} to {true.max:.2f}, over {over}"]
    normality = method.normality
    if normality.shapiro_p is not None:
        parts.append(
            f"Box–Cox λ {normality.boxcox_lambda:.2f}, Shapiro–Wilk p {normality.shapiro_p:.2f}"
        )
    else:
        parts.append(f"normality n/a ({normality.reason})")
    if method.variance is not None:
        share = method.variance.order_share
        parts.append(
            f"variance due to the order n/a ({method.variance.reason})"
            if share is None
            else f"{share:.0%} of the variance is due to the order "
            f"({method.variance.repeated_orders} orders were trained with several seeds)"
        )
    return "; ".join(parts)


def _show_estimates(method: MethodAnalysis) -> None:
    rows = []
    for protocol, estimates in method.estimates.items():
        for estimator, judged in estimates.items():
            if judged.estimate is None:
                continue
            made, near = judged.estimate, judged.closeness
            numbers = (made.distribution.mean, made.distribution.std, made.min, made.max)
            rows.append(
                (
                    protocol,
                    str(judged.runs),
                    estimator,
                    *(f"{number:.2f}" for number in numbers),
                    "n/a" if near is None else f"{near.jsd:.3f}",
                    "n/a" if near is None else f"{near.wasserstein:.2f}",
                )
            )
    if rows:
        columns = ("as run", "runs", "estimate", "mean", "std", "min", "max", "JSD", "W₁")
        print_table(columns, rows, right=(columns[1], *columns[3:]))


def _show_averages(method: MethodAnalysis) -> None:
    rows = [
        (
            protocol,
            estimator,
            f"all {found.draws}" if found.exhaustive else str(found.draws),
            _with_noise(found, "jsd", 3),
            _with_noise(found, "wasserstein", 2),
            _with_noise(found, "min_error", 2),
            _with_noise(found, "max_error", 2),
        )
        for protocol, by_estimator in method.averages.items()
        for estimator, found in by_estimator.items()
    ]
    if rows:
        errors = ("|error of min|", "|error of max|")
        columns = ("on average", "estimate", "draws", "JSD", "W₁", *errors)
        print_table(columns, rows, right=columns[2:])


def _with_noise(found: AverageCloseness, measure: str, digits: int) -> str:
    """A mean over draws and, where it is not exact, its standard error."""
    told = f"{getattr(found, measure):.{digits}f}"
    if found.exhaustive or found.standard_errors is None:
        return told
    return f"{told} ± {found.standard_errors[measure]:.{digits}f}"


def _show_predictors(method: MethodAnalysis) -> None:
    rows: list[tuple[str, ...]] = []
    reasons: set[str] = set()
    for name, found in method.correlations.items():
        if found.pearson is None or found.spearman is None:
            rows.append((name, "n/a", "", "n/a", str(found.n)))
            reasons.add(found.reason or "not known")
            continue
        interval = found.pearson_interval
        around = "" if interval is None else f"[{interval[0]:+.2f}, {interval[1]:+.2f}]"
        rows.append((name, f"{found.pearson:+.2f}", around, f"{found.spearman:+.2f}", str(found.n)))
    if rows:
        columns = ("predictor", "Pearson", "95 %", "Spearman", "orders")
        print_table(columns, rows, right=columns[1:])
    for reason in sorted(reasons):
        console().print(f"n/a: {reason}", markup=False)


def _show_ranking(judgement: DatasetAnalysis) -> None:
    """Ranks of every method by worst order, best order and steadiness, and how far they are off."""
    methods = list(judgement.methods)
    if len(methods) < 2:
        return
    rows = []
    if judgement.true_ranking is not None:
        rows.append(("truth", "", "", "", "", *_ranks(judgement.true_ranking, methods)))
    for protocol, by_estimator in judgement.rankings.items():
        for estimator, found in by_estimator.items():
            average = found.average
            errors = (
                "" if found.error is None else f"{found.error:g}",
                "" if average is None else f"{average.error:.1f}",
                "" if average is None else f"{average.correct_share:.0%}",
            )
            rows.append((protocol, estimator, *errors, *_ranks(found.ranking, methods)))
    console().print(
        "Ranks by worst order, best order and steadiness. Errors: Σ |rank − true rank| of the runs "
        "made, its mean over draws, and the share of draws without any.",
        markup=False,
    )
    columns = ("ranking by", "estimate", "error", "mean", "correct_share", *methods)
    print_table(columns, rows, right=columns[2:])


def _ranks(ranking: Ranking | None, methods: list[str]) -> list[str]:
    """A cell per method, such as 1, 2.5, 4."""
    if ranking is None:
        return [""] * len(methods)
    ranks = [ranking.lower, ranking.upper, ranking.stability]
    return [", ".join(f"{rank[name]:g}" for rank in ranks if name in rank) for name in methods]
