"""The options with which a user says how sources are read; every verb and function has the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from edgecil.errors import UsageError, format_value, name_some, nearest, wrong_value_error
from edgecil.runs.reading.column_names import ROLES
from edgecil.sequences.task_orders import read_given_tasks

LAST, BEST = "last", "best"


class ReadingOptions(TypedDict, total=False):
    """How sources are read; the same for every function that takes them.

    Attributes:
        columns: what columns are, as ROLE=COLUMN: `seed=trial,dataset=benchmark`. Roles: `method`,
            `dataset`, `seed`, `order`, `run`, `task`, `step`, `epoch`, `split`, `setting`,
            `metric`, `mean`, `std`, `stderr`, `n`, `label`, `ignore`.
        higher_is_better: whether high values of the metric are the better ones, where its name
            does not say so.
        lower_is_better: whether low values of the metric are the better ones.
        at: the step of a run that counts: `last`, a number, or `best`, which selects on the
            results themselves.
        by: settings that keep the runs of a method apart; the others do not.
        only: rows to read, as COLUMN=VALUE: `split=test`.
        baseline: the method that the others are compared with.
        n: number of runs behind published means.
        std_ddof: 0 or 1, what was subtracted from the number of runs in the denominator of
            published standard deviations; 0 by default, as in NumPy.
        reading: file of a reading that `edgecil read --save` wrote, whose options count here.
        pool: reason to average runs of a method whose settings differ between sources. By default
            they are kept apart, under names that say what differs.
        seeds_are: what a seed varies in a file without sequences: `orders`, `trainings` or `both`.
        orders_from: protocol that drew the class orders of such a file from its column
            `order_seed`, or else `seed`: `random-legacy` for PyCIL and PILOT; requires 'tasks'.
        tasks: number of tasks of these orders, or the sizes of the tasks.
        given_tasks: names of the tasks whose order varied, or a file with them: a column of orders
            then has task orders.
    """

    columns: Sequence[str] | Mapping[str, str | Sequence[str]] | str | None
    higher_is_better: bool | None
    lower_is_better: bool | None
    at: str | int | None
    by: Sequence[str] | str | None
    only: Sequence[str] | Mapping[str, str | Sequence[str]] | str | None
    baseline: str | None
    n: int | None
    std_ddof: int | None
    reading: str | None
    pool: str | None
    seeds_are: str | None
    orders_from: str | None
    tasks: Sequence[int] | int | None
    given_tasks: str | Sequence[str] | None


@dataclass(frozen=True)
class Declarations:
    """What a user says about a source, in one form each.

    Attributes:
        metric: the column of values; empty by default.
        roles: the role of a column, by the column's name.
        higher_is_better: the direction of the metric; None if it is not declared.
        at: `last`, `best`, or the number of a step.
        by: settings that keep runs apart; None if all do.
        only: the values of rows to read, by column.
        n: number of runs behind published means.
        std_ddof: of published standard deviations.
        seeds_are: what a seed varies.
        orders_from: the protocol that draws orders from seeds.
        tasks: number or sizes of the tasks of these orders.
        given_tasks: names of the tasks that the orders of a column arrange; empty if unknown.
    """

    metric: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    higher_is_better: bool | None = None
    at: str | int = LAST
    by: tuple[str, ...] | None = None
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n: int | None = None
    std_ddof: int | None = None
    seeds_are: str | None = None
    orders_from: str | None = None
    tasks: Sequence[int] | int | None = None
    given_tasks: tuple[str, ...] = ()


def declarations(metric: str | None, options: Mapping[str, Any]) -> Declarations:
    """Return the options of a reading in one form; an error for a wrong one."""
    set_options = {name: value for name, value in options.items() if value is not None}
    if set_options.get("std_ddof", 0) not in (0, 1):
        raise wrong_value_error("std_ddof", "0 or 1", set_options["std_ddof"])
    if set_options.get("n", 1) < 1:
        raise wrong_value_error("n", "at least 1", set_options["n"])
    return Declarations(
        metric or "",
        _roles(set_options.get("columns")),
        _direction(set_options.get("higher_is_better"), set_options.get("lower_is_better")),
        _parse_step(set_options.get("at", LAST)),
        _names(set_options["by"]) if "by" in set_options else None,
        dict(_pairs("only", set_options.get("only"))),
        set_options.get("n"),
        set_options.get("std_ddof"),
        set_options.get("seeds_are"),
        set_options.get("orders_from"),
        set_options.get("tasks"),
        _task_names(set_options.get("given_tasks")),
    )


def _roles(value: Any) -> dict[str, str]:
    roles: dict[str, str] = {}
    for role, columns in _pairs("columns", value):
        if role not in ROLES:
            near = nearest(role, ROLES)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise UsageError(
                "`columns` must have roles such as 'seed' or 'method'. "
                f"Got {format_value(role)}.{hint}"
            )
        roles |= dict.fromkeys(columns, role)
    return roles


def _pairs(option: str, value: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Return names with their values, from a mapping or from texts such as `seed=trial`."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [(str(name), _names(values)) for name, values in value.items()]
    pairs: dict[str, tuple[str, ...]] = {}
    for text in _names(value):
        name, equals, content = text.partition("=")
        if not equals or not name.strip() or not content.strip():
            raise wrong_value_error(option, "NAME=VALUE, or several with commas between them", text)
        pairs[name.strip()] = (*pairs.get(name.strip(), ()), content.strip())
    return list(pairs.items())


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)):
        return tuple(str(part).strip() for part in value)
    return (str(value),)


def _task_names(source: str | Sequence[str] | None) -> tuple[str, ...]:
    tasks = () if source is None else read_given_tasks(source)
    return tuple(task.name for task in tasks)


def _direction(higher: bool | None, lower: bool | None) -> bool | None:
    if higher is not None and lower is not None and higher == lower:
        raise UsageError("Give `higher_is_better` or `lower_is_better`, not both.")
    if higher is not None:
        return higher
    return None if lower is None else not lower


def _parse_step(value: Any) -> str | int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in (LAST, BEST):
        return text
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise wrong_value_error("at", f"{LAST!r}, {BEST!r} or the number of a step", value)


def describe_columns(names: Sequence[str]) -> str:
    """Return names of columns for a sentence."""
    return name_some(list(names), 12)
