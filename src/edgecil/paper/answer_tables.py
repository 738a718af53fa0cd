"""The tables of the verbs `python -m edgecil.paper rank` and `python -m edgecil.paper space`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from edgecil.io.csv_files import CsvCell
from edgecil.paper._space import SpaceSummary
from edgecil.paper.similarity_error import Theorem3
from edgecil.report.table import Column, Table, make_table

if TYPE_CHECKING:
    from edgecil.paper._normality import Normality
    from edgecil.paper.agreement import Agreement
    from edgecil.paper.published_summaries import PublishedRanking
    from edgecil.sequences import Profile

_CRITERIA = {"lower": "worst order", "upper": "best order", "stability": "stability"}


def ranking_tables(rankings: Sequence[PublishedRanking]) -> Iterator[Table]:
    """Yield the ranks of the methods by each protocol, and the range of each protocol's orders."""
    for ranking in rankings:
        protocols = tuple(ranking.rankings)
        rows: list[tuple[CsvCell, ...]] = []
        for criterion, title in _CRITERIA.items():
            ranks_by_protocol = [ranks[criterion] for ranks in ranking.rankings.values()]
            for method in ranks_by_protocol[0]:
                ranks_of_method = [ranks[method] for ranks in ranks_by_protocol]
                rows.append((title, method, *ranks_of_method))
        if ranking.errors:
            errors = (ranking.errors.get(name) for name in protocols)
            rows.append(("ranking error", "all", *errors))
        columns = (Column("by"), Column("method"), *(Column(name, 1) for name in protocols))
        caption = "1 is the best. The error is Σ |rank − true rank| over methods and criteria."
        yield make_table(columns, rows, title=ranking.dataset, caption=caption)
        if ranking.reach:
            titles = ("methods", "range", "lowest min", "highest max", "covered")
            digits = (0, 2, 0, 0, 2)
            yield make_table(
                (Column("protocol"), *map(Column, titles, digits)),
                [(name, *astuple(reach)) for name, reach in ranking.reach.items()],
                caption="Mean distance between lowest and highest accuracy in points, for how many "
                "methods no other protocol reaches lower or higher, and the share of the true "
                "range.",
            )


def space_tables(summary: SpaceSummary) -> Iterator[Table]:
    """Yield the size of a space, bounds on the sample size, and what a few random runs miss."""
    size = summary.size
    runs = f"{summary.budget} random runs"
    digits = f"about 10^{summary.log10_size:.2f} ({len(size)} digits)"
    rows: list[tuple[CsvCell, ...]] = []
    for bound in summary.bounds:
        title = bound.title
        if bound.extreme_runs:
            title += f", with {bound.extreme_runs} more runs of extreme orders"
        least = "all sequences" if bound.runs is None else f"{bound.runs:,}"
        epsilon = None if bound.epsilon is None else f"{bound.epsilon:.3f}"
        if bound.epsilon is not None and bound.epsilon >= bound.accuracy_range:
            epsilon = f"{epsilon} (no information)"
        rows.append((title, f"range {bound.accuracy_range:g}", least, epsilon))
    enough = Column(f"runs for ε = {summary.epsilon:g}, δ = {summary.delta:g}", 0)
    columns = ("bound", "accuracies", enough, Column(f"ε after {summary.budget} runs", 0))
    title = f"|Ω| = {size if len(size) <= 30 else digits}"
    if summary.given_tasks:
        title += f" task orders ({len(summary.given_tasks)}!)"
    yield make_table(columns, rows, title=title, name="bounds")
    titles = ("share of orders, if normal", f"{runs} miss them", "runs to hit (p = 0.95)")
    rows = [
        (
            f"{tail.deviations:.0f} std",
            f"{tail.share:.2%}",
            f"p = {tail.miss_probability:.3f}",
            None if tail.runs_to_hit is None else f"{tail.runs_to_hit:,}",
        )
        for tail in summary.tails
    ]
    yield make_table(("beyond", *(Column(title, 0) for title in titles)), rows, name="tails")
    seen = summary.seen
    rows = [
        ("expected share of orders between the worst and the best", f"≥ {seen.share_inside:.1%}"),
        ("probability that a new order is worse than all", f"≤ {seen.worse_probability:.1%}"),
        ("share of orders no worse than the worst (95 %)", f"{seen.share_not_worse:.1%}"),
        ("runs until 95 % of orders are no worse (95 %)", f"{seen.runs_one_sided:,}"),
        ("runs until 95 % of orders lie between (95 %)", f"{seen.runs_two_sided:,}"),
    ]
    yield make_table((f"{runs}, any distribution", Column("", 0)), rows, name="seen")
    if summary.greedy is not None:
        rows = [(row, f"{getattr(summary.greedy, name):.4g}") for name, row in _GREEDY.items()]
        columns_ = ("greedy bound (Theorem 4)", Column("", 0))
        yield make_table(columns_, rows, caption=summary.greedy.caveat, name="greedy")
    if summary.theorem_3 is not None:
        yield _theorem_3_table(summary.theorem_3)


