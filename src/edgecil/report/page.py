"""The page from top to bottom: first the answer, last how to repeat it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from edgecil.engine.config import config_text
from edgecil.report import pictures, tabulate, words
from edgecil.report.evidence import Evidence, slug
from edgecil.report.html import (
    bullets,
    code,
    figure,
    folded,
    heading,
    links,
    page,
    paragraph,
    section,
    side_by_side,
)
from edgecil.report.pictures import Picture
from edgecil.report.tables import Table, as_html
from edgecil.report.verdict import COUNTED, beside_random, verdict

_PARTS = {
    "methods": "Each method",
    "protocols": "How close the protocols come",
    "rankings": "Which method is better",
    "samples": "How many runs are enough",
    "settings": "Settings, and how to repeat this",
}


@dataclass(frozen=True, eq=False)
class Report:
    """A report that is ready to be written.

    Attributes:
        html: the page.
        pictures: every figure of it.
        tables: every table of it.
        configs: TOML texts, by file name, that repeat the runs.
    """

    html: str
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...]
    configs: dict[str, str]


class _Composer:
    """Collects pictures and tables while the page is put together."""

    def __init__(self) -> None:
        self.pictures: list[Picture] = []
        self.tables: list[Table] = []

    def show(self, picture: Picture | None, absent: str = "", *, captioned: bool = True) -> str:
        """A picture, or the sentence that says why there is none."""
        if picture is None:
            return paragraph(absent, kind="quiet")
        self.pictures.append(picture)
        return figure(picture.name, picture.svg, picture.caption, captioned=captioned)

    def keep(self, picture: Picture) -> None:
        """A picture that is written as a file only."""
        self.pictures.append(picture)

    def table(self, table: Table, absent: str) -> str:
        """A table, or the sentence that says why there is none."""
        if not table.rows:
            return paragraph(absent, kind="quiet")
        self.tables.append(table)
        return as_html(table)


def compose(evidence: Evidence) -> Report:
    """Put the report of one dataset together."""
    composer = _Composer()
    configs = _configs(evidence)
    sections = [
        _answer(evidence, composer),
        _methods(evidence, composer),
        _protocols(evidence, composer),
        _rankings(evidence, composer),
        _samples(evidence, composer),
        _settings(evidence, configs),
    ]
    title = words.headline(evidence)
    return Report(
        page(title, "\n".join(sections)),
        tuple(composer.pictures),
        tuple(composer.tables),
        configs,
    )


def _answer(evidence: Evidence, composer: _Composer) -> str:
    """What a reader sees first: the answer in words, its caveats, and the picture."""
    names = list(evidence.judgement.methods)
    composer.keep(pictures.picture_all_distributions(evidence))
    overview = [
        composer.show(pictures.picture_distribution(evidence, name), captioned=False)
        for name in names
    ]
    fares, caution = beside_random(evidence), words.caution(evidence)
    legend = words.legend(evidence)
    return "\n".join(
        [
            heading(words.headline(evidence)),
            links(_PARTS),
            paragraph(*verdict(evidence), kind="lead"),
            bullets(fares) if fares else "",
            paragraph(COUNTED, kind="quiet") if fares else "",
            paragraph(*caution, kind="warning") if caution else "",
            side_by_side(*overview),
            paragraph(composer.pictures[0].caption, kind="quiet"),
            paragraph(*legend, kind="quiet") if legend else "",
            bullets(" ".join(words.method_answer(evidence, name)) for name in names),
            composer.table(tabulate.tabulate_ranges(evidence), "There are no runs to judge."),
            *(paragraph(remark, kind="quiet") for remark in words.remarks(evidence)),
        ]
    )


def _methods(evidence: Evidence, composer: _Composer) -> str:
    return section(
        "methods",
        _PARTS["methods"],
        *(_method(evidence, composer, name) for name in evidence.judgement.methods),
    )


def _method(evidence: Evidence, composer: _Composer, name: str) -> str:
    warnings = evidence.judgement.methods[name].warnings
    return section(
        f"method-{slug(name)}",
        name,
        *(paragraph(warning, kind="warning") for warning in warnings),
        side_by_side(
            composer.show(
                pictures.picture_prediction(evidence, name),
                "No similarity of the classes is known, so there is no score to predict with.",
            ),
            composer.show(
                pictures.picture_matrices(evidence, name),
                "No accuracy matrices: no run of an extreme protocol reports what was right after "
                "each task.",
            ),
        ),
        composer.table(tabulate.tabulate_sequences(evidence, name), "No sequence was finished."),
        level=3,
    )


def _protocols(evidence: Evidence, composer: _Composer) -> str:
    nothing = "The truth is not known, so no distance from it can be given."
    return section(
        "protocols",
        _PARTS["protocols"],
        composer.show(pictures.picture_closeness(evidence), nothing),
        composer.table(tabulate.tabulate_closeness(evidence), nothing),
        folded(
            "What predicts accuracy, and how well",
            composer.table(
                tabulate.tabulate_correlations(evidence),
                "No similarity of the classes is known, so nothing predicts accuracy here.",
            ),
        ),
        folded(
            "Every estimator's answer",
            composer.table(tabulate.tabulate_estimates(evidence), "No estimate could be made."),
        ),
        folded(
            "Does accuracy look normal?",
            composer.table(tabulate.tabulate_normality(evidence), "There is nothing to test."),
        ),
    )


def _rankings(evidence: Evidence, composer: _Composer) -> str:
    alone = "One method alone has no ranking."
    if len(evidence.judgement.methods) < 2:
        return section("rankings", _PARTS["rankings"], paragraph(alone, kind="quiet"))
    return section(
        "rankings",
        _PARTS["rankings"],
        composer.table(tabulate.tabulate_rankings(evidence), "No protocol ranks the methods."),
        composer.table(
            tabulate.tabulate_comparisons(evidence), "No two methods ran the same orders."
        ),
    )


def _samples(evidence: Evidence, composer: _Composer) -> str:
    nothing = "Without the truth it cannot be said how many runs are enough; see 'edgecil space'."
    curves = [
        picture
        for name in evidence.judgement.methods
        if (picture := pictures.picture_samples(evidence, name)) is not None
    ]
    if not curves:
        return section("samples", _PARTS["samples"], paragraph(nothing, kind="quiet"))
    return section(
        "samples",
        _PARTS["samples"],
        side_by_side(*(composer.show(picture) for picture in curves)),
        composer.table(tabulate.tabulate_captures(evidence), "No extreme protocol was run."),
        folded("The figures", composer.table(tabulate.tabulate_samples(evidence), nothing)),
    )


def _settings(evidence: Evidence, configs: dict[str, str]) -> str:
    journal = evidence.journal
    parts = []
    if configs:
        parts.append(
            paragraph(
                "In the same working directory, these commands repeat the runs and the report:"
            )
        )
    else:
        parts.append(
            paragraph(
                "What was asked for is not recorded here: the accuracies come from a file or from "
                "another tool. In the same working directory, this command repeats the report:",
            )
        )
    parts.append(code("\n".join(map(shlex.join, _commands(evidence, configs)))))
    parts += [folded(name, code(text)) for name, text in configs.items()]
    if journal.settings:
        seeds = sorted({seed for _, seed, _ in journal.results})
        parts.append(paragraph(f"Training seeds: {', '.join(map(str, seeds)) or 'none yet'}."))
        parts.append(paragraph("What decides the results, with versions:"))
        parts.append(code(json.dumps(journal.settings, indent=1, ensure_ascii=False)))
    return section("settings", _PARTS["settings"], *parts)


def _configs(evidence: Evidence) -> dict[str, str]:
    """The configurations as files, numbered if there are several."""
    texts = [config_text(config) + "\n" for config in evidence.journal.configs]
    if len(texts) == 1:
        return {"run.toml": texts[0]}
    return {f"run-{place + 1}.toml": text for place, text in enumerate(texts)}


def _commands(evidence: Evidence, configs: dict[str, str]) -> Iterator[list[str]]:
    """What repeats the runs, where they can be repeated, and the report: the words of each line.

    What is made again goes beside what is there.
    """
    source, out = evidence.source.rstrip("/"), evidence.out
    if configs:
        folder, again = out or f"{source}/report", f"{source}-again"
        for name in configs:
            yield ["edgecil", "run", "--config", f"{folder}/{name}", "--out", again]
        source, out = again, None if out is None else f"{out.rstrip('/')}-again"
    place = [] if out is None else ["--out", out]
    yield ["edgecil", "report", source, *place, *evidence.options]
