"""Pages of the documentation site that are generated when it is built (an mkdocs hook).

The command line, the configuration keys, the recipes and the JSON schemas come from the code; the
tutorial comes from the notebook docs/tutorial.ipynb with its stored outputs.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from edgecil.io.docstrings import read_section

DOCS = Path(__file__).parents[1] / "docs"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages before the site is built."""
    pages: dict[str, str | bytes] = {
        "reference/command-line.md": command_line_page(),
        "reference/configuration.md": configuration_page(),
        "reference/recipes.md": recipes_page(),
        "reference/published.md": published_page(),
        "reference/json.md": json_page(),
        **schema_files(),
        **notebook_pages(DOCS / "tutorial.ipynb", "tutorial"),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def command_line_page() -> str:
    """Every verb with its usage, options and examples."""
    from edgecil.cli.main import GROUPS, verb_parser

    lines = [
        "# Command line",
        "",
        "This page is generated from the parser. `edgecil VERB --help` prints the same.",
        "",
        "Exit codes: 0 for success, 2 for a wrong argument, 1 for any other failure. Results go to",
        "stdout, progress and notes to stderr. Every verb that answers takes `--json`, which",
        "prints [one JSON object](json.md), and `--debug`, which shows tracebacks.",
        "",
    ]
    for group, members in GROUPS.items():
        lines += [f"## {group[0].upper()}{group[1:]}", ""]
        for verb in members:
            parser = verb_parser(verb.name)
            lines += [f"### {verb.name}", "", str(parser.description), ""]
            lines += [*_option_tables(parser), *_examples(parser), ""]
    return "\n".join(lines)


def _option_tables(parser: argparse.ArgumentParser) -> Iterator[str]:
    for group in parser._action_groups:
        actions = [
            action
            for action in group._group_actions
            if action.help != argparse.SUPPRESS and action.dest not in ("help", "json", "debug")
        ]
        if not actions:
            continue
        title = {"positional arguments": "", "options": ""}.get(str(group.title), group.title)
        if title:
            yield from (f"*{title}*", "")
        yield from ("| option | meaning |", "|---|---|")
        for action in actions:
            words = " ".join(f"`{word}`" for word in action.option_strings)
            value = _metavar(action)
            first = " ".join(part for part in (words, value) if part)
            text = _cell((action.help or "") % {**vars(action), "prog": parser.prog})
            yield f"| {first} | {text}{' **Required.**' if action.required and words else ''} |"
        yield ""


def _metavar(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    name = action.metavar or action.dest.upper()
    return "" if "Boolean" in type(action).__name__ else f"`{name}`"


def _examples(parser: argparse.ArgumentParser) -> Iterator[str]:
    if parser.epilog:
        commands = [line.strip() for line in parser.epilog.splitlines()[1:]]
        yield from ("```console", *commands, "```")


def configuration_page() -> str:
    """Every key of a TOML file."""
    from edgecil.engine.config import Execution, ExperimentConfig

    lines = [
        "# Configuration",
        "",
        "A TOML file for `edgecil run --config FILE` and `edgecil.run(config=FILE)` may have any",
        "of these keys. Command-line options and parameters of `edgecil.run` have the",
        "same names and take precedence over the file. This page is generated from the code.",
        "",
        "```toml",
        'method = ["icarl", "ewc"]',
        'dataset = "quickdraw"',
        "classes = 20",
        "tasks = 5",
        'protocol = ["edge", "latin"]',
        "budget = 5",
        "epochs = 30",
        "memory_per_class = 10",
        "set.ewc = { strength = 5000.0 }  # a method's own settings",
        "```",
        "",
    ]
    titles = {"What to run": ExperimentConfig, "How to execute it": Execution}
    for title, kind in titles.items():
        lines += [f"## {title}", "", "| key | type | default | meaning |", "|---|---|---|---|"]
        meanings = read_section(kind.__doc__)
        for field in dataclasses.fields(kind):
            default = _default(field)
            lines.append(
                f"| `{field.name}` | `{_cell(str(field.type))}` | {default} "
                f"| {_cell(meanings.get(field.name, ''))} |"
            )
        lines.append("")
    lines += [
        "## How to call it",
        "",
        "| key | meaning |",
        "|---|---|",
        "| `out` | the experiment directory |",
        "| `overwrite` | delete existing results in `out` and start over |",
        "| `dry_run` | show the plan, train nothing; in Python, call `edgecil.plan_run` |",
        "",
        "A file for `edgecil search` may also have `goal`, `confirm`, `batch` and `pilot`; its",
        "`budget` and `metric` are those of the search. `--config`, `--json` and `--debug` belong",
        "to the command line.",
        "",
    ]
    return "\n".join(lines)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return "" if field.default is None else f"`{_cell(_plain(field.default))}`"
    return "required" if field.default_factory is dataclasses.MISSING else "empty"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def recipes_page() -> str:
    """Every bundled recipe with its description and its text."""
    from edgecil.recipes import describe_recipe, recipe_names, recipe_text

    lines = [
        "# Recipes",
        "",
        "Experiments that ship with the package. `edgecil recipes` lists them; `recipe:NAME` is",
        "accepted wherever a configuration file is. The results of the small twins are in",
        "[Reproduce the paper](../reproduce.md).",
        "",
    ]
    for name in recipe_names():
        body = "\n".join(
            line for line in recipe_text(name).splitlines() if not line.startswith("#")
        )
        lines += [f"## {name}", "", describe_recipe(name), "", "```toml", body.strip(), "```", ""]
    return "\n".join(lines)


def published_page() -> str:
    """Every method's published settings with their sources, and the command that uses them."""
    from edgecil.methods import get_method
    from edgecil.methods.order_share import MEASURED
    from edgecil.methods.published import ACCURACIES, COMMITS, PUBLISHED

    parity = _parity_rows()
    lines = [
        "# Published settings",
        "",
        "For each method: the settings that its authors, PyCIL or PILOT use, where they were read,",
        "and the command that trains with them. **None of these commands was run by the",
        "developers**: they require a GPU and the datasets. How far the code agrees with the",
        "references is in [Methods](../methods.md#parity), and per method below. The commands are",
        "for CIFAR-100; for another dataset of a table, `--recipe published-DATASET --dataset",
        "DATASET`. This page is generated from the code.",
        "",
        "Repositories: " + "; ".join(f"{name} is {place}" for name, place in COMMITS.items()) + ".",
        "",
    ]
    for method, rows in PUBLISHED.items():
        entry = get_method(method)
        lines += [f"## {method}", "", _reference(entry), ""]
        lines += ["| dataset | training | exemplars | settings | source |", "|---|---|---|---|---|"]
        for dataset, row in rows.items():
            memory = row.memory
            kept = "" if memory is None else f"{memory.total or ''} in total"
            if memory is not None and memory.total is None:
                kept = f"{memory.per_class} per class"
            settings = {**entry.published_settings, **row.settings}
            own = ", ".join(f"{name} = {value}" for name, value in settings.items())
            training = "nothing" if method == "simplecil" else _training(row.recipe)
            lines.append(f"| {dataset} | {training} | {kept} | {own} | {row.source} |")
        defaults = [
            f"{field.name} = {field.default}"
            for field in dataclasses.fields(entry.config)
            if field.name not in ("recipe", "memory", "alignment")
            and field.name not in entry.published_settings
        ]
        if defaults:
            lines += ["", f"Other settings: {_cell(', '.join(defaults))}."]
        if hasattr(entry.config, "alignment"):
            lines += ["", f"Alignment: {_training(entry.config().alignment)}."]
        normalisation = "dataset" if method == "hide-prompt" else "none"
        network = (
            f"--pretrained vit-b16-in1k --preparation centre-crop --normalisation {normalisation}"
        )
        if not entry.pretrained:
            network = f"--backbone {'resnet18' if method == 'tagfex' else 'resnet32'}"
        lines += [
            "",
            "```console",
            f"edgecil run --method {method} --dataset cifar100 --tasks 10 --recipe published "
            f"{network} --device cuda --out runs/{method}",
            "```",
            "",
        ]
        stated = ACCURACIES.get(method, "The sources state no accuracy with these settings.")
        lines += [f"Published accuracy. {stated} Not run here.", ""]
        lines += _of_the_paper(method, pretrained=entry.pretrained)
        if method in parity:
            lines += ["Parity (ours / reference):", "", *parity[method], ""]
        else:
            lines += ["Parity: not measured.", ""]
        if method in MEASURED:
            share = MEASURED[method]
            lines.append(
                f"On the truth tables with repeats, {100 * share.share:.0f} % of the variance of "
                f"single trainings is due to the order (std {share.order_std:.1f} points; training "
                f"noise {share.noise_std:.1f})."
            )
        lines.append("")
    return "\n".join(lines)


def _of_the_paper(method: str, *, pretrained: bool) -> list[str]:
    """What the EDGE paper states about a method, and the command that should give it."""
    from edgecil.methods.published import PAPER_ACCURACIES, PAPER_DATASETS

    if method not in PAPER_ACCURACIES:
        return []
    family = "pretrained" if pretrained else "scratch"
    values = ", ".join(
        f"{dataset} {value}"
        for dataset, value in zip(PAPER_DATASETS, PAPER_ACCURACIES[method], strict=True)
    )
    return [
        f"The EDGE paper states, for three random orders: {values}. Not run here.",
        "",
        "```console",
        f"edgecil run --config recipe:classic-cifar100-{family} --method {method} "
        f"--protocol random --root DIR --device cuda --out runs/{method}-paper",
        "```",
        "",
    ]


def _parity_rows() -> dict[str, list[str]]:
    """The rows of the table of accuracies in docs/methods.md, with its head, by method."""
    text = (Path(__file__).parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
    section = text.split("\n## Parity\n")[1].split("\n## ")[0].splitlines()
    head = next(line for line in section if line.startswith("| method | classifier |"))
    start = section.index(head)
    rows: dict[str, list[str]] = {}
    for line in section[start + 2 :]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == head.count("|") - 1:
            rows.setdefault(cells[0], [head, section[start + 1]]).append(line)
    return rows


def _reference(entry: Any) -> str:
    """The first paragraphs of the docstring of a method's module."""
    import inspect
    import sys

    text = inspect.getdoc(sys.modules[entry.build.__module__]) or entry.summary
    return text.replace("\n", " ").replace("|", "\\|")


def _training(recipe: Any) -> str:
    """A recipe in a table's cell."""
    if recipe.first is not None:
        return f"first task: {_training(recipe.first)}; later: {_training(recipe.at(1))}"
    parts = [f"{recipe.epochs} epochs", f"{recipe.optimizer} {recipe.learning_rate:g}"]
    if recipe.schedule == "steps":
        steps = ", ".join(map(str, recipe.milestones))
        parts.append(f"× {recipe.decay:g} at {steps}" if steps else "constant")
    else:
        parts.append(recipe.schedule)
    parts += [f"weight decay {recipe.weight_decay:g}", f"batches of {recipe.batch_size}"]
    if recipe.head_factor != 1.0:
        parts.append(f"heads × {recipe.head_factor:g}")
    if recipe.clip is not None:
        parts.append(f"gradients clipped at {recipe.clip:g}")
    if recipe.drop_last:
        parts.append("without incomplete batches")
    return ", ".join((*parts, " ".join(recipe.augment)))


def json_page() -> str:
    """The answers of `--json`, field by field."""
    lines = [
        "# JSON",
        "",
        "`--json` prints one object on stdout. Its key `schema` is `edgecil.VERB/1`, and its shape",
        "does not depend on the number of its parts: a list stays a list. Names that users choose",
        "are keys only in mappings of their own. The version changes when a field is renamed,",
        "removed or changes its meaning; new fields do not change it. This page is generated from",
        "the code; the links lead to JSON Schema files.",
        "",
    ]
    for name, schema in _schemas().items():
        path = f"schemas/{name.replace('/', '-')}.json"
        lines += [f"## {name}", "", f"{_summary(schema)} [JSON Schema]({path})", ""]
        lines += _fields(schema)
        for title, part in schema["$defs"].items():
            if "properties" in part:
                lines += [f"**{title}**: {_summary(part)}", "", *_fields(part)]
    return "\n".join(lines)


def schema_files() -> dict[str, str]:
    """The JSON Schema of every answer, as files of the site."""
    return {
        f"reference/schemas/{name.replace('/', '-')}.json": json.dumps(schema, indent=2)
        for name, schema in _schemas().items()
    }


def _schemas() -> dict[str, dict[str, Any]]:
    """JSON Schemas by name, each with the answer itself at the top level."""
    from edgecil.cli.answers import TYPES, schema_name
    from edgecil.cli.main import VERBS
    from edgecil.io.json import json_schema

    schemas = {}
    for verb, kind in TYPES.items():
        schema = json_schema(kind, schema_name(verb))
        schemas[schema_name(verb)] = {"description": f"{VERBS[verb].help}.", **schema}
    return schemas


def _summary(part: dict[str, Any]) -> str:
    return str(part.get("description", "")).partition("\n")[0]


def _fields(part: dict[str, Any]) -> list[str]:
    meanings = read_section(part.get("description"))
    rows = []
    for name, kind in part["properties"].items():
        if name != "schema":
            cells = [f"`{name}`", _cell(_kind(kind))]
            rows.append([*cells, _cell(meanings.get(name, ""))] if meanings else cells)
    head = ["field", "type", "meaning"] if meanings else ["field", "type"]
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


def _kind(schema: dict[str, Any]) -> str:
    """A JSON type in words."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {_kind(items)}" if items else "list"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"mapping to {_kind(schema['additionalProperties'])}"
    return str(schema.get("type", "any value"))


def notebook_pages(notebook: Path, stem: str) -> dict[str, str | bytes]:
    """A notebook with its stored outputs as a page and the figures it shows."""
    lines: list[str] = []
    pages: dict[str, str | bytes] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{stem}-{len(pages)}.png"
                pages[f"images/{name}"] = base64.b64decode(data["image/png"])
                lines += [f"![Output of the code above](images/{name})", ""]
            elif "text/html" in data:
                table = "".join(data["text/html"]).replace(' border="1" class="dataframe"', "")
                lines += ['<div class="output" markdown="0">', table, "</div>", ""]
            else:
                text = "".join(data.get("text/plain", output.get("text", "")))
                lines += ["```text", text.rstrip("\n"), "```", ""]
    return {f"{stem}.md": "\n".join(lines), **pages}


def _cell(text: str) -> str:
    """Text that is safe inside a table."""
    return text.replace("|", "\\|").replace("\n", " ")
