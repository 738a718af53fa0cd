"""The runs of all tables of a source, joined: one table of runs for each dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import numpy as np

from edgecil.errors import DataError, UsageError, name_some, short_name
from edgecil.io.arrays import Floats
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.metric_names import split_words
from edgecil.runs.metrics import METRICS
from edgecil.runs.published import PublishedResult
from edgecil.runs.reading.column_roles import assign_roles, check_declared, refuse_metric
from edgecil.runs.reading.differing_settings import (
    drop_copies,
    keep_settings_apart,
    keep_sources_apart,
)
from edgecil.runs.reading.finished_runs import (
    RunRows,
    drop_aggregates,
    drop_copied_rows,
    finished_runs,
    keep_only,
    resolve_unknown,
)
from edgecil.runs.reading.frames import Frame, frames_of, text_of, texts_of
from edgecil.runs.reading.logged_orders import place_logged_orders
from edgecil.runs.reading.memory_tables import DATA_FRAME
from edgecil.runs.reading.metric_choice import (
    choose_metric,
    directed_metric,
    name_differences_of_losses,
    offered_metrics,
)
from edgecil.runs.reading.named_values import name_values
from edgecil.runs.reading.path_names import (
    METHOD_OF_FILE,
    PathName,
    parse_name,
    path_names,
    without_words,
)
from edgecil.runs.reading.published_rows import (
    PUBLISHED_FORMS,
    is_published,
    published_results,
    tell_published_apart,
)
from edgecil.runs.reading.questions import ReadingQuestion
from edgecil.runs.reading.reading_options import Declarations
from edgecil.runs.reading.run_tables import RunList, parse_values, tables_of_runs
from edgecil.runs.reading.shared_cells import add_notes, fill_down
from edgecil.runs.reading.task_results import summarise_tasks
from edgecil.runs.reading.units import in_per_cent
from edgecil.runs.reading.wide_statistics import melt_methods_with_spreads
from edgecil.runs.reading.wide_tables import make_long
from edgecil.runs.run_table import SEED_MEANINGS, Runs

_SPREAD_FILE = re.compile(r"[\W_](?:std|stdev|stddev|stderr|sem|var)$", re.IGNORECASE)

_SAME_MEAN = 0.005  # relative difference of means that are printed with few digits

_PER_TASK_FILE = re.compile(r"(?:^|[\W_])(?:per|by|each)[\W_]?task", re.IGNORECASE)

KEY_ROLES = ("dataset", "seed", "order", "run", "sequence", "protocol")
"""Roles of the columns that say which run a row is, beside its method and settings."""


@dataclass
class JoinedRuns:
    """What was read: see :class:`edgecil.runs.reading.reading.Reading`."""

    tables: list[Runs]
    published: list[PublishedResult]
    metric: str
    metrics: tuple[str, ...]
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)


def join_runs(
    tables: Sequence[CellTable], declared: Declarations, pool: str | None = None
) -> JoinedRuns:
    """Return the runs in tables of cells."""
    if declared.seeds_are is not None and declared.seeds_are not in SEED_MEANINGS:
        raise UsageError(
            f"`seeds_are` must be one of {', '.join(SEED_MEANINGS)}. Got {declared.seeds_are!r} "
            "instead."
        )
    refuse_metric(declared.metric)
    frames = frames_of(tables)
    check_declared(frames, declared, is_long=False)
    names = path_names([table.source for table in tables if table.form != DATA_FRAME])
    _drop_spreads_of_files(frames)
    _add_metric_hints(frames, names)
    for frame in frames:
        fill_down(frame)
        add_notes(frame)
        assign_roles(frame, declared)
    _add_headings(frames)
    _add_path_names(frames, names)
    for frame in frames:
        melt_methods_with_spreads(frame)
    frames = [make_long(frame, declared) for frame in frames]
    check_declared(frames, declared, is_long=True)
    for frame in frames:
        _add_methods(frame, names)
        drop_copied_rows(frame)
        keep_only(frame, declared)
        drop_aggregates(frame)
        if len(frame):
            try:
                if frame.with_role("metric", "curve"):
                    resolve_unknown(frame, declared)
            except ReadingQuestion as question:  # raised if the frame has the metric
                frame.question = question
                continue
            summarise_tasks(frame, declared)
            name_differences_of_losses(frame)
    filled = [frame for frame in frames if len(frame)]
    if not filled:
        raise DataError(f"{frames[0].origin} contains no runs; write a line for each.")
    metric = choose_metric(filled, declared.metric)
    with_metric = [frame for frame in filled if metric in offered_metrics(frame)]
    name = directed_metric(metric, with_metric, declared)
    notes = [*_unread_frames(filled, with_metric, name), *_note_training(metric)]
    rows: list[RunRows] = []
    published: list[RunRows] = []
    for frame in with_metric:
        column = offered_metrics(frame)[metric]
        kind = published if is_published(frame, column) else rows
        kind.append(finished_runs(frame, column, declared))
    joined = JoinedRuns([], [], name, _all_metrics(filled))
    if rows:
        _add_runs(joined, rows, metric, declared, pool)
    if published:
        _add_published(joined, published, metric, declared)
    if not joined.tables and not joined.published:
        raise DataError(f"{with_metric[0].origin} has no value of {joined.metric!r}.")
    frame_notes = [note for frame in with_metric for note in frame.notes]
    joined.notes = list(dict.fromkeys([*frame_notes, *joined.notes, *notes]))
    joined.parts = list(dict.fromkeys(joined.parts))
    joined.undecided = [sentence for frame in with_metric for sentence in frame.undecided]
    return joined


def _unread_frames(frames: Sequence[Frame], with_metric: Sequence[Frame], metric: str) -> list[str]:
    """Return a sentence for each file that has results, but not of the metric."""
    read = {table.source for frame in with_metric for table in frame.tables}
    unread: dict[str, None] = {}
    for frame in frames:
        if frame not in with_metric and offered_metrics(frame):
            unread.update((table.source, None) for table in frame.tables)
    sources = [source for source in unread if source not in read]
    if not sources:
        return []
    verbs = ("has", "is") if len(sources) == 1 else ("have", "are")
    return [f"{name_some(sources)} {verbs[0]} no {metric!r} and {verbs[1]} not read."]


def _note_training(metric: str) -> list[str]:
    """Return a sentence for a metric of the training data."""
    is_training = bool({"train", "training"} & set(split_words(metric))) and metric not in METRICS
    return [f"{metric!r} is measured on training data."] if is_training else []


def _all_metrics(frames: Sequence[Frame]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for frame in frames for name in offered_metrics(frame)))


def _add_published(
    joined: JoinedRuns, published: Sequence[RunRows], metric: str, declared: Declarations
) -> None:
    """Add the published results in some frames."""
    for rows in published:
        runs, parts = _run_list([rows], metric, declared)
        if _are_means_of(runs, joined.tables):
            joined.notes.append(f"{rows.frame.origin} has the means of these runs; it is not read.")
            continue
        joined.published += published_results(rows, runs, joined.metric, declared)
        joined.parts += parts
        joined.notes += runs.notes
    joined.published = tell_published_apart(joined.published, joined.notes)


def _are_means_of(means: RunList, tables: Sequence[Runs]) -> bool:
    """Return whether published means are the means of the methods' runs in these tables."""
    means_by_method: dict[str, list[float]] = {}
    for table in tables:
        for number, method in enumerate(table.methods):
            values = table.values[table.method == number]
            means_by_method.setdefault(method, []).append(float(np.nanmean(values)))

    def is_mean_of(method: str, value: float) -> bool:
        computed = means_by_method.get(method, ())
        return any(abs(value - mean) <= _SAME_MEAN * abs(mean) for mean in computed)

    return bool(means_by_method) and all(map(is_mean_of, means.method, means.values.tolist()))


