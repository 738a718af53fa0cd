"""Who leads among several methods, and who cannot be told apart from the leader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edgecil.analysis.pair_verdicts import Comparison, OverallComparison, Verdict


@dataclass(frozen=True)
class Standing:
    """One method against all others: by default the one that is ahead of most.

    Attributes:
        reference: this method.
        leads: whether it is ahead of every method with which it was compared.
        against: its comparisons, in the order of the other methods' ranks.
        not_compared: methods with which it has no comparison.
    """

    reference: str
    leads: bool
    against: tuple[Verdict, ...]
    not_compared: tuple[str, ...] = ()

    def methods_of_grade(self, grade: str) -> list[str]:
        """Return the methods over which the reference is better with this grade.

        `cannot tell` and `too few` give those from which it cannot be told apart.
        """
        return [
            other_method(verdict, self.reference)
            for verdict in self.against
            if verdict.grade == grade and verdict.better in (None, self.reference)
        ]


def other_method(verdict: Verdict, name: str) -> str:
    """Return the method of a pair that is not this one."""
    return verdict.behind if verdict.ahead == name else verdict.ahead


def rank_methods(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the methods, those that are ahead of most others first; ties by the sum of leads."""
    ahead_of: dict[str, int] = {}
    total: dict[str, float] = {}
    for verdict in verdicts:
        for name, sign in ((verdict.ahead, 1.0), (verdict.behind, -1.0)):
            ahead_of[name] = ahead_of.get(name, 0) + (sign > 0.0)
            total[name] = total.get(name, 0.0) + sign * verdict.difference
    return sorted(ahead_of, key=lambda name: (-ahead_of[name], -total[name]))


def find_standing(verdicts: Sequence[Verdict], reference: str | None = None) -> Standing | None:
    """Return how the leader, or another method, stands against all others; None without a pair."""
    ranked = rank_methods(verdicts)
    if not ranked or (reference is not None and reference not in ranked):
        return None
    name = ranked[0] if reference is None else reference
    by_other = {
        other_method(verdict, name): verdict for verdict in verdicts if name in verdict.methods
    }
    against = tuple(by_other[other] for other in ranked if other in by_other)
    not_compared = [other for other in ranked if other != name and other not in by_other]
    leads = all(verdict.ahead == name for verdict in against)
    return Standing(name, leads, against, tuple(not_compared))


@dataclass(frozen=True)
class ComparedGroup:
    """The pairs on one dataset, or those over all of them.

    Attributes:
        dataset: its name; None for the pairs over all datasets.
        pairs: of methods.
        leader: the method that is ahead, against all others.
        against: the baseline, or else the leader, against all others; None if the baseline is not
            among them.
    """

    dataset: str | None
    pairs: tuple[Verdict, ...]
    leader: Standing
    against: Standing | None

    @property
    def comparisons(self) -> list[Comparison]:
        """The pairs, if they are on one dataset."""
        return [pair for pair in self.pairs if isinstance(pair, Comparison)]


def group_comparisons(
    by_dataset: Mapping[str, Sequence[Comparison]],
    over_datasets: Sequence[OverallComparison] = (),
    baseline: str | None = None,
) -> tuple[ComparedGroup, ...]:
    """Return the pairs over all datasets, if there are several, then those on each dataset."""
    named: list[tuple[str | None, Sequence[Verdict]]] = [(None, over_datasets)]
    named += by_dataset.items()
    groups = []
    for name, pairs in named:
        leader = find_standing(pairs)
        if leader is not None:
            against = leader if baseline is None else find_standing(pairs, baseline)
            groups.append(ComparedGroup(name, tuple(pairs), leader, against))
    return tuple(groups)
