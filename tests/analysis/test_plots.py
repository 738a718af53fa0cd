"""What plots of notebooks draw: the numbers of the claims, under the words of the sentences."""

from __future__ import annotations

from matplotlib.figure import Figure

from edgecil import analyze, compare
from tests.analysis.tables import build, drawn_table, noisy, rows, six_classes, table_of


def test_a_plot_draws_the_numbers_and_the_population_of_the_claims() -> None:
    methods = {"m": noisy(0), "n": noisy(1)}
    table = build([*rows(drawn_table(methods, 5)), *rows(table_of(methods, ("probes",)))])
    analysis = analyze(table, similarity=six_classes())
    axes = analysis.plot()
    assert analysis.plot(ax=Figure().subplots()) is not axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["m", "n"]
    drawn = [tuple(line.get_xdata()) for line in axes.get_lines()]
    dots = [sorted(part.get_offsets()[:, 0].tolist()) for part in axes.collections]
    for method in analysis.values():
        claims = method.claims
        assert (claims.mean.low, claims.mean.high) in drawn
        assert (claims.next_run.low, claims.next_run.high) in drawn
        assert (claims.mean.value,) in drawn
        assert sorted(claims.probes.values()) in dots
        assert (min(dots[0]), len(dots[0])) == (analysis["m"].claims.lowest, 5)
    assert len(drawn) == 3 * len(analysis)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    population = "uniformly random class orders, for one training seed"
    assert f"mean over {population}, 95 % interval" in labels
    assert f"on average over {population} (95 % interval" in str(analysis)
    assert {"a new run, 95 %", "orders", "constructed orders"} < set(labels)


def test_a_plot_of_a_comparison_draws_differences_and_their_intervals() -> None:
    means = {"a": 50.0, "b": 70.0, "c": 51.0}
    methods = {name: noisy(place, mean=mean) for place, (name, mean) in enumerate(means.items())}
    comparison = compare(table_of(methods, ("random",)))
    axes = comparison.plot()
    assert len(axes.get_yticklabels()) == len(comparison) == 3
    drawn = [tuple(line.get_xdata()) for line in axes.get_lines()]
    for pair in comparison:
        assert (pair.low, pair.high) in drawn
        assert (pair.difference,) in drawn
    assert "points, with its 95 % interval" in axes.get_xlabel()
    assert axes.get_xlabel().endswith(f"over {comparison[0].population}")