def _add_runs(
    joined: JoinedRuns,
    rows: Sequence[RunRows],
    metric: str,
    declared: Declarations,
    pool: str | None,
) -> None:
    """Add the runs in some frames."""
    runs, parts = _run_list(rows, metric, declared)
    origin = rows[0].frame.origin
    if declared.orders_from or declared.seeds_are:
        from edgecil.runs.reading.drawn_orders import draw_orders

        draw_orders(runs, declared, origin)
    drop_copies(runs)
    keep_sources_apart(runs, pool)
    runs.notes = [*(note for run_rows in rows for note in run_rows.frame.notes), *runs.notes]
    joined.tables = tables_of_runs(runs, joined.metric, declared)
    joined.parts += parts
    joined.notes += runs.notes


def _add_metric_hints(frames: Sequence[Frame], names: Mapping[str, PathName]) -> None:
    """Note what the names of the files call their values."""
    for frame in frames:
        metrics = {names[table.source].metric for table in frame.tables if table.source in names}
        if len(metrics) == 1:
            frame.metric_hint = metrics.pop()
        stems = [PurePath(table.source).stem for table in frame.tables]
        axes = frame.with_role("index")
        if len(axes) == 1 and all(_PER_TASK_FILE.search(stem) for stem in stems):
            frame.roles[axes[0]] = "task"
            frame.has_task_axis = True


