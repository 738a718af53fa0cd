"""Pages of the documentation site that are generated when it is built (an mkdocs hook).

The command line, the configuration keys and the recipes come from the code; the tutorial
comes from the notebook docs/tutorial.ipynb with its stored outputs.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from edgecil.cli.verb import parameter_meanings

DOCS = Path(__file__).parents[1] / "docs"
STATIONS = (
    "experiments", "training", "analysis", "runs", "search", "report", "sequences", "similarity",
    "methods", "data", "backbones", "classes", "statistics", "interop", "paper", "lab", "errors",
    "testing",
)  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages before the site is built."""
    pages: dict[str, str | bytes] = {
        "reference/command-line.md": command_line_page(),
        "reference/configuration.md": configuration_page(),
        "reference/recipes.md": recipes_page(),
        **python_pages(),
        **notebook_pages(DOCS / "tutorial.ipynb", "tutorial"),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def python_pages() -> dict[str, str]:
    """The public names on one page, and every station's names on a page of its own."""
    import edgecil

    front = {}
    for name, member in _members(edgecil):
        page = f"python-{member.__module__.split('.')[1]}.md#{_path(member)}"
        summary = _cell(str(inspect.getdoc(member)).splitlines()[0])
        front[_path(member)] = f"| [`{name}`]({page}) | {summary} |"
    pages, stations = {}, []
    for station in STATIONS:
        module = importlib.import_module(f"edgecil.{station}")
        paths = {_path(member) for _, member in _members(module)}
        paths |= {path for path in front if path.startswith(f"edgecil.{station}.")}
        text = str(inspect.getdoc(module))
        lines = [f"# edgecil.{station}", "", text, "", *(f"::: {path}" for path in sorted(paths))]
        pages[f"reference/python-{station}.md"] = "\n".join(lines)
        stations.append(f"| [`edgecil.{station}`](python-{station}.md) | {text.splitlines()[0]} |")
    lines = [
        "# Python",
        "",
        "The names of `edgecil` itself; each loads at its first use. Options are keyword-only.",
        "",
        *("| name | what it is |", "|---|---|", *front.values(), ""),
        *("| station | what it has |", "|---|---|", *stations),
    ]
    return {"reference/python.md": "\n".join(lines), **pages}


def _members(module: Any) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of a module."""
    public_names = getattr(module, "__all__", None)
    for name in sorted(vars(module) if public_names is None else public_names):
        member = getattr(module, name)
        belongs = public_names is not None or getattr(member, "__module__", "") == module.__name__
        if belongs and name[0] != "_" and (inspect.isfunction(member) or inspect.isclass(member)):
            yield name, member


def _path(member: Any) -> str:
    return f"{member.__module__}.{member.__qualname__}"


def command_line_page() -> str:
    """Every verb with its usage, options and examples."""
    from edgecil.cli.main import all_verbs, verb_parser

    lines = [
        "# Command line",
        "",
        "This page is generated from the parser. `edgecil VERB --help` prints the same.",
        "",
        "Exit codes: 0 for success, 2 for a wrong argument, 1 for any other failure. Results go to",
        "stdout, progress and notes to stderr. Every verb takes `--debug`, which shows tracebacks,",
        "and `--json`, which prints one JSON object: the answer of the Python function, with a key",
        "`schema` whose version changes when a field is renamed, removed or changes its meaning.",
        "",
    ]
    for name in all_verbs():
        parser = verb_parser(name)
        lines += [f"## {name}", "", str(parser.description), ""]
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
    from edgecil.experiments.config import GROUPS, ExperimentConfig
    from edgecil.training.run import run

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
        "tasks = 5",
        'protocol = ["edge", "latin"]',
        "budget = 5",
        "",
        "[data]",
        "classes = 20",
        "",
        "[training]",
        "epochs = 30",
        "memory_per_class = 10",
        "set.ewc = { strength = 5000.0 }  # a method's own settings",
        "```",
        "",
    ]
    documented = parameter_meanings(run)
    titles = {
        "What to run": ExperimentConfig,
        **{f"[{name}]": group for name, group in GROUPS.items()},
    }
    for title, kind in titles.items():
        lines += [f"## {title}", "", "| key | type | default | meaning |", "|---|---|---|---|"]
        for field in dataclasses.fields(kind):
            if kind is ExperimentConfig and field.name in GROUPS:
                continue
            meaning = field.metadata.get("help") or documented.get(field.name, "")
            default = _default(field)
            lines.append(
                f"| `{field.name}` | `{_cell(str(field.type))}` | {default} | {_cell(meaning)} |"
            )
        lines.append("")
    lines += [
        "## How to call it",
        "",
        "| key | meaning |",
        "|---|---|",
        "| `out` | the experiment directory |",
        "| `overwrite` | delete existing results in `out` and start over |",
        "",
        "A file for `edgecil search` may also have `goal` and a section `[search]`; its",
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
        "Experiments that ship with the package. `edgecil list recipes` lists them; `recipe:NAME`",
        "is accepted wherever a configuration file is. The results of the small twins are in",
        "[Reproduce the paper](../evidence/reproduction.md).",
        "",
    ]
    for name in recipe_names():
        body = "\n".join(
            line for line in recipe_text(name).splitlines() if not line.startswith("#")
        )
        lines += [f"## {name}", "", describe_recipe(name), "", "```toml", body.strip(), "```", ""]
    return "\n".join(lines)


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
