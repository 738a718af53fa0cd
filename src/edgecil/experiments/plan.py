"""The plan: sequences with a common beginning share the training of these tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from edgecil.errors import UsageError
from edgecil.sequences.sequence import ClassSequence

Prefix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Node:
    """One task training: a method, a training seed, and this task after all earlier ones."""

    method: str
    seed: int
    prefix: Prefix

    @property
    def parent(self) -> Node | None:
        """The node that must be trained first; None for a first task."""
        return Node(self.method, self.seed, self.prefix[:-1]) if len(self.prefix) > 1 else None

    @property
    def path(self) -> tuple[Node, ...]:
        """This node and all before it, first task first."""
        ends = range(1, len(self.prefix) + 1)
        return tuple(Node(self.method, self.seed, self.prefix[:end]) for end in ends)


class Plan:
    """A forest of task prefixes, one tree per method, seed and first task.

    90 sequences of six classes in three tasks are 15 + 90 + 90 nodes, not 270.
    """

    def __init__(
        self,
        methods: Iterable[str],
        seeds: Callable[[ClassSequence], Sequence[int]],
        sequences: Iterable[ClassSequence],
    ) -> None:
        """Plan the repeats of every sequence, the first ones first."""
        self._children: dict[Node, list[Node]] = {}
        self._ends: dict[Node, None] = {}
        self.roots: list[Node] = []
        distinct = {sequence: seeds(sequence) for sequence in sequences}
        for method in methods:
            for repeat in range(max(map(len, distinct.values()), default=0)):
                for sequence, seeds_of_repeats in distinct.items():
                    self._add(Node(method, seeds_of_repeats[repeat], sequence.tasks))

    @classmethod
    def of(cls, runs: Iterable[Node]) -> Plan:
        """Return the plan of some runs, each given by its last task."""
        plan = cls((), lambda sequence: (), ())
        for run in runs:
            plan._add(run)
        return plan

    def _add(self, run: Node) -> None:
        self._ends[run] = None
        parent: Node | None = None
        for node in run.path:
            if node not in self._children:
                self._children[node] = []
                (self.roots if parent is None else self._children[parent]).append(node)
            parent = node

    def __len__(self) -> int:
        return len(self._children)

    def __contains__(self, node: object) -> bool:
        return node in self._children

    def __iter__(self) -> Iterator[Node]:
        return iter(self._children)

    def children(self, node: Node) -> list[Node]:
        """Return the nodes that continue from this one."""
        return self._children[node]

    @property
    def runs(self) -> tuple[Node, ...]:
        """The last node of every run."""
        return tuple(self._ends)

    def below(self, node: Node) -> Iterator[Node]:
        """Yield this node and all that follow from it."""
        yield node
        for child in self._children[node]:
            yield from self.below(child)

    def shard(self, number: int, count: int) -> Plan:
        """Part `number`, from 1, of `count` parts, which together have all runs of the plan.

        Each part has as many runs of each method as the others, up to one. Runs that begin with the
        same tasks and seed stay together; only where two parts meet are such tasks trained twice.
        """
        if not 1 <= number <= count:
            raise UsageError(
                "A shard must be a number and a count, 1 <= number <= count, such as 3 of 8. "
                f"Got {number} of {count} instead."
            )
        kept: set[Node] = set()
        for method in dict.fromkeys(root.method for root in self.roots):
            trees = (self.below(root) for root in self.roots if root.method == method)
            runs = [node for tree in trees for node in tree if node in self._ends]
            kept.update(runs[(number - 1) * len(runs) // count : number * len(runs) // count])
        return Plan.of(run for run in self._ends if run in kept)
