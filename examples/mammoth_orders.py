"""EDGE orders in Mammoth, whose class order is the inverse: original class to new label.

In a checkout of Mammoth, run
PYTHONPATH=. python mammoth_orders.py --dataset seq-cifar100 --model sgd …
"""

import numpy as np
from main import main, parse_args

import edgecil


def follow(args, sequence: edgecil.ClassSequence):
    """Mammoth's arguments with the order of the sequence."""
    args.permute_classes = True
    args.class_order = np.argsort(sequence.order)
    return args


if __name__ == "__main__":
    similarity = edgecil.similarity.text_similarity(edgecil.classes.get_classes("cifar100"))
    space = edgecil.SequenceSpace.equal(100, 10)
    for run in edgecil.protocol("edge", space, similarity=similarity):
        main(follow(parse_args(), run.sequence))
