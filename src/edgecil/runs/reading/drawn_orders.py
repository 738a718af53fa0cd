"""Class orders that a protocol draws from the seeds in a file."""

from __future__ import annotations

from edgecil.classes import get_classes
from edgecil.errors import UsageError, format_value
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.reading.frames import text_of
from edgecil.runs.reading.reading_options import Declarations
from edgecil.runs.reading.run_tables import RunList, parse_seed
from edgecil.sequences.protocols import PROTOCOLS
from edgecil.sequences.space import SequenceSpace


def draw_orders(runs: RunList, declared: Declarations, origin: str) -> None:
    """Add the class orders that a protocol draws from the seeds of orders, or of runs."""
    named = runs.order_name if runs.order is not None else ""
    order_column = "sequence" if runs.sequence is not None else named
    has_sequences = order_column == "sequence"
    if order_column and (declared.seeds_are or (declared.orders_from and has_sequences)):
        option = "seeds_are" if declared.seeds_are else "orders_from"
        raise UsageError(f"{origin} has a column {order_column!r}, so `{option}` does not apply.")
    if declared.orders_from is None:
        return
    chosen = PROTOCOLS[PROTOCOLS.resolve(declared.orders_from)]
    if not chosen.independent:
        raise UsageError(
            f"`orders_from` must be a protocol that draws an order from each seed, such as "
            f"'random-legacy'. Got {format_value(declared.orders_from)}."
        )
    tasks = declared.tasks
    sizes = (tasks,) if isinstance(tasks, int) else tuple(tasks or ())
    seeds = runs.order if runs.order is not None else runs.seed
    has_datasets = any(runs.dataset)
    if seeds is None or not sizes or (not has_datasets and len(sizes) == 1):
        raise UsageError(
            f"`orders_from` requires for {origin} a column 'order_seed' or 'seed', `tasks`, "
            "and a column 'dataset' (such as cifar100) unless `tasks` has all sizes (50,25,25)."
        )
    drawn: dict[tuple[str, str], tuple[str, str]] = {}
    pairs = [(dataset, text_of(seed)) for dataset, seed in zip(runs.dataset, seeds, strict=True)]
    for dataset, seed in dict.fromkeys(pairs):
        space = SequenceSpace(sizes)
        if len(sizes) == 1:
            space = SequenceSpace.equal(len(get_classes(dataset)), sizes[0])
        (run,) = chosen.draw(space, budget=1, order_seed=parse_seed(seed))
        drawn[dataset, seed] = str(run.sequence), run.label
    sequences: list[Cell] = [drawn[pair][0] for pair in pairs]
    runs.sequence = sequences
    runs.label = [drawn[pair][1] for pair in pairs] if runs.label is None else runs.label
    runs.protocol = [chosen.name] * len(pairs)
    source = runs.order_name if runs.order is not None else "seed"
    runs.notes.append(f"The orders are those that {chosen.name} draws from {source!r}.")
    if declared.seeds_are == "orders":
        runs.seed = ["0"] * len(pairs)
