"""EDGE orders in Continuum: a scenario for each, on points that represent images."""

import numpy as np
from continuum import ClassIncremental
from continuum.datasets import InMemoryDataset
from continuum.tasks import TaskType

import edgecil


def dataset(classes: int, each: int) -> InMemoryDataset:
    """Points whose first number is their class; replace it with your dataset."""
    targets = np.repeat(np.arange(classes), each)
    points = np.stack([targets, np.zeros(len(targets))], 1)
    return InMemoryDataset(points, targets, data_type=TaskType.TENSOR)


def scenarios(space: edgecil.SequenceSpace, similarity: edgecil.SimilarityMatrix):
    """A labelled sequence and its scenario for each sequence of the protocol."""
    for run in edgecil.protocol("edge", space, similarity=similarity):
        arguments = {"increment": list(run.sequence.sizes), "class_order": list(run.sequence.order)}
        yield run, ClassIncremental(dataset(space.classes, 6), **arguments)


if __name__ == "__main__":
    similarity = edgecil.similarity.text_similarity(edgecil.classes.get_classes("cifar100"))
    for run, scenario in scenarios(edgecil.SequenceSpace.equal(100, 10), similarity):
        points, _, _ = scenario[0].get_raw_samples()
        print(run.label, scenario.nb_tasks, "tasks, first:", np.unique(points[:, 0]).astype(int))
