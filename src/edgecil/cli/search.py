"""The verb that searches for the worst or best class order: search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.training import resumable
from edgecil.cli.verb import DATA, SPACE, Option, Verb

if TYPE_CHECKING:
    from edgecil.search import Trial
    from edgecil.search.result import SearchSummary


def _search(**options: Any) -> SearchSummary:
    import edgecil

    with resumable(**options):
        result = edgecil.search(on_round=_note_round, **options)
    return result.summary()


def _note_round(trials: Sequence[Trial]) -> None:
    values = [trial.value for trial in trials]
    note(f"{len(trials)} orders trained: {min(values):.2f} to {max(values):.2f}")


def _show(answer: SearchSummary) -> Iterator[str]:
    yield f"{answer.sentence}."
    yield (
        f"Trained {len(answer.trials)} orders, {answer.trainings} tasks in all. In the search this "
        f"order had {answer.value:.1f}. Results: {answer.directory}"
    )


VERBS = (
    Verb(
        "search",
        "find the worst or best class order of a method, and confirm it by new trainings",
        (
            "edgecil search quickdraw --method ease --classes 8 --tasks 4 --goal worst --out x",
            "edgecil search --config own.toml --method icarl --goal best --budget 30 --out y",
        ),
        {
            "": (
                Option("method", "NAME", "the method, or FILE.py:Class for your own"),
                "goal budget task_trainings confirm metric classifier pilot batch",
                "config out overwrite",
            ),
            "classes and their similarity": (DATA,),
            "tasks": (SPACE, "order_seed"),
            "training and execution": ("...",),
        },
        _search,
        _show,
        api="edgecil.search.run_search:search",
        needed=("method", "out"),
    ),
)
