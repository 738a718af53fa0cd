"""The verbs of the paper: `python -m edgecil.paper …`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edgecil.cli.verb import Verb, VerbGroup

_SHOWN = "edgecil.paper.answer_tables"


def _captions(*, out: str, **options: Any) -> dict[str, Any]:
    from edgecil.paper.captioning import captions

    return {"captions": captions(out=out, **options), "out": out}


def _show_captions(answer: dict[str, Any]) -> list[str]:
    return [f"Saved {len(answer['captions'])} captions to {answer['out']}"]


def _show_figures(files: dict[str, list[Path]]) -> list[str]:
    return [f"{name}: {', '.join(map(str, paths))}" for name, paths in files.items()]


PAPER_VERBS = VerbGroup(
    "what only the EDGE paper needs: its tables, rankings, captions and bounds",
    (
        Verb(
            "tables",
            "print LaTeX tables in the layout of the EDGE paper",
            (
                "python -m edgecil.paper tables demo",
                "python -m edgecil.paper tables demo --out tex --wasserstein-order 2 --bits",
            ),
            "edgecil.paper.paper_tables:paper_tables",
            lambda answer: answer.values(),
            arguments=("source",),
            plain=lambda answer: {"tables": answer},
        ),
        Verb(
            "figures",
            "draw the figures of the EDGE paper in its layout",
            (
                "python -m edgecil.paper figures demo --out figures",
                "python -m edgecil.paper figures runs/x --encoder minilm-bundled --out figures",
            ),
            "edgecil.paper.paper_figures:paper_figures",
            _show_figures,
            arguments=("source",),
            plain=lambda answer: {"figures": answer},
            needed=("out",),
        ),
        Verb(
            "rank",
            "rank methods by published summaries (no sequences), and compare the protocols",
            (
                "python -m edgecil.paper rank paper-rankings",
                "python -m edgecil.paper rank published.csv --json",
            ),
            "edgecil.paper.published_summaries:rank_published",
            f"{_SHOWN}:ranking_tables",
            arguments=("source",),
            plain=lambda answer: {"rankings": answer},
        ),
        Verb(
            "space",
            "count the class sequences, bound the sample size, and say what a few random runs miss",
            (
                "python -m edgecil.paper space --classes 100 --tasks 10",
                "python -m edgecil.paper space --classes 100 --base 50 --increment 10 --budget 5",
            ),
            "edgecil.paper._space:space",
            f"{_SHOWN}:space_tables",
        ),
        Verb(
            "normality",
            "test whether accuracies over class orders are normal, after a Box-Cox transformation",
            (
                "python -m edgecil.paper normality demo",
                "python -m edgecil.paper normality runs.csv --metric last",
            ),
            "edgecil.paper._normality:normality",
            f"{_SHOWN}:normality_tables",
            arguments=("source",),
            plain=lambda answer: {"datasets": answer},
        ),
        Verb(
            "compare-similarities",
            "compare similarities: mean error, rank correlation, and the sequences they choose",
            (
                "python -m edgecil.paper compare-similarities text.npz images.npz --tasks 10",
                "python -m edgecil.paper compare-similarities --config recipe:captions-quickdraw",
            ),
            "edgecil.paper.agreement:compare_files",
            f"{_SHOWN}:agreement_tables",
            arguments=("matrices",),
            plain=lambda answer: {"agreements": answer},
        ),
        Verb(
            "captions",
            "write captions of the classes with a language model, for 'similarity --captions'",
            (
                "python -m edgecil.paper captions ham10000 --out captions.json",
                "python -m edgecil.paper captions --names n.txt --model gpt-4o-mini --out c.json",
            ),
            "edgecil.paper.captioning:captions",
            _show_captions,
            arguments=("dataset",),
            call=_captions,
            needed=("out",),
        ),
        Verb(
            "score",
            "profile a given class order: S, its exact z, and every other objective",
            (
                "python -m edgecil.paper score cifar100 --sequence order.json --tasks 10",
                "python -m edgecil.paper score --similarity D.npz --sequence o.json --label hard",
            ),
            "edgecil.sequences.scored:profile_file",
            f"{_SHOWN}:profile_tables",
            arguments=("dataset",),
        ),
    ),
)
