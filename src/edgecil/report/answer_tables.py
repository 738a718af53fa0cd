"""Tables of single answers: results of a run, a space, a profile, sequences, lists of entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.engine.describe import describe_plan, describe_status
from edgecil.engine.metrics import METRICS
from edgecil.io.csv_files import Cell
from edgecil.io.duration import format_duration
from edgecil.report.claim_tables import explain_goal
from edgecil.report.table import Column, Table

if TYPE_CHECKING:
    from edgecil.engine.plan_run import RunPlan
    from edgecil.engine.protocol_results import ExperimentResults, ProtocolResults
    from edgecil.engine.status import ProtocolStatus, Status
    from edgecil.paper import SpaceSummary, Theorem3
    from edgecil.paper.published import PublishedRanking
    from edgecil.sequences import Agreement, Profile, ScoredSequence
    from edgecil.similarity.summary import SimilaritySummary

_CRITERIA = {"lower": "worst order", "upper": "best order", "stability": "stability"}
_SHOWN = 50  # tasks of a sequence, and classes of a task
_EXPLAINED = {
    "order_share": (
        "order share: per cent of the variance between single trainings that is due to the class "
        "order, on all orders of six drawings (setup fast); the rest is training noise. "
        "–: not measured yet, or nothing varies."
    )
}


def make_table(
    columns: Iterable[Column | str],
    rows: Iterable[Sequence[Cell]],
    *,
    title: str = "",
    caption: str = "",
    name: str = "answer",
) -> Table:
    """A table from columns and rows; a plain title makes a column of text."""
    made = (Column(column) if isinstance(column, str) else column for column in columns)
    return Table(name, title, caption, tuple(made), tuple(map(tuple, rows)))


def entry_table(title: str, entries: Iterable[Any], *fields: str) -> Table:
    """A row per entry with these fields; truth values are yes or no, lists and mappings text."""
    return make_table(
        (title, *(field.replace("_", " ") for field in fields[1:])),
        ([_cell(getattr(it, field)) for field in fields] for it in entries),
        caption=" ".join(_EXPLAINED[field] for field in fields if field in _EXPLAINED),
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {own}" for name, own in _flat(value) if name != "recipe")
    return f"{', '.join(value)}, …" if isinstance(value, tuple) else value


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting as text; the name of one inside another has a dot: memory.per_class."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name != "recipe":
            yield from _flat(value, f"{before}{name}.")
        elif value is not None:
            listed = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
            plain = f"[{listed}]" if isinstance(value, (list, tuple)) else str(listed)
            yield f"{before}{name}", plain.lower() if isinstance(value, bool) else plain


def results_table(results: Iterable[ProtocolResults], metric: str = "accuracy") -> Table:
    """Mean, standard deviation and range of a metric, by method and protocol."""
    label, meaning = METRICS[metric].label, METRICS[metric].description
    meaning = meaning[0].lower() + meaning[1:]
    mean = f"mean {label}"
    numbers = (Column(title, 2) for title in (mean, "std", "min", "max"))
    rows = []
    for part in results:
        some = "" if part.finished == part.planned else f" of {part.planned}"
        sequences = f"{part.finished}{some}"
        rows.append(
            (part.method, part.protocol, sequences, part.mean, part.std, part.min, part.max)
        )
    return make_table(
        ("method", "protocol", Column("sequences", 0), *numbers),
        rows,
        caption=f"{label}: {meaning} std: population standard deviation over the sequences.",
    )


def ranking_tables(ranking: PublishedRanking) -> Iterator[Table]:
    """Ranks of the methods by each protocol, and what each protocol's orders reach."""
    protocols = tuple(ranking.rankings)
    rows: list[tuple[Cell, ...]] = []
    for criterion, title in _CRITERIA.items():
        by = {name: getattr(own, criterion) for name, own in ranking.rankings.items()}
        for method in by[protocols[0]]:
            rows.append((title, method, *(by[name][method] for name in protocols)))
    if ranking.errors:
        errors = (ranking.errors.get(name) for name in protocols)
        rows.append(("ranking error", "all", *errors))
    columns = (Column("by"), Column("method"), *(Column(name, 1) for name in protocols))
    caption = "1 is the best. The error is Σ |rank − true rank| over methods and criteria."
    yield make_table(columns, rows, title=ranking.dataset, caption=caption)
    if ranking.reach:
        numbers = (Column("methods", 0), Column("range", 2), Column("lowest min", 0))
        last = (Column("highest max", 0), Column("covered", 2))
        reached = [
            (name, own.methods, own.range, own.lowest, own.highest, own.covered)
            for name, own in ranking.reach.items()
        ]
        about = (
            "Mean distance between lowest and highest accuracy in points, for how many methods no "
            "other protocol reaches lower or higher, and the share of the true range."
        )
        yield make_table((Column("protocol"), *numbers, *last), reached, caption=about)


def status_table(parts: Iterable[ProtocolStatus]) -> Table:
    """Finished, planned and failed runs, by method and protocol."""
    numbers = (Column(title, 0) for title in ("finished", "planned", "failed"))
    rows = ((it.method, it.protocol, it.finished, it.planned, it.failed) for it in parts)
    return make_table(("method", "protocol", *numbers), rows)


def show_results(answer: ExperimentResults) -> Iterator[Table | str]:
    """A row per method and protocol, and the work done or planned."""
    if answer.plan is not None:
        yield from plan_tables(answer.plan)
        return
    yield results_table(answer.results, answer.metric)
    unit = answer.unit.removesuffix("s") if answer.trained == 1 else answer.unit
    work = f"Trained {answer.trained} {unit}, reused {answer.reused}. "
    yield f"{work if answer.trained or answer.reused else ''}Results: {answer.directory}"
    if answer.goal is not None:
        yield from explain_goal(answer.goal)


