"""Class orders made from a similarity: the ends of every objective, and published constructions.

For the names of the classes (text) and the class means of the inputs (image): both ends of each
objective, EDGE and its authors' release, AS and MS, and the tasks of the most similar classes in
another order.
"""

from __future__ import annotations

from functools import cache

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


@cache
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
        for goal in GOALS:
            for name in CONSTRUCTORS:
                made[f"{name} {goal} {source}"] = PROTOCOLS[name].construct(
                    similarity, space, goal, np.random.default_rng(0)
                )
        grouped = made[f"intra max {source}"].tasks
        shuffled = ClassSequence([grouped[place] for place in rng.permutation(tasks)])
        made[f"intra max {source} tasks shuffled"] = shuffled
    label_of_sequence = {sequence: label for label, sequence in made.items()}
    return {label: sequence for sequence, label in label_of_sequence.items()}
