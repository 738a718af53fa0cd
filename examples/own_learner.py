"""A learner for any class order: softmax regression on drawings, task after task.

edgecil external quickdraw --classes 6 --tasks 3 --protocol edge,random --out runs/own \
    --command "python examples/own_learner.py {order_file} {result_file}"
"""

import json
import sys
from pathlib import Path

import numpy as np

from edgecil.data import load_dataset

tasks = json.loads(Path(sys.argv[1]).read_text())["tasks"]
data = load_dataset("quickdraw")
x, x_test = (part.inputs.reshape(len(part), -1) / 255 for part in (data.train, data.test))
y, y_test = data.train.labels, data.test.labels
weights, correct = np.zeros((x.shape[1], len(data))), []
for end, task in enumerate(tasks, start=1):
    images, wanted = x[np.isin(y, task)], np.eye(len(data))[y[np.isin(y, task)]]
    for _ in range(20):
        guess = np.exp(images @ weights)
        weights += 0.1 * images.T @ (wanted - guess / guess.sum(1, keepdims=True)) / len(images)
    right = (x_test @ weights).argmax(1) == y_test
    correct.append([int(right[np.isin(y_test, old)].sum()) for old in tasks[:end]])
totals = [int(np.isin(y_test, task).sum()) for task in tasks]
Path(sys.argv[2]).write_text(json.dumps({"correct": correct, "totals": totals}))
