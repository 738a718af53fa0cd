"""Trained models: learners as they were after their last task, loaded for predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from edgecil.engine.node_training import unpack
from edgecil.engine.plan import Node
from edgecil.engine.prepare import load_context
from edgecil.engine.seeds import training_seed
from edgecil.engine.status import shares_seed
from edgecil.engine.store import StoreReader
from edgecil.errors import DataError, UsageError
from edgecil.io.arrays import Inputs, Ints
from edgecil.methods import Method
from edgecil.sequences.sequence import ClassSequence

if TYPE_CHECKING:
    from edgecil.engine.experiment import Experiment


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModel:
    """A learner after its last task.

    Attributes:
        learner: the learner itself.
        sequence: the classes that it learnt, task by task.
        names: names of the N classes; class i is `names[i]`.
        shape: channels, height and width of its images, or (d,) of its vectors.
    """

    learner: Method
    sequence: ClassSequence
    names: tuple[str, ...]
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        learner, tasks = type(self.learner).__name__, len(self.sequence)
        return f"<TrainedModel: {learner}, {len(self.sequence.order)} classes in {tasks} tasks>"

    def predict(self, images: Inputs, *, classifier: str | None = None) -> Ints:
        """Return the class ids of images, shape (n,).

        Args:
            images: (n, channels, height, width) uint8, or vectors (n, d) float32, such as
                `load_dataset(...).test.inputs`.
            classifier: one of the learner's classifiers; its main one by default.
        """
        kind = "uint8" if len(self.shape) == 3 else "float32"
        if images.dtype != kind or images.shape[1:] != self.shape:
            raise UsageError(
                f"Inputs must be {kind} of shape (n, {', '.join(map(str, self.shape))}). Got "
                f"{images.dtype} of shape {images.shape}."
            )
        if classifier not in (None, *self.learner.classifiers):
            raise UsageError(
                f"The classifier must be one of {', '.join(self.learner.classifiers)}. Got "
                f"{classifier!r}."
            )
        inputs = torch.from_numpy(np.ascontiguousarray(images))
        with torch.no_grad():
            return np.asarray(self.learner.predict(inputs, classifier).cpu(), dtype=np.int64)


def load_model(
    experiment: Experiment, method: str, sequence: str | ClassSequence, repeat: int
) -> TrainedModel:
    """See :meth:`edgecil.Experiment.model`."""
    wanted = _find_sequence(experiment, sequence)
    with StoreReader(experiment.directory) as store:
        seed = training_seed(wanted.tasks, repeat, shared=shares_seed(store))
        node = Node(method, seed, wanted.tasks)
        path = store.model_path(node)
    if not path.is_file():
        raise DataError(
            f"{experiment.directory} contains no model of {method!r} on {str(sequence)!r} with "
            f"repeat {repeat}; run the experiment again with 'keep_model'."
        )
    configs = [config for config in experiment.configs if method in config.method_names]
    if not configs:
        raise DataError(f"{experiment.directory} has no configuration of {method!r}.")
    _, _, dataset, context = load_context(configs[-1])
    learner = context.build(node)
    try:
        state = unpack(path.read_bytes())
    except Exception as error:  # whatever the damage
        raise DataError(
            f"{path} is damaged; delete it and run the experiment again with 'keep_model'."
        ) from error
    learner.restore(state)
    return TrainedModel(learner, wanted, dataset.names, dataset.shape)


def _find_sequence(experiment: Experiment, sequence: str | ClassSequence) -> ClassSequence:
    if isinstance(sequence, ClassSequence):
        return sequence
    labelled = {
        f"{protocol} {run.label}": run.sequence
        for protocol, runs in experiment.sequences().items()
        for run in runs
    }
    if sequence in labelled:
        return labelled[sequence]
    try:
        return ClassSequence.parse(sequence)
    except ValueError:
        raise UsageError(
            f"{experiment.directory} has no sequence {sequence!r}; give protocol and label, such "
            f"as {next(iter(labelled), 'edge hard')!r}, or the tasks, such as '0 1|2 3'."
        ) from None