def _drop_spreads_of_files(frames: Sequence[Frame]) -> None:
    """Leave out files of spreads, `NAME_std.json`, beside files of the values themselves."""
    sources = {table.source for frame in frames for table in frame.tables}
    if all(_SPREAD_FILE.search(PurePath(source).stem) for source in sources):
        return
    for frame in frames:
        is_spread = [_SPREAD_FILE.search(PurePath(table.source).stem) for table in frame.tables]
        if any(is_spread):
            rows = [row for row, number in enumerate(frame.table_of_row) if not is_spread[number]]
            frame.take(rows)
            frame.notes.append("Files of standard deviations beside those of values are not read.")


def _add_headings(frames: Sequence[Frame]) -> None:
    """Take headings as datasets where a file has a table for each of them."""
    tables = [table for frame in frames for table in frame.tables]
    captions: dict[str, list[str]] = {}
    for table in tables:
        if table.form in PUBLISHED_FORMS:
            captions.setdefault(table.source, []).append(table.caption)
    for frame in frames:
        is_apart = [len(set(captions.get(table.source, ""))) > 1 for table in frame.tables]
        if not all(is_apart) or frame.with_role("dataset"):
            continue
        headings = [_heading(table.caption, captions[table.source]) for table in frame.tables]
        frame.add("heading", [headings[number] for number in frame.table_of_row], "dataset")


def _heading(caption: str, captions: Sequence[str]) -> str:
    """Return the part of a caption in which it differs from the others of its file."""
    parts = caption.split(". ")
    for place, part in enumerate(parts):
        beginnings = {tuple(other.split(". ")[: place + 1]) for other in captions}
        if len(beginnings) > 1:
            return short_name(part)
    return short_name(caption)


def _add_path_names(frames: Sequence[Frame], names: Mapping[str, PathName]) -> None:
    """Add what the names of files say, where the files themselves do not say it."""
    for frame in frames:
        names_of_tables = [names.get(table.source) for table in frame.tables]
        name_values(frame)
        if not any(names_of_tables):
            continue
        for role in ("seed", "dataset"):
            cells: list[Cell] = []
            for number in frame.table_of_row:
                path_name = names_of_tables[number]
                cells.append(None if path_name is None else getattr(path_name, role) or None)
            is_known = any(frame.roles.get(name) == role for name in frame.columns)
            is_single = role == "dataset" and len(set(cells)) < 2 and not _name_datasets(frame)
            if not is_known and None not in cells and not is_single:
                frame.add(f"{role} of file", cells, role)


def _name_datasets(frame: Frame) -> bool:
    """Return whether the files themselves, not their folders, have the names of datasets."""
    stems = [PurePath(table.source).stem for table in frame.tables]
    return all(parse_name(stem).dataset for stem in stems)


def _add_methods(frame: Frame, names: Mapping[str, PathName]) -> None:
    """Name the method by the file where no column has it."""
    if frame.with_role("method"):
        return
    methods = [_method_of(table, names) for table in frame.tables]
    if any(table.source in names for table in frame.tables):
        methods = [
            without_words(method, _values_of_table(frame, number))
            for number, method in enumerate(methods)
        ]
    frame.add(METHOD_OF_FILE, [methods[number] for number in frame.table_of_row], "method")


def _values_of_table(frame: Frame, number: int) -> set[str]:
    """Return the values of datasets, tasks and settings that a table has one of."""
    rows = [row for row, table_number in enumerate(frame.table_of_row) if table_number == number]
    values: set[str] = set()
    for name in frame.with_role("dataset", "scenario", "task", "step", "setting", "text"):
        texts = {text_of(frame.columns[name][row]) for row in rows}
        values |= texts if len(texts) == 1 else set()
    return values


def _method_of(table: CellTable, names: Mapping[str, PathName]) -> str:
    """Return the name of a table's file, which stands for its method."""
    if table.form == DATA_FRAME:
        is_unnamed = table.source == DATA_FRAME or re.fullmatch(r"table \d+", table.source)
        return "method" if is_unnamed else table.source
    return names[table.source].method or Path(table.source).name.partition(".")[0] or "method"


