"""Tables of what verbs answer: listings, results, status, similarities and sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.classes import words_of
from edgecil.io.csv_files import CsvCell
from edgecil.report.page_text import shorten
from edgecil.report.table import Column, Table, filled_columns, make_table
from edgecil.wording.metric_words import metric_words

if TYPE_CHECKING:
    from edgecil.experiments.protocol_results import ExperimentResults, ProtocolResults
    from edgecil.experiments.status import ProtocolStatus
    from edgecil.sequences import ChosenSequences, ScoredSequence
    from edgecil.similarity.matrix import SimilaritySummary

_MOST_SHOWN = 50  # tasks of a sequence, and classes of a task


def entry_table(
    title: str, entries: Iterable[Mapping[str, Any]], *fields: str, width: int | None = None
) -> Table:
    """A row per entry with its fields; a field that is empty in all of them is left out.

    Args:
        title: of the first field; the other columns are called like their fields.
        entries: mappings with these fields.
        fields: in the order of the columns.
        width: letters of the terminal, for which the last column is cut.
    """
    columns = [Column(title), *(Column(field.replace("_", " ")) for field in fields[1:])]
    rows = []
    for entry in entries:
        cells = [_format_cell(entry[field]) for field in fields]
        rows.append(dict(zip(columns, cells, strict=True)))
    filled, filled_rows = filled_columns(rows)
    if width is None or len(filled) < 2:
        return make_table(filled, filled_rows)
    return make_table(filled, _cut_last_column(filled, filled_rows, width))


def _cut_last_column(
    columns: Sequence[Column], rows: Sequence[Sequence[CsvCell]], width: int
) -> list[list[CsvCell]]:
    """Return rows whose last cell has room beside the others."""
    room = width
    for place, column in enumerate(columns[:-1]):
        texts = [column.title, *(str(row[place]) for row in rows)]
        room -= max(map(len, texts)) + 2
    return [[*row[:-1], _shorten_sentence(str(row[-1] or "–"), room)] for row in rows]


def _shorten_sentence(text: str, room: int) -> str:
    """Return a text, its first sentence, or the sentence up to its parenthesis: what has room."""
    sentence = text.split(". ")[0]
    for version in (text, sentence, sentence.split(" (")[0]):
        if len(version) <= room:
            return version
    return shorten(text, room)


def _format_cell(value: Any) -> CsvCell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        settings = {name: text for name, text in _flat_settings(value) if name != "schedule"}
        value = ", ".join(f"{name} = {text}" for name, text in settings.items())
    if isinstance(value, tuple) and value:
        value = f"{', '.join(value)}, …"
    return value or None


def _flat_settings(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting as text; the name of an inner one has a dot: memory.per_class."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name != "schedule":
            yield from _flat_settings(value, f"{before}{name}.")
        elif isinstance(value, (list, tuple)):
            yield f"{before}{name}", f"[{', '.join(map(str, value))}]"
        elif isinstance(value, bool):
            yield f"{before}{name}", str(value).lower()
        elif value is not None:
            yield f"{before}{name}", str(value)


def results_table(results: Iterable[ProtocolResults], metric: str = "accuracy") -> Table:
    """Mean, standard deviation and range of a metric, by method and protocol."""
    words = metric_words(metric)
    rows = []
    for part in results:
        finished = f"{part.finished}"
        if part.finished < part.planned:
            finished += f" of {part.planned}"
        numbers = (part.mean, part.std, part.min, part.max)
        rows.append((part.method, part.protocol, finished, *numbers))
    number_columns = [Column(title, 2) for title in (f"mean {words.label}", "std", "min", "max")]
    meaning = words.description[0].lower() + words.description[1:]
    return make_table(
        ("method", "protocol", Column("sequences", 0), *number_columns),
        rows,
        caption=f"{words.label}: {meaning} std: population standard deviation over the sequences.",
    )


def show_results(answer: ExperimentResults) -> Iterator[Table | str]:
    """What was used, a row per method and protocol, and the work done."""
    if answer.used:
        yield f"{answer.used[0].upper()}{answer.used[1:]}\n"
    yield results_table(answer.results, answer.metric)
    work = ""
    if answer.trained or answer.reused:
        unit = answer.unit.removesuffix("s") if answer.trained == 1 else answer.unit
        work = f"Trained {answer.trained} {unit}, reused {answer.reused}. "
    yield f"{work}Results: {answer.directory}"
    if answer.goal is not None:
        yield str(answer.goal)


def status_table(parts: Iterable[ProtocolStatus]) -> Table:
    """Finished, planned and failed runs, by method and protocol."""
    number_columns = [Column(title, 0) for title in ("finished", "planned", "failed")]
    rows = [
        (part.method, part.protocol, part.finished, part.planned, part.failed) for part in parts
    ]
    return make_table(("method", "protocol", *number_columns), rows)


def similarity_tables(answer: SimilaritySummary) -> Iterator[Table | str]:
    """Mean similarity, and the most and least similar pairs of classes."""
    source = ", ".join(f"{key} {value}" for key, value in answer.source.items())
    yield f"{answer.classes} classes, similarity {answer.mean:.3f} ± {answer.std:.3f} ({source})\n"
    for title, pairs in (("most", answer.most_similar), ("least", answer.least_similar)):
        rows = [(pair.similarity, " – ".join(map(words_of, pair.classes))) for pair in pairs]
        yield make_table((Column("", 3), f"{title} similar"), rows)
    if answer.out is not None:
        yield f"Saved to {answer.out}"


def sequence_tables(answer: ChosenSequences) -> Iterator[Table | str]:
    """The tasks of each sequence in class names, below S, z and how close it is to the optimum."""
    for sequence in answer:
        yield _tasks_table(sequence, answer.names)
    if answer.similarity is not None:
        yield (
            "S: similarity of neighbouring tasks (mean over class pairs times classes per task).\n"
            "z: standard deviations of S from the mean of all sequences (exact)."
        )
    yield from answer.notes


def _tasks_table(sequence: ScoredSequence, names: Sequence[str]) -> Table:
    """A row per task with the names of its classes, and of the task itself if it is given."""
    numbers = range(1, min(len(sequence.tasks), _MOST_SHOWN) + 1)
    columns: list[str | Column] = [Column("task", 0)]
    cells: list[Sequence[CsvCell]] = [numbers]
    if sequence.task_names:
        columns = [Column("place", 0), "task"]
        cells.append(sequence.task_names[:_MOST_SHOWN])
    classes = [[names[class_] for class_ in task] for task in sequence.tasks[:_MOST_SHOWN]]
    names_alone = [[name] for name in sequence.task_names[:_MOST_SHOWN]]
    if classes != names_alone:
        columns.append("classes")
        cells.append([_list_classes(labels) for labels in classes])
    hidden_tasks = len(sequence.tasks) - _MOST_SHOWN
    caption = f"… and {hidden_tasks} more tasks" if hidden_tasks > 0 else ""
    rows = list(zip(*cells, strict=True))
    return make_table(columns, rows, title=_describe_scores(sequence), caption=caption)


def _list_classes(labels: Sequence[str]) -> str:
    """The names of the classes of a task, as many as are shown."""
    text = ", ".join(map(words_of, labels[:_MOST_SHOWN]))
    hidden_classes = len(labels) - _MOST_SHOWN
    return f"{text} … and {hidden_classes} more" if hidden_classes > 0 else text


def _describe_scores(sequence: ScoredSequence) -> str:
    """The label of a sequence with S, z and its distance from the optimum, as far as computed."""
    text = sequence.label
    if sequence.profile is not None:
        text += f"   S = {sequence.profile.score:.4f}   z = {sequence.profile.z:+.2f}"
    certificate = sequence.certificate
    if certificate is not None:
        if certificate.objective != "adjacent":
            value = f"{certificate.objective} = {certificate.value:.4f}"
            text += f"   {value}   z = {certificate.z:+.2f}"
        gap = f"gap to a proven bound: {certificate.gap:.0%}"
        text += f"   ({'optimal' if certificate.exact else gap})"
    return text
