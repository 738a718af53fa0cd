"""EDGE orders in Avalanche: a benchmark for each, on points that represent images."""

import torch
from avalanche.benchmarks import nc_benchmark
from avalanche.benchmarks.utils import as_classification_dataset
from torch.utils.data import TensorDataset

import edgecil


def dataset(classes: int, each: int) -> TensorDataset:
    """Points whose first number is their class; replace it with your dataset."""
    targets = torch.arange(classes).repeat_interleave(each)
    data = TensorDataset(torch.stack([targets, torch.rand(len(targets))], 1), targets)
    data.targets = targets
    return data


def benchmarks(space: edgecil.SequenceSpace, similarity: edgecil.SimilarityMatrix):
    """A labelled sequence and its benchmark for each sequence of the protocol."""
    train, test = (as_classification_dataset(dataset(space.classes, each)) for each in (6, 4))
    for run in edgecil.protocol("edge", space, similarity=similarity):
        sizes = dict(enumerate(run.sequence.sizes))
        yield (
            run,
            nc_benchmark(
                train,
                test,
                n_experiences=len(sizes),
                task_labels=False,
                shuffle=False,
                fixed_class_order=list(run.sequence.order),
                per_exp_classes=sizes,
                class_ids_from_zero_from_first_exp=True,
            ),
        )


if __name__ == "__main__":
    similarity = edgecil.similarity.text_similarity(edgecil.classes.get_classes("cifar100"))
    for run, benchmark in benchmarks(edgecil.SequenceSpace.equal(100, 10), similarity):
        first = {int(point[0]) for point, *_ in benchmark.train_stream[0].dataset}
        print(run.label, len(benchmark.train_stream), "tasks, first:", sorted(first))
