"""Class orders made from a similarity: the ends of every objective, and what lies between.

For the names of the classes (text) and the class means of the inputs (image): both ends of each
objective, the same in reverse, orders half way from each end to random ones (half of the classes
moved), EDGE and its authors' release, AS and MS, and the tasks of the most similar classes
in other orders.
"""

from __future__ import annotations

import numpy as np

from edgecil.classes.lists import ClassList
from edgecil.data.load import load_dataset
from edgecil.sequences import PROTOCOLS, find_optimum
from edgecil.sequences.objective import OBJECTIVES
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity import text_similarity
from edgecil.similarity.images import image_similarity

GOALS = ("hard", "easy")
CONSTRUCTORS = ("edge", "edge-released", "adversarial", "maxcover")
SHARES = (50,)


def structured_orders(dataset: str, tasks: int) -> dict[str, ClassSequence]:
    """Return different orders by label; the label of an end is objective, end and source."""
    data = load_dataset(dataset)
    space = SequenceSpace.equal(len(data), tasks)
    sources = {
        "text": text_similarity(ClassList(data.name, data.names)),
        "image": image_similarity(data),
    }
    rng, made = np.random.default_rng(0), {}
    for source, similarity in sources.items():
        for name, objective in OBJECTIVES.items():
            for goal in GOALS:
                end = f"{name} {objective(space).direction(goal)} {source}"
                sequence = find_optimum(similarity, space, goal, objective=name).sequence
                made[end] = sequence
                made[f"{end} reversed"] = ClassSequence(sequence.tasks[::-1])
                for share in SHARES:
                    task = np.array(sequence.task_of())
                    moved = rng.choice(len(task), share * len(task) // 100, replace=False)
                    task[moved] = task[rng.permutation(moved)]
                    made[f"{end} {share} % moved"] = ClassSequence(
                        np.flatnonzero(task == place).tolist() for place in range(tasks)
                    )
        for goal in GOALS:
            for name in CONSTRUCTORS:
                made[f"{name} {goal} {source}"] = PROTOCOLS[name].construct(
                    similarity, space, goal, np.random.default_rng(0)
                )
        grouped = made[f"intra max {source}"].tasks
        for number in range(1, 4):
            shuffled = ClassSequence([grouped[place] for place in rng.permutation(tasks)])
            made[f"intra max {source} tasks shuffled {number}"] = shuffled
    label_of_sequence = {sequence: label for label, sequence in made.items()}
    return {label: sequence for sequence, label in label_of_sequence.items()}
