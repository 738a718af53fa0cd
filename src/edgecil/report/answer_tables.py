"""Tables of single answers: results of a run, a space, a profile, sequences, lists of entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.engine.metrics import METRICS
from edgecil.io.csv_files import Cell
from edgecil.io.numbers import format_duration
from edgecil.report.claim_tables import explain_goal
from edgecil.report.table import Column, Table

if TYPE_CHECKING:
    from edgecil.engine.check import Check
    from edgecil.engine.protocol_results import ExperimentResults, ProtocolResults
    from edgecil.engine.status import ProtocolStatus
    from edgecil.sequences import Agreement, Profile, ScoredSequence
    from edgecil.similarity.summary import SimilaritySummary

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
        return ", ".join(f"{name} = {own}" for name, own in _flat(value) if name != "schedule")
    return f"{', '.join(value)}, …" if isinstance(value, tuple) else value


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting as text; the name of one inside another has a dot: memory.per_class."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name != "schedule":
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


def status_table(parts: Iterable[ProtocolStatus]) -> Table:
    """Finished, planned and failed runs, by method and protocol."""
    numbers = (Column(title, 0) for title in ("finished", "planned", "failed"))
    rows = ((it.method, it.protocol, it.finished, it.planned, it.failed) for it in parts)
    return make_table(("method", "protocol", *numbers), rows)


def show_results(answer: ExperimentResults) -> Iterator[Table | str]:
    """A row per method and protocol, and the work done."""
    yield results_table(answer.results, answer.metric)
    unit = answer.unit.removesuffix("s") if answer.trained == 1 else answer.unit
    work = f"Trained {answer.trained} {unit}, reused {answer.reused}. "
    yield f"{work if answer.trained or answer.reused else ''}Results: {answer.directory}"
    if answer.goal is not None:
        yield from explain_goal(answer.goal)


def check_tables(answer: Check) -> Iterator[Table | str]:
    """What a run requires, and its task trainings by method."""
    rows = (
        (it.name, "found" if it.available else "MISSING", it.about) for it in answer.requirements
    )
    yield make_table(("requirement", "", ""), rows)
    if answer.methods:
        numbers = (Column(title, 0) for title in ("runs", "tasks", "stored"))
        work = (
            (it.method, it.runs, it.tasks, it.stored, "unknown")
            if it.seconds is None
            else (it.method, it.runs, it.tasks, it.stored, format_duration(it.seconds))
            for it in answer.methods
        )
        yield make_table(("method", *numbers, "training time"), work)
    yield from answer.sentences()


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
            title += f"   {optimum.objective} = {optimum.value:.4f}   z = {optimum.z:+.2f}"
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