_GREEDY = {
    "mean_similarity": "S̄, mean similarity of classes of different tasks",
    "max_similarity": "U, upper bound on similarities",
    "expected": "E[S] of a random order, as stated",
    "expected_score": "E[S] of a random order, true value",
    "ceiling": "bound on S of the greedy order, as stated",
    "delta": "Δ, as stated: the difference of E[S] and the bound",
    "delta_proved": "Δ, as the proof ends",
    "threshold": "S̄ above which Δ > 0, as stated",
    "probability": "probability of the claim, at least, as stated",
}


def _theorem_3_table(checked: Theorem3) -> Table:
    """Return a table of the statements of Theorem 3 and its proof, beside measurements."""
    first, second = checked.expected_stated
    rows: list[tuple[CsvCell, ...]] = [
        ("E[S(O_r)]", f"{first:.3f}, then {second:.3f}", f"{checked.expected:.3f}"),
        (
            "largest change of S by a swap of two tasks",
            f"{checked.swap_stated:.3f}",
            f"{checked.swap_measured:.3f}",
        ),
        (
            "P(S(O_h) ≤ S(O_r) ≤ S(O_e)) is at least",
            f"{checked.probability_stated:.2f}",
            "1 (by definition)",
        ),
        (
            "P(|S(O_r) - E[S]| ≥ std) is at most",
            f"{checked.tail_stated:.2g}",
            f"{checked.tail_measured:.2g}",
        ),
        ("orders with less error than O_e", "none", f"{checked.less_error_than_easy:.1%}"),
        ("orders with more error than O_h", "none", f"{checked.more_error_than_hard:.1%}"),
    ]
    caption = (
        "O_h and O_e: the hard and the easy sequence of 'edge'; O_r: a random one. Error: by the "
        "whole lemma of Lin et al., of which the theorem keeps neighbouring tasks only."
    )
    columns = ("Theorem 3", Column("stated", 0), Column("measured", 0))
    return make_table(columns, rows, caption=caption, name="theorem-3")


def normality_tables(datasets: Mapping[str, Mapping[str, Normality]]) -> Iterator[Table]:
    """Yield the tests of each dataset's methods."""
    names = ("Shapiro-Wilk", "D'Agostino", "Kolmogorov-Smirnov")
    tests = [Column(name, 3) for name in names]
    for dataset, methods in datasets.items():
        yield make_table(
            (Column("method"), Column("λ", 2), *tests, Column("not tested because")),
            [(name, *astuple(normality)) for name, normality in methods.items()],
            title=f"Tests of normality on {dataset}" if dataset else "Tests of normality",
            caption="p-values after a Box-Cox transformation with parameter λ; a small value is "
            "evidence against a normal distribution.",
            name="normality",
        )


def agreement_tables(agreements: Sequence[Agreement]) -> Iterator[Table]:
    """Yield error, rank correlation and consistency of pairs of similarities."""
    for agreement in agreements:
        rho = "undefined (a matrix is constant)"
        if agreement.spearman is not None:
            test = f"p = {agreement.p_value:.4f}, {agreement.permutations} permutations"
            rho = f"{agreement.spearman:.3f} ({test})"
        rows = [("mean absolute error", f"{agreement.mae:.4f}"), ("Spearman ρ", rho)]
        for goal, csg in agreement.csg.items():
            shares = f"{csg.position:.2f} by position, {csg.matched:.2f} matched"
            rows.append((f"CSG {goal}", shares))
        yield make_table((f"{agreement.left} and {agreement.right}", ""), rows)


def profile_tables(profile: Profile) -> Iterator[Table]:
    """Yield a table of S and every other objective."""
    rows: list[tuple[CsvCell, ...]] = [("S", profile.score, profile.z)]
    for name, value in profile.objectives.items():
        if name != "adjacent":
            rows.append((f"objective {name}", value["value"], value["z"]))
    yield make_table(("", Column("value", 4), Column("exact z", 2, signed=True)), rows)
