"""Tables of pairs of methods, and what `compare` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from edgecil.io.csv_files import CsvCell
from edgecil.io.numbers import per_cent
from edgecil.report.table import Column, Table, latex_lines
from edgecil.statistics.verdicts import LEVEL
from edgecil.wording.comparison_sentences import describe_comparisons
from edgecil.wording.populations import unit_of

if TYPE_CHECKING:
    from edgecil.analysis.comparison import MethodComparison
    from edgecil.analysis.pair_verdicts import Comparison
    from edgecil.analysis.standings import ComparedGroup

_MOST_PAIRS = 21  # in a terminal; of more, those with the leader
_PLANNED = (
    "Verdicts are for a number of runs that was chosen beforehand; to look again after further "
    "runs, use compare's option 'anytime'."
)
_ANYTIME = "Verdicts hold however often one looks, and whenever one stops."
_NUMBERS = (
    Column("n", 0),
    Column("difference", 2, signed=True),
    Column("low", 2, signed=True),
    Column("high", 2, signed=True),
    Column("won, %", 0),
    Column("new run, %", 0),
    Column("p", 4),
)


def comparison_tables(comparison: MethodComparison) -> Iterator[Table | str]:
    """The verdicts, and a row per pair of methods and dataset."""
    groups = comparison.compared_groups
    reading = [comparison.reading] if comparison.reading else []
    sentences = dict.fromkeys([*reading, *describe_comparisons(groups), *comparison.notes])
    yield "".join(f"{sentence}\n" for sentence in sentences)
    pairs, note = select_pairs(comparison.pairs, groups)
    yield pairs_table("differences", pairs, note)


def select_pairs(
    pairs: Sequence[Comparison], groups: Sequence[ComparedGroup]
) -> tuple[Sequence[Comparison], str]:
    """Return the pairs that a terminal shows, and a note if these are not all.

    Of many pairs, it shows those with the leader, or with the baseline.
    """
    if len(pairs) <= _MOST_PAIRS:
        return pairs, ""
    references = {
        group.dataset: (group.against or group.leader).reference
        for group in groups
        if group.dataset is not None
    }
    selected = [pair for pair in pairs if references[pair.dataset] in pair.methods]
    return selected, f" {len(selected)} of {len(pairs)} pairs; --json has all."


def latex_rows(pairs: Sequence[Comparison]) -> list[str]:
    """Return the header and the row of each pair in LaTeX."""
    return latex_lines(pairs_table("comparisons", pairs))


def pairs_table(name: str, pairs: Sequence[Comparison], note: str = "") -> Table:
    """A row per pair, on the orders that both methods ran; pairs may be of several datasets."""
    has_datasets = len({pair.dataset for pair in pairs}) > 1
    titles = ["dataset", "ahead", "behind"] if has_datasets else ["ahead", "behind"]
    better_column = titles.index("ahead")
    rows: list[tuple[CsvCell, ...]] = []
    bold = set()
    for pair in pairs:
        if pair.better is not None:
            bold.add((len(rows), better_column))
        names = [pair.ahead, pair.behind]
        if has_datasets:
            names.insert(0, pair.dataset)
        rows.append((*names, *_numbers(pair)))
    level = next((pair.level for pair in pairs), LEVEL)
    family = max((pair.adjusted_for for pair in pairs), default=1)
    adjusted = f"; interval and p are adjusted for {family:,} comparisons (Holm)"
    is_anytime = any(
        pair.basis == "anytime" or pair.why_no_interval == "too early" for pair in pairs
    )
    return Table(
        name,
        "Pairs of methods",
        f"Mean difference by which a method is ahead, with low and high of its {per_cent(level)} "
        "interval, over the n orders (or runs, if orders are unknown) of both, the share of them "
        "on which it is better (ties count half), the probability that it is better in a new run, "
        f"and p, two-sided, of no mean difference{adjusted if family > 1 else ''}. "
        f"{_ANYTIME if is_anytime else _PLANNED}{note}",
        (*map(Column, titles), *_NUMBERS),
        tuple(rows),
        frozenset(bold),
        "Bold: the better method, if the two can be told apart.",
    )


def paired_units(pairs: Sequence[Comparison]) -> str:
    """Return what pairs have in common: `orders`, `trainings`, or `runs` if they differ."""
    units = {unit_of(pair.population) for pair in pairs}
    return f"{units.pop()}s" if len(units) == 1 else "runs"


def _numbers(pair: Comparison) -> tuple[CsvCell, ...]:
    """Return a pair's cells in the columns of numbers."""
    won = 100.0 * (pair.wins + pair.ties / 2.0) / pair.n
    new_run = None
    if pair.new_run_probability is not None:
        new_run = 100.0 * pair.new_run_probability
    return (pair.n, pair.difference, pair.low, pair.high, won, new_run, pair.p)
