"""`edgecil report`: one HTML page, figures and tables from runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from edgecil.cli.judging import add_judging_options, judge_source
from edgecil.cli.output import console, note, print_json, print_table
from edgecil.errors import UsageError

NAME = "report"
HELP = "one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX) from runs"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the accuracies are, what to predict them with, and where the report goes."""
    add_judging_options(parser)
    parser.add_argument(
        "--out", metavar="DIR", help="the report's folder (default: report/ in a run directory)"
    )


def run(args: argparse.Namespace) -> None:
    """Judge the runs, write a report for each dataset, and show the short answer."""
    from edgecil.report.evidence import Evidence, slug
    from edgecil.report.page import compose
    from edgecil.report.tabulate import tabulate_ranges
    from edgecil.report.words import remarks
    from edgecil.report.write import write_report

    if args.out is None and not Path(args.source).is_dir():
        raise UsageError(f"Say where the report on {args.source} goes, with --out DIR.")
    folder = Path(args.out or Path(args.source) / "report")
    found = judge_source(args)
    pages, tables, told = [], [], []
    for judged in found:
        evidence = Evidence(
            args.source,
            judged.table,
            judged.judgement,
            judged.predictor,
            judged.journal,
            judged.origin,
            judged.remarks,
            args.out,
            _judging_options(args),
        )
        place = folder if len(found) == 1 else folder / slug(judged.table.dataset)
        pages.append(str(write_report(compose(evidence), place)))
        tables.append(tabulate_ranges(evidence))
        told += remarks(evidence)
    if args.json:
        print_json({"reports": pages})
    for page, table in zip(pages, tables, strict=True) if not args.json else ():
        print_table(table.titles, table.shown(), right=table.titles[1:])
        console().print(table.caption, style="dim", markup=False)
        console().print(f"report: {page}", markup=False)
    for sentence in told:
        note(sentence)


def _judging_options(args: argparse.Namespace) -> tuple[str, ...]:
    """How to judge, where it was said: what differs from the defaults, as it is written."""
    parser = argparse.ArgumentParser()
    add_judging_options(parser)
    defaults = vars(parser.parse_args([args.source]))
    said = {name: value for name in defaults if (value := getattr(args, name)) != defaults[name]}
    return tuple(
        word for name, value in said.items() for word in (f"--{name.replace('_', '-')}", str(value))
    )
