"""A page for each method: reference, settings and sources, parity, accuracies (an mkdocs hook).

Settings come from `edgecil.methods.setups`; parity and measured effects from the tables in
docs/evidence/methods.md, which the benchmarks printed.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

METHODS = Path(__file__).parents[1] / "docs" / "evidence" / "methods.md"
INDEX = "reference/published.md"
FOLDER = "reference/reproduce"
ONE_ORDER = "--protocol random-legacy --order-seed 1993 --budget 1"  # of PyCIL, PILOT and authors


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of all methods below the entry of their index."""
    from edgecil.methods.setups import PUBLISHED

    for section in config.nav or ():
        for title, entries in section.items():
            if title == "Reference":
                place = next(i for i, entry in enumerate(entries) if INDEX in entry.values())
                pages = [{name: f"{FOLDER}/{name}.md"} for name in PUBLISHED]
                entries[place] = {next(iter(entries[place])): [INDEX, *pages]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages before the site is built."""
    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def pages() -> dict[str, str]:
    """The index and a page per method, by path."""
    from edgecil.methods.setups import PUBLISHED

    text = METHODS.read_text(encoding="utf-8")
    methods = {f"{FOLDER}/{name}.md": method_page(name, text) for name in PUBLISHED}
    return {INDEX: index_page(text), **methods}


def index_page(text: str) -> str:
    """Sources, and a row per method."""
    from edgecil.methods import get_method
    from edgecil.methods.setups import COMMITS, PUBLISHED

    lines = [
        "# Reproduce a method",
        "",
        "A page for each method: the reference, the settings that its authors, PyCIL or PILOT use",
        "with their sources, the measured agreement with the reference, and published accuracies",
        "with the command that should give them. **None of the commands for a GPU was run by the",
        "developers**: they require a GPU and the datasets. Final accuracy is the metric `last`,",
        "average accuracy `average` (`edgecil analyze DIR --metric last`). The one order of",
        "`random-legacy` with seed 1993 is that of PyCIL, of PILOT and of the authors' logs.",
        "These pages are generated from the code and from [Methods](../evidence/methods.md).",
        "",
        "Repositories: " + "; ".join(f"{name} is {place}" for name, place in COMMITS.items()) + ".",
        "",
        "| method | idea | datasets with settings | difference from the reference (90 %) |",
        "|---|---|---|---|",
    ]
    for method, rows in PUBLISHED.items():
        parity = [_cells(row)[-2] for row in _table(text, "| method | classifier |", method)[2:]]
        cells = (
            f"[{method}](reproduce/{method}.md)",
            get_method(method).summary,
            ", ".join(rows),
            "; ".join(parity) or "not measured",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def method_page(method: str, text: str) -> str:
    """Everything that is needed to reproduce one method."""
    from edgecil.methods import get_method

    entry = get_method(method)
    lines = [f"# {method}", "", _reference(entry), ""]
    lines += ["## Settings", "", *_settings(method, entry), ""]
    lines += [
        "Where ours differs from the references on purpose: "
        "[Methods](../../evidence/methods.md#deliberate-differences-from-the-references).",
        "",
        "## Published accuracy",
        "",
        *_published(method),
        "## Parity",
        "",
        *_parity(method, text),
        "## Order and training noise",
        "",
        _order(method),
        "",
    ]
    return "\n".join(lines)


def _settings(method: str, entry: Any) -> list[str]:
    from edgecil.methods.setups import PUBLISHED

    lines = ["| dataset | training | exemplars | settings | source |", "|---|---|---|---|---|"]
    for dataset, row in PUBLISHED[method].items():
        memory = row.memory
        kept = "" if memory is None else f"{memory.total or ''} in total"
        if memory is not None and memory.total is None:
            kept = f"{memory.per_class} per class"
        settings = {**entry.published_settings, **row.settings}
        assignments = ", ".join(_assignments(settings))
        trains = any(field.name == "schedule" for field in dataclasses.fields(entry.config))
        training = _training(row.schedule) if trains else "nothing"
        lines.append(f"| {dataset} | {training} | {kept} | {assignments} | {row.source} |")
    defaults = [
        f"{field.name} = {field.default}"
        for field in dataclasses.fields(entry.config)
        if field.name not in ("schedule", "memory", "alignment")
        and field.name not in entry.published_settings
    ]
    if defaults:
        lines += ["", f"Other settings: {', '.join(defaults).replace('|', chr(92) + '|')}."]
    if hasattr(entry.config, "alignment"):
        lines += ["", f"Alignment: {_training(entry.config().alignment)}."]
    return lines


def _assignments(settings: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Settings as `name = value`; those of nested parts as `alignment.epochs = 30`."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _assignments(value, f"{inside}{name}.")
        else:
            yield f"{inside}{name} = {value}"


def _published(method: str) -> list[str]:
    """Accuracies that the sources and the EDGE paper state, each with its command."""
    from edgecil.classes import get_classes
    from edgecil.methods.setups import PUBLISHED
    from edgecil.paper.published_summaries import read_published

    lines = []
    for setup in PUBLISHED[method].values():
        for stated in setup.stated:
            lines += [
                f"{setup.dataset}: {stated}. Not run here.",
                "",
                *_command(
                    f"edgecil run {setup.dataset} --method {method} --tasks {stated.tasks} "
                    f"--setup {setup.name} {ONE_ORDER} --backbone {stated.weights} --root DIR "
                    f"--device cuda --out runs/{method}-{setup.dataset}-{stated.weights}"
                ),
            ]
    if not lines:
        lines = ["The sources state no accuracy with these settings.", ""]
    paper = [
        row
        for row in read_published("paper-classic").itertuples()
        if row.method.lower() == method and row.protocol == "random"
    ]
    if paper:
        lines += ["The EDGE paper states, for three random orders (not run here):", ""]
    from_scratch = PUBLISHED[method]["cifar100"].backbone.startswith("res")
    family = "scratch" if from_scratch else "pretrained"
    for row in paper:
        dataset = get_classes(row.dataset).name
        lines += [
            f"{dataset}: {row.mean:.2f} ± {row.std:.2f}",
            "",
            *_command(
                f"edgecil run --config recipe:classic-{dataset}-{family} --method {method} "
                f"--protocol random --root DIR --device cuda --out runs/{method}-{dataset}"
            ),
        ]
    return lines


def _command(text: str) -> list[str]:
    return ["```console", text, "```", ""]


def _parity(method: str, text: str) -> list[str]:
    """The method's part of the tables of lockstep, equal computations, accuracies and effects."""
    lines: list[str] = []
    names, _, gaps = _table(text, "| finetune | ewc |", "")
    gap = dict(zip(_cells(names), _cells(gaps), strict=True)).get(method)
    if gap is not None:
        lines += [f"In lockstep with PyCIL, the largest difference of a weight is {gap}.", ""]
    titles = {
        "| method | compared |": "Computed by PILOT's code from what ours has trained:",
        "| method | classifier |": "Accuracies (ours / reference):",
        "| method | setting | default: mean | std | published: mean | std | difference |": (
            "Effect of the published behaviour on the setup `fast`:"
        ),
    }
    for head, title in titles.items():
        rows = _table(text, head, method)
        if len(rows) > 2:
            lines += [title, "", *rows, ""]
    return lines or ["Not measured.", ""]


def _order(method: str) -> str:
    rows = [row for row in _shares() if row["learner"] == method and row["share"] is not None]
    if not rows:
        return "Not measured yet."
    shares = (
        f"{100 * row['share']:.0f} % on {row['scale']} (std {row['order std']:.2f} points; "
        f"training noise {row['training std']:.2f})"
        for row in rows
    )
    return f"Of the variance of single trainings, the class order explains {'; '.join(shares)}."


@cache
def _shares() -> tuple[dict[str, Any], ...]:
    from edgecil.lab.order_effects import order_shares

    return order_shares()


def _table(text: str, head: str, method: str) -> list[str]:
    """Head, rule and one method's rows of all tables that begin like this; every row if ''."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(head)]
    rows: list[str] = []
    for start in starts:
        stop = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
        rows += [line for line in lines[start + 2 : stop] if method in ("", _cells(line)[0])]
    return [*lines[starts[0] : starts[0] + 2], *rows]


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def _reference(entry: Any) -> str:
    """The docstring of a method's module, as one paragraph."""
    text = inspect.getdoc(sys.modules[entry.build.__module__]) or entry.summary
    return text.replace("\n", " ").replace("|", "\\|")


def _training(schedule: Any) -> str:
    """A schedule in a table's cell."""
    if schedule.first is not None:
        return f"first task: {_training(schedule.first)}; later: {_training(schedule.at(1))}"
    parts = [f"{schedule.epochs} epochs", f"{schedule.optimizer} {schedule.learning_rate:g}"]
    if schedule.schedule == "steps":
        steps = ", ".join(map(str, schedule.milestones))
        parts.append(f"× {schedule.decay:g} at {steps}" if steps else "constant")
    else:
        parts.append(schedule.schedule)
    parts += [f"weight decay {schedule.weight_decay:g}", f"batches of {schedule.batch_size}"]
    if schedule.accumulate > 1:
        parts.append(f"in {schedule.accumulate} parts")
    if schedule.head_factor != 1.0:
        parts.append(f"heads × {schedule.head_factor:g}")
    if schedule.clip is not None:
        parts.append(f"gradients clipped at {schedule.clip:g}")
    if schedule.drop_last:
        parts.append("without incomplete batches")
    return ", ".join((*parts, " ".join(schedule.augment)))