def _run_list(
    rows: Sequence[RunRows], metric: str, declared: Declarations
) -> tuple[RunList, list[str]]:
    """Return the runs of all frames as one list, and parts of the reading line."""
    parts: list[str] = []
    methods: list[str] = []
    columns: dict[str, list[Cell]] = {
        name: [] for name in ("dataset", "seed", "order", "run", "sequence", "protocol", "label")
    }
    columns |= {name: [] for name in ("identity", "class order", "task sizes")}
    order_name = ""
    present: dict[str, int] = {}  # how many frames have a column
    shuffled: list[str] = []
    settings: list[dict[str, str]] = []
    scenarios: list[dict[str, str]] = []
    origins: list[str] = []
    are_logs: list[bool] = []
    places: list[str] = []
    values = []
    key_names: list[str] = []
    for run_rows in rows:
        frame = run_rows.frame
        methods += _methods(run_rows)
        for role, cells in columns.items():
            names = [name for name in frame.columns if frame.roles.get(name) == role]
            names = names if role != "label" else [name for name in names if name == "label"]
            column = frame.columns[names[0]] if names else None
            if names:
                present[role] = present.get(role, 0) + 1
            if column is None:
                cells += [None] * len(run_rows)
            else:
                cells += [column[row] for row in run_rows.rows]
            if role == "order" and names:
                order_name = order_name or names[0]
            key_names += names[:1] if role in KEY_ROLES else []
        drawn = texts_of(frame.columns.get("shuffle", [None] * len(frame)))
        shuffled += [drawn[row] for row in run_rows.rows]
        settings += _named_cells(run_rows, "setting")
        scenarios += _named_cells(run_rows, "scenario")
        own_places = [frame.place_of(row) for row in run_rows.rows]
        places += own_places
        are_logs += [frame.is_log] * len(run_rows)
        origins += [frame.tables[frame.table_of_row[row]].source for row in run_rows.rows]
        numbers = parse_values(run_rows.values, own_places, metric)
        numbers = _without_unfinished(run_rows, numbers)
        values.append(in_per_cent(run_rows, metric, methods[-len(run_rows) :], numbers))
        parts += run_rows.notes
    runs = RunList(
        methods,
        [text_of(cell) for cell in columns["dataset"]],
        np.concatenate(values),
        origins,
        places,
        order_name=order_name,
        is_log=are_logs,
        key_names=tuple(dict.fromkeys(["method", *key_names])),
    )
    for role in ("seed", "order", "run", "sequence", "protocol", "label", "identity"):
        cells = columns[role]
        if role in present:
            setattr(runs, role, cells)
    for role in ("order", "sequence"):
        if 0 < present.get(role, 0) < len(rows):
            raise DataError(
                "Some sources have class orders (a column 'order_seed' or 'sequence') and others "
                "have not, so their runs cannot be joined; analyse them one by one."
            )
    orders, sizes = columns["class order"], columns["task sizes"]
    place_logged_orders(runs, orders, sizes, shuffled, settings, scenarios)
    parts = [*keep_settings_apart(runs, settings, scenarios, declared), *dict.fromkeys(parts)]
    return runs, parts


def _named_cells(run_rows: RunRows, role: str) -> list[dict[str, str]]:
    """Return for each run the values of all columns with a role, by the name of the column."""
    frame = run_rows.frame
    texts = {name: texts_of(frame.columns[name]) for name in frame.with_role(role)}
    return [{name: cells[row] for name, cells in texts.items()} for row in run_rows.rows]


def _methods(run_rows: RunRows) -> list[str]:
    """Return the method of every run; the name of the file where no column has it."""
    frame = run_rows.frame
    texts = texts_of(frame.columns[frame.with_role("method")[0]])
    for row in run_rows.rows:
        if not texts[row]:
            raise DataError(f"{frame.place_of(row)} has no method; fill it in.")
    return [texts[row] for row in run_rows.rows]


def _without_unfinished(run_rows: RunRows, values: Floats) -> Floats:
    """Return values with NaN for runs whose status says that they did not finish."""
    frame = run_rows.frame
    for name in frame.with_role("status")[:1]:
        texts = texts_of(frame.columns[name])
        finished = ("finished", "completed", "complete", "done", "success", "ok", "true", "")
        for place, row in enumerate(run_rows.rows):
            if texts[row].lower() not in finished:
                values[place] = np.nan
    return values
