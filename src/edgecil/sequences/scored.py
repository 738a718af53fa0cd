"""The sequences of a protocol together with their profiles, and sequences read from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from edgecil.errors import UsageError, unknown
from edgecil.io.files import read_json
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.profile import Profile, profile
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence
from edgecil.sequences.protocols import protocol as choose_sequences
from edgecil.sequences.sequence import ClassSequence, Tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity, check_similarity


@dataclass(frozen=True)
class Certificate:
    """How close a sequence is to the extreme of an objective.

    Attributes:
        objective: the name of the objective.
        value: the objective of the sequence.
        bound: a value that no sequence of the space can pass.
        gap: distance between value and bound, as a share of the distance between both bounds.
        exact: whether the value is proved optimal.
    """

    objective: str
    value: float
    bound: float
    gap: float
    exact: bool


@dataclass(frozen=True)
class ScoredSequence:
    """A labelled sequence with its profile; plain data, ready for JSON.

    Attributes:
        label: its name within the protocol: hard, median, seed-42, latin-1, …
        tasks: K tasks, each a sorted tuple of class ids.
        order: the N class ids, task by task.
        profile: S, z and the similarities inside and between tasks.
        certificate: given by `optimal` for its extremes, else None.
    """

    label: str
    tasks: Tasks
    order: tuple[int, ...]
    profile: Profile
    certificate: Certificate | None = None

    @property
    def sequence(self) -> ClassSequence:
        """The tasks as a class sequence."""
        return ClassSequence(self.tasks)


def sequences(
    similarity: Similarity,
    *,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    protocol: str = "latin",
    budget: int | None = None,
    order_seed: int | None = None,
    objective: str | Objective | ArrayLike | None = None,
) -> list[ScoredSequence]:
    """The sequences of a protocol over all classes of a similarity, with their profiles.

    Args:
        similarity: over N classes.
        tasks: number of tasks of equal size.
        base: number of classes in the first task; use with `increment`.
        increment: number of classes in each further task.
        sizes: number of classes in each task; the sum must be N.
        protocol: name of a protocol, such as `latin`, `random` or `edge`.
        budget: number of sequences; 3 by default.
        order_seed: seed for choosing class orders.
        objective: what the protocol `optimal` optimises, S by default; other protocols have none.

    >>> from edgecil.similarity import SimilarityMatrix
    >>> D = [[0, 0.9, 0.1, 0.2], [0.9, 0, 0.3, 0.1], [0.1, 0.3, 0, 0.8], [0.2, 0.1, 0.8, 0]]
    >>> hard, _, easy = sequences(SimilarityMatrix.of(D), tasks=2, protocol="edge")
    >>> sorted(hard.tasks), round(hard.profile.score, 3), round(easy.profile.score, 3)
    ([(0, 1), (2, 3)], 0.35, 1.1)
    """
    check_similarity(similarity)
    space = SequenceSpace.choose(
        len(similarity), tasks=tasks, base=base, increment=increment, sizes=sizes
    )
    name = PROTOCOLS.resolve(protocol)
    if objective is not None and name != "optimal":
        raise UsageError(
            f"The 'objective' parameter belongs to protocol 'optimal'. Got protocol {name!r}."
        )
    default = PROTOCOLS[name].objective or "adjacent"
    optimised = get_objective(default if objective is None else objective, space)
    labelled = choose_sequences(
        name,
        space,
        similarity=similarity,
        budget=budget,
        order_seed=order_seed,
        objective=optimised,
    )
    return score_sequences(similarity, labelled, objective=optimised.name)


def score_sequences(
    similarity: Similarity, labelled: Sequence[LabelledSequence], *, objective: str = "adjacent"
) -> list[ScoredSequence]:
    """Labelled sequences with their profiles; `objective` names what their optima optimise."""
    scored = []
    for run in labelled:
        optimum = run.optimum
        certificate = None
        if optimum is not None:
            certificate = Certificate(
                objective, optimum.value, optimum.bound, optimum.gap, optimum.exact
            )
        scored.append(
            ScoredSequence(
                run.label,
                run.sequence.tasks,
                run.sequence.order,
                profile(similarity, run.sequence),
                certificate,
            )
        )
    return scored


def read_sequence(
    path: str | Path,
    *,
    classes: int,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    label: str | None = None,
) -> ClassSequence:
    """The class sequence in a JSON file.

    The file holds `{"tasks": [[…], …]}`, a flat list of class ids (or `{"order": […]}`), which
    `tasks`, `base` and `increment`, or `sizes` cut into tasks, or `{"sequences": […]}` with
    several labelled ones, as `edgecil sequences --json` writes them.

    Args:
        path: the file.
        classes: N; the sequence must arrange each class from 0 to N-1 once.
        tasks: number of tasks of equal size.
        base: number of classes in the first task; use with `increment`.
        increment: number of classes in each further task.
        sizes: number of classes in each task; the sum must be N.
        label: which of several sequences to read.
    """
    path = Path(path)
    data = read_json(path)
    if isinstance(data, dict) and "sequences" in data:
        data = _with_label(data["sequences"], label, path)
    given = {"tasks": tasks, "base": base, "increment": increment, "sizes": sizes}
    asked = any(value is not None for value in given.values())
    if isinstance(data, dict) and "tasks" in data:
        sequence = ClassSequence(data["tasks"])
        if asked and SequenceSpace.choose(len(sequence.order), **given).sizes != sequence.sizes:  # type: ignore[arg-type]
            raise UsageError(
                f"{path} has tasks of sizes {list(sequence.sizes)}, which differ from those asked "
                f"for; leave {' and '.join(repr(name) for name in given if given[name])} out."
            )
    else:
        order = data.get("order") if isinstance(data, dict) else data
        if not isinstance(order, list) or not all(isinstance(id_, int) for id_ in order):
            raise UsageError(f'{path} must hold {{"tasks": [[…], …]}} or a flat list of class ids.')
        if not order:
            raise UsageError(f"{path} holds no classes.")
        space = SequenceSpace.choose(len(order), **given)  # type: ignore[arg-type]
        sequence = ClassSequence.from_order(order, space.sizes)
    if sorted(sequence.order) != list(range(classes)):
        raise UsageError(
            f"{path} must arrange each class from 0 to {classes - 1} once. "
            f"Got {len(sequence.order)} classes from {min(sequence.order)} to "
            f"{max(sequence.order)}."
        )
    return sequence


def _with_label(entries: object, label: str | None, path: Path) -> dict[str, Any]:
    """The entry with that label; a single entry needs none."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path} must hold a list of labelled sequences under 'sequences'.")
    by_label: dict[str, dict[str, Any]] = {str(entry.get("label")): entry for entry in entries}
    if label is None and len(by_label) == 1:
        return next(iter(by_label.values()))
    if label is None:
        raise UsageError(
            f"{path} holds several sequences; choose one by 'label': {', '.join(by_label)}."
        )
    if label not in by_label:
        raise unknown(f"label in {path}", label, by_label)
    return by_label[label]
