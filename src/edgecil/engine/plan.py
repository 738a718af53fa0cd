"""The plan: sequences with a common beginning share the training of these tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
        self, methods: Iterable[str], seeds: Iterable[int], sequences: Iterable[ClassSequence]
    ) -> None:
        self._children: dict[Node, list[Node]] = {}
        self.roots: list[Node] = []
        distinct, repeats = list(dict.fromkeys(sequences)), list(seeds)
        for method in methods:
            for seed in repeats:
                for sequence in distinct:
                    self._add(Node(method, seed, sequence.tasks))

    def _add(self, leaf: Node) -> None:
        for node in leaf.path:
            if node in self._children:
                continue
            self._children[node] = []
            parent = node.parent
            (self.roots if parent is None else self._children[parent]).append(node)

    def __len__(self) -> int:
        return len(self._children)

    def __contains__(self, node: object) -> bool:
        return node in self._children

    def __iter__(self) -> Iterator[Node]:
        return iter(self._children)

    def children(self, node: Node) -> list[Node]:
        """The nodes that continue from this one."""
        return self._children[node]
