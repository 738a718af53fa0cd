"""The runs of a bundled truth table, as a file that every verb for results reads."""

from __future__ import annotations

from pathlib import Path

from edgecil.classes import get_classes
from edgecil.errors import unknown_name_error
from edgecil.io.files import check_new
from edgecil.lab.truth_tables import TruthTable, bundled_tables
from edgecil.options import checked
from edgecil.runs.metrics import DEFAULT_METRIC
from edgecil.runs.run_files import write_runs
from edgecil.runs.run_table import Runs
from edgecil.sequences.protocols.draw import draw_protocols
from edgecil.sequences.sequence import ClassSequence

_CHOSEN = {"rs": None, "edge": None}  # protocols whose orders are written beside all orders


@checked
def export_truth(table: str, out: str | Path, *, overwrite: bool = False) -> Path:
    """Write the runs of a bundled truth table to a CSV file, with the orders of RS and EDGE.

    Nothing is trained: a protocol's order has the result that the table has for it. Of several
    trainings of an order, the first is taken.

    Args:
        table: the name of a truth table.
        out: the file to write, .csv or .csv.gz.
        overwrite: replace the file if it exists.

    Returns:
        The file.
    """
    check_new(out, overwrite=overwrite)
    tables = {truth.name: truth for truth in bundled_tables()}
    if table not in tables:
        raise unknown_name_error("truth table", table, tables)
    runs = runs_of_truth(tables[table])
    write_runs([runs.numbered_by(get_classes(runs.dataset).labels)], out)
    return Path(out)


def runs_of_truth(truth: TruthTable) -> Runs:
    """Return the first training of every order of a truth table, by protocol."""
    rows: list[tuple[str, str, str, ClassSequence, float]] = []
    for protocol, orders in _orders_by_protocol(truth).items():
        for method in truth.methods:
            values = truth.accuracies(method)[0]
            value_of = dict(zip(truth.sequences, values.tolist(), strict=True))
            for label, sequence in orders:
                rows.append((method, protocol, label, sequence, value_of[sequence]))
    methods, protocols, labels, sequences, values_of_rows = zip(*rows, strict=True)
    return Runs.of(
        methods,
        sequences,
        values_of_rows,
        protocol=protocols,
        label=labels,
        seed=[0] * len(rows),
        dataset=truth.dataset,
        metric=DEFAULT_METRIC,
        names=truth.classes,
    )


def _orders_by_protocol(truth: TruthTable) -> dict[str, list[tuple[str, ClassSequence]]]:
    """Return the labelled orders of each protocol whose orders a table has."""
    is_sample = truth.kind == "sample"
    numbered = [(f"order-{number}", sequence) for number, sequence in enumerate(truth.sequences)]
    if is_sample or truth.classes is None:
        return {"random" if is_sample else "enumerate": numbered}
    by_protocol = {}
    drawn = draw_protocols(_CHOSEN, truth.space, similarity=truth.similarity())
    for protocol, orders in drawn.items():
        by_protocol[protocol] = [(order.label, order.sequence) for order in orders]
    return {**by_protocol, "enumerate": numbered}