def show_status(status: Status) -> Iterator[Table | str]:
    """Finished and planned runs, the trainings under way, and the time left."""
    yield status_table(status.parts)
    yield from describe_status(status)


def plan_tables(plan: RunPlan) -> Iterator[Table | str]:
    """The task trainings of a planned run by method, its expected time and disk space."""
    numbers = (Column(title, 0) for title in ("runs", "tasks", "saved by sharing", "stored"))
    rows = (
        (
            part.method,
            part.runs,
            part.tasks,
            part.shared,
            part.stored,
            "unknown" if part.seconds is None else format_duration(part.seconds),
        )
        for part in plan.methods
    )
    yield make_table(("method", *numbers, "training time"), rows)
    yield from describe_plan(plan)


def profile_table(profile: Profile) -> Table:
    """S, the similarity inside and between tasks, and every other objective."""
    rows: list[tuple[Cell, ...]] = [
        ("S", profile.score, profile.z),
        ("mean similarity inside a task", profile.intra, ""),
        ("… to the next task", profile.lag1, ""),
        ("… to the task after that", profile.lag2, ""),
        ("… to any other task", profile.inter, ""),
    ]
    for name, value in profile.objectives.items():
        if name != "adjacent":
            rows.append((f"objective {name}", value["value"], value["z"]))
    return make_table(("", Column("value", 4), Column("exact z", 2, signed=True)), rows)


def similarity_tables(answer: SimilaritySummary) -> Iterator[Table | str]:
    """Mean similarity, and the most and least similar pairs of classes."""
    from edgecil.classes import words_of

    source = ", ".join(f"{key} {value}" for key, value in answer.source.items())
    yield f"{answer.classes} classes, similarity {answer.mean:.3f} ± {answer.std:.3f} ({source})\n"
    for title, pairs in (("most", answer.most_similar), ("least", answer.least_similar)):
        rows = ((it.similarity, " – ".join(map(words_of, it.classes))) for it in pairs)
        yield make_table((Column("", 3), f"{title} similar"), rows)
    if answer.out is not None:
        yield f"Saved to {answer.out}"


def agreement_table(agreement: Agreement) -> Table:
    """Error, rank correlation and consistency of two similarities."""
    rho = "undefined (a matrix is constant)"
    if agreement.spearman is not None:
        tested = f"p = {agreement.p_value:.4f}, {agreement.permutations} permutations"
        rho = f"{agreement.spearman:.3f} ({tested})"
    rows = [("mean absolute error", f"{agreement.mae:.4f}"), ("Spearman ρ", rho)]
    for goal, csg in agreement.csg.items():
        rows.append((f"CSG {goal}", f"{csg.position:.2f} by position, {csg.matched:.2f} matched"))
    return make_table((f"{agreement.left} and {agreement.right}", ""), rows)


def sequence_table(run: ScoredSequence, names: Sequence[str]) -> Table:
    """The tasks of a sequence in class names, below S, z and how close it is to the optimum."""
    from edgecil.classes import words_of

    title = f"{run.label}   S = {run.profile.score:.4f}   z = {run.profile.z:+.2f}"
    if (optimum := run.certificate) is not None:
        if optimum.objective != "adjacent":
            z = run.profile.objectives[optimum.objective]["z"]
            title += f"   {optimum.objective} = {optimum.value:.4f}   z = {z:+.2f}"
        title += (
            "   (optimal)" if optimum.exact else f"   (gap to a proven bound: {optimum.gap:.0%})"
        )
    rows = []
    for number, task in enumerate(run.tasks[:_SHOWN], 1):
        hidden = f" … and {len(task) - _SHOWN} more" if len(task) > _SHOWN else ""
        words = ", ".join(words_of(names[class_]) for class_ in task[:_SHOWN])
        rows.append((number, words + hidden))
    more = len(run.tasks) - _SHOWN
    caption = f"… and {more} more tasks" if more > 0 else ""
    return make_table((Column("task", 0), "classes"), rows, title=title, caption=caption)


def space_tables(summary: SpaceSummary) -> Iterator[Table]:
    """The size of a space, bounds on the sample size, and what a few random runs miss."""
    size, runs = summary.size, f"{summary.budget} random runs"
    digits = f"about 10^{summary.log10_size:.2f} ({len(size)} digits)"
    enough = f"runs for ε = {summary.epsilon:g}, δ = {summary.delta:g}"
    rows: list[tuple[Cell, ...]] = []
    for bound in summary.bounds:
        beside = (
            f", with {bound.extreme_runs} more runs of extreme orders" if bound.extreme_runs else ""
        )
        least = "all sequences" if bound.runs is None else f"{bound.runs:,}"
        epsilon = None if bound.epsilon is None else f"{bound.epsilon:.3f}"
        if bound.epsilon is not None and bound.epsilon >= bound.accuracy_range:
            epsilon = f"{epsilon} (no information)"
        rows.append((bound.title + beside, f"range {bound.accuracy_range:g}", least, epsilon))
    columns = (
        "bound",
        "accuracies",
        Column(enough, 0),
        Column(f"ε after {summary.budget} runs", 0),
    )
    title = f"|Ω| = {size if len(size) <= 30 else digits}"
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
    """What Theorem 3 and its proof state, and what holds."""
    first, second = checked.expected_stated
    rows: list[tuple[Cell, ...]] = [
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
