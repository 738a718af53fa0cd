"""The tables of docs/reproduce.md on all orders of six drawings, from truth tables.

    python benchmarks/twins.py first                  the first six classes
    python benchmarks/twins.py random                 those drawn with the seeds 42, 1 and 2
    python benchmarks/twins.py random RUNS/*-mos      with directories that are not packed yet
    python benchmarks/twins.py encoders               the first six, `edge` by three similarities

The twins `enumerable-quickdraw` and `random-classes-quickdraw` train every order, and so do the
truth tables, with the same settings: an accuracy is that of the first training seed. Prints, for
every method, the worst and best accuracy, the range, how many points of it three orders of each
protocol cover on average over draws, and the correlation of accuracy with S; then, over methods,
the distance of each protocol from the truth as a multiple of that of three random orders with the
same estimator, `gaussian`, its 90 % interval and the placebo's range; the footrule of the ranking
of the protocol's own three orders, and on average over draws; and for how many methods the
protocol is closer than random orders by W₁, by JSD, and covers more of the range.
`encoders` prints, for every similarity, the JSD and W₁ of `edge` and the correlation of S with
accuracy by method, and the ratios over these methods beside the placebo. About five seconds of CPU
for each set of classes or similarity; nothing is trained.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence

import edgecil
from edgecil import lab
from edgecil.engine.runs import Runs
from edgecil.estimation import DatasetAnalysis
from edgecil.lab import DatasetAudit, MethodAudit
from edgecil.lab.placebo import ProtocolComparison
from edgecil.lab.truth_tables import TruthTable
from edgecil.similarity import SimilarityMatrix

SETS = {
    "first": {"": "quickdraw-6-first"},
    "random": {seed: f"quickdraw-6-seed-{seed}" for seed in ("42", "1", "2")},
}
# The paper's order: trained from scratch, then on a frozen transformer.
METHODS = (
    *("ewc", "der", "icarl", "foster", "memo", "tagfex"),
    *("l2p", "coda-prompt", "hide-prompt", "ease", "mos", "ranpac"),
)
PROTOCOLS = ("random", "edge", "latin", "optimal")
ESTIMATOR = "gaussian"
SIMILARITIES = {
    "edge, `a photo of a {name}.`": {},
    "edge, `{name}`": {"template": "{name}"},
    "edge, drawings' pixels": {"images": "pixels"},
}
ENCODER_METHODS = ("hide-prompt", "icarl", "ewc", "ranpac", "ease")


def with_protocols(
    table: TruthTable,
    similarity: SimilarityMatrix,
    protocols: Sequence[str] = PROTOCOLS,
    methods: Sequence[str] = METHODS,
) -> Runs:
    """The truth, and the orders of each protocol with their accuracies in it."""
    chosen = {
        name: edgecil.protocol(name, table.space, similarity=similarity) for name in protocols
    }
    rows = []
    for method in (name for name in methods if name in table.methods):
        accuracies = dict(zip(table.sequences, table.accuracies(method)[0].tolist(), strict=True))
        labelled = [
            *(("enumerate", f"all-{at + 1}", seq) for at, seq in enumerate(table.sequences)),
            *((name, run.label, run.sequence) for name in protocols for run in chosen[name]),
        ]
        rows += [(method, *run, accuracies[run[-1]]) for run in labelled]
    trained, chosen_by, labels, sequences, values = zip(*rows, strict=True)
    return Runs.of(
        trained,
        sequences,
        values,
        protocol=chosen_by,
        label=labels,
        seed=[0] * len(rows),
        dataset=table.dataset,
        names=table.classes,
    )


def method_rows(analysis: DatasetAnalysis, audit: DatasetAudit) -> list[tuple[str, ...]]:
    """One row per method: truth, points covered by each protocol, and r."""
    rows = []
    for name, method in analysis.methods.items():
        low, high = analysis.accuracy_range(name)
        correlation = method.correlations["adjacent"].pearson
        rows.append(
            (
                name,
                *(f"{value:.1f}" for value in (low, high, high - low)),
                *(f"{covered(audit.methods[name], protocol):.1f}" for protocol in PROTOCOLS),
                f"{correlation:+.2f}".replace("-", "−"),
            )
        )
    return rows


def protocol_rows(audit: DatasetAudit) -> list[tuple[str, ...]]:
    """One row per protocol: ratios with intervals, placebo, footrules, and counts of methods."""
    rows = []
    for name in PROTOCOLS:
        ranking = audit.rankings[name][ESTIMATOR]
        footrules = f"{ranking.error:.0f}", f"{ranking.average.error:.1f}"
        if name == "random":
            rows.append((name, "1", "1", "", "", *footrules, "", "", ""))
            continue
        comparison = audit.protocol_comparisons[name]
        ratios = [comparison.measures[measure] for measure in ("wasserstein", "jsd")]
        closer = [sum(value < 1.0 for value in ratio.methods.values()) for ratio in ratios]
        wider = sum(
            covered(method, name) > covered(method, "random") for method in audit.methods.values()
        )
        counts = [f"{count} of {len(audit.methods)}" for count in (*closer, wider)]
        rows.append((name, *ratio_cells(comparison), *footrules, *counts))
    return rows


def ratio_cells(comparison: ProtocolComparison) -> list[str]:
    """Both ratios with their intervals, and the range of each for the placebo."""
    assert comparison.estimator == ESTIMATOR
    ratios = [comparison.measures[measure] for measure in ("wasserstein", "jsd")]
    shown = [
        f"{ratio.ratio:.2f} [{ratio.interval[0]:.2f}, {ratio.interval[1]:.2f}]" for ratio in ratios
    ]
    placebo = [
        "" if ratio.placebo == (1.0, 1.0) else "{:.2f} to {:.2f}".format(*ratio.placebo)
        for ratio in ratios
    ]
    return [*shown, *placebo]


def covered(method: MethodAudit, protocol: str) -> float:
    """Points of the range that three orders of a protocol cover on average."""
    average = method.averages[protocol][ESTIMATOR]
    return average.max - average.min


def sentences(pairs: dict[str, tuple[DatasetAnalysis, DatasetAudit]]) -> str:
    """Which ratios neither the interval nor the placebo explains, and the range of r."""
    outcomes: dict[str, list[str]] = {"better": [], "worse": []}
    correlations, p_values = [], []
    for seed, (analysis, audit) in pairs.items():
        for name, comparison in audit.protocol_comparisons.items():
            for measure, label in (("wasserstein", "W₁"), ("jsd", "JSD")):
                outcome = comparison.measures[measure].outcome
                if outcome in outcomes:
                    with_seed = f" with seed {seed}" if seed else ""
                    outcomes[outcome].append(f"`{name}` by {label}{with_seed}")
        for method in analysis.methods.values():
            correlations.append(method.correlations["adjacent"].pearson)
            p_values.append(method.correlations["adjacent"].adjusted_p)
    clauses = [
        f"{outcome} than three random orders: {', '.join(names) or 'none'}"
        for outcome, names in outcomes.items()
    ]
    low, high = (
        f"{value:+.2f}".replace("-", "−") for value in (min(correlations), max(correlations))
    )
    return (
        f"By more than the interval and the placebo explain, {'; '.join(clauses)}. The correlation "
        f"of accuracy with S is between {low} and {high}; the least p, adjusted for the number of "
        f"methods (Holm), is {min(p_values):.2f}."
    )


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"| {' | '.join(header)} |")
    print(f"|{'---|' * len(header)}")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")


def print_encoders(table: TruthTable) -> None:
    """Print the distances of `edge` by similarity, and their ratios to those of random orders."""
    by_method: dict[str, list[str]] = {}
    ratios = []
    for name, options in SIMILARITIES.items():
        similarity = edgecil.build_similarity(dataset="quickdraw", classes=6, **options)
        runs = with_protocols(table, similarity, ("random", "edge"), ENCODER_METHODS)
        analysis = edgecil.analyze(runs, similarity=similarity).datasets[0]
        audit = lab.audit(runs, similarity=similarity).datasets[0]
        for row, protocol in (("random", "random"), (name, "edge")):
            cells = by_method.setdefault(row, [])
            if cells:
                continue
            for learner, method in analysis.methods.items():
                average = audit.methods[learner].averages[protocol][ESTIMATOR]
                r = f"{method.correlations['adjacent'].pearson:+.2f}".replace("-", "−")
                cells += [f"{average.jsd:.3f}", f"{average.wasserstein:.2f}"]
                cells += ["" if protocol == "random" else r]
        ratios.append((name, *ratio_cells(audit.protocol_comparisons["edge"])))
    header = [f"{cell} of {name}" for name in analysis.methods for cell in ("JSD", "W₁", "r")]
    print_table(("three orders", *header), [(name, *cells) for name, cells in by_method.items()])
    print_table(("three orders", "W₁", "JSD", "placebo, W₁", "placebo, JSD"), ratios)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", choices=(*SETS, "encoders"))
    parser.add_argument("runs", nargs="*", help="directories of trained truths to add")
    options = parser.parse_args()
    tables = {table.name: table for table in lab.truths(*options.runs)}
    if options.sets == "encoders":
        print_encoders(tables[SETS["first"][""]])
        return
    sets = SETS[options.sets]
    first = ("method", "worst", "best", "range", *PROTOCOLS, "r")
    second = (
        *("protocol", "W₁", "JSD", "placebo, W₁", "placebo, JSD", "footrule", "average"),
        *("closer by W₁", "by JSD", "wider"),
    )
    methods, protocols, pairs = [], [], {}
    for seed, name in sets.items():
        runs = with_protocols(tables[name], tables[name].similarity())
        analysis, audit = edgecil.analyze(runs).datasets[0], lab.audit(runs).datasets[0]
        pairs[seed] = analysis, audit
        marked = (seed,) if seed else ()
        methods += [(*marked, *row) for row in method_rows(analysis, audit)]
        protocols += [(*marked, *row) for row in protocol_rows(audit)]
    column = ("seed",) if "" not in sets else ()
    for header, rows in ((first, methods), (second, protocols)):
        print_table((*column, *header), rows)
    print(textwrap.fill(sentences(pairs), 120))


if __name__ == "__main__":
    main()
