"""A toolbox with the module structure of PyCIL, or of PILOT, small enough to train in a blink.

Its images are points: class c lies around (c, 0), and the point's third number is its original
class. The learner remembers a mean per class; the means that its head uses go astray by a random
step with every further task, so results depend on the order and on NumPy's global randomness.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DATA = """
import numpy as np

class iData(object):
    class_order = None

class iMini(iData):
    use_path = False
    train_trsf = test_trsf = common_trsf = []
    class_order = np.arange(CLASSES).tolist()

    def download_data(self):
        self.train_data, self.train_targets = self.draw(6, 0)
        self.test_data, self.test_targets = self.draw(8, 1)

    def draw(self, each, seed):
        rng = np.random.default_rng(seed)
        targets = np.repeat(np.arange(CLASSES), [each + c % 3 for c in range(CLASSES)])
        noise = rng.normal(0, 0.5, (len(targets), 2))
        return np.stack([targets + noise[:, 0], noise[:, 1], targets], 1), targets
"""

DATA_MANAGER = """
import logging
import numpy as np
from utils.data import iMini

class DataManager(object):
    def __init__(self, dataset_name, shuffle, seed, init_cls, increment, extra=1):
        self._setup_data(dataset_name, shuffle, seed, extra)
        self._increments = [init_cls]
        while sum(self._increments) + increment < len(self._class_order):
            self._increments.append(increment)
        offset = len(self._class_order) - sum(self._increments)
        if offset > 0:
            self._increments.append(offset)

    @property
    def nb_tasks(self):
        return len(self._increments)

    @property
    def nb_classes(self):
        return len(self._class_order)

    def _setup_data(self, dataset_name, shuffle, seed, extra):
        idata = _get_idata(IDATA_ARGUMENTS)
        idata.download_data()
        self._train_data, self._train_targets = idata.train_data, idata.train_targets
        self._test_data, self._test_targets = idata.test_data, idata.test_targets
        order = list(range(len(np.unique(idata.train_targets))))
        if shuffle:
            np.random.seed(seed)
            order = np.random.permutation(len(order)).tolist()
        else:
            order = idata.class_order
        self._class_order = order
        logging.info(self._class_order)
        self._train_targets = _map_new_class_index(self._train_targets, self._class_order)
        self._test_targets = _map_new_class_index(self._test_targets, self._class_order)

    def get(self, source, low, high):
        train = source == "train"
        data = self._train_data if train else self._test_data
        new = self._train_targets if train else self._test_targets
        chosen = (new >= low) & (new < high)
        return data[chosen], new[chosen]

def _map_new_class_index(y, order):
    return np.array([order.index(target) for target in y])

def _get_idata(dataset_name, args=None):
    if dataset_name.lower() == "mini":
        return iMini()
    raise NotImplementedError("Unknown dataset {}.".format(dataset_name))
"""

BASE = """
import numpy as np

class BaseLearner(object):
    def __init__(self, args):
        self.args = args
        self._cur_task, self._known_classes, self._total_classes = -1, 0, 0
        self.topk = 5
        self._network = None

    def _evaluate(self, y_pred, y_true):
        right = y_pred[:, 0] == y_true
        grouped = {"total": np.around(right.mean() * 100, decimals=2)}
        starts = GROUPS
        for start, end in zip(starts, [*starts[1:], self._total_classes]):
            members = (y_true >= start) & (y_true < end)
            grouped["{:02d}-{:02d}".format(start, end - 1)] = right[members].mean() * 100
        assert y_pred.shape[1] == self.topk
        return {"grouped": grouped, "top1": grouped["total"], "top{}".format(self.topk): 0.0}

    def eval_task(self):
        points, y_true = self.data_manager.get("test", 0, self._total_classes)
        cnn_accy = self._evaluate(self.nearest(points, self._head), y_true)
        nme_accy = None
        if self.args["memory_size"]:
            nme_accy = self._evaluate(self.nearest(points, self._class_means), y_true)
        return cnn_accy, nme_accy

    def nearest(self, points, means):
        if self._total_classes < self.topk:
            raise RuntimeError("selected index k out of range")
        distances = ((points[:, None, :2] - means[None]) ** 2).sum(-1)
        return np.argsort(distances, axis=1)[:, : self.topk]

    def after_task(self):
        self._known_classes = self._total_classes
"""

LEARNER = """
import logging, os, signal
import numpy as np
from models.base import BaseLearner

class Drifting(BaseLearner):
    def incremental_train(self, data_manager):
        self.data_manager = data_manager
        self._cur_task += 1
        self._total_classes = self._known_classes + data_manager._increments[self._cur_task]
        points, new = data_manager.get("train", self._known_classes, self._total_classes)
        seen = sorted(set(points[:, 2].astype(int).tolist()))
        logging.info("task {} saw {}".format(self._cur_task, seen))
        if self._cur_task == 0 and seen[0] == self.args.get("raise_on"):
            raise MemoryError("CUDA out of memory: tried to allocate 2 GiB")
        if self._cur_task == 0 and seen[0] == self.args.get("die_on"):
            os.kill(os.getpid(), signal.SIGKILL)
        fresh = np.stack([points[new == label, :2].mean(0) for label in np.unique(new)])
        if self._cur_task == 0:
            self._head = self._class_means = fresh
            return
        self._head = self._head + np.random.normal(0, self.args["drift"], self._head.shape)
        self._head = np.concatenate([self._head, fresh])
        self._class_means = np.concatenate([self._class_means, fresh])
"""

# What a toolbox groups accuracies by; its closing table has a column for each task, whatever it is.
TENS = "list(range(0, self._total_classes, 10))"
TASKS = "np.cumsum([0] + self.data_manager._increments[: self._cur_task]).tolist()"

FACTORY = """
def get_model(model_name, args):
    if model_name.lower() == "drifting":
        from models.drifting import Drifting
        return Drifting(args)
    assert 0
"""

TRAINER = """
import copy, logging, os, sys
import numpy as np
from utils import factory
from utils.data_manager import DataManager

def train(args):
    seed_list, device = copy.deepcopy(args["seed"]), copy.deepcopy(args["device"])
    for seed in seed_list:
        args["seed"], args["device"] = seed, device
        _train(args)

def _train(args):
    folder = "logs/{}".format(args["model_name"])
    if not os.path.exists(folder):
        os.makedirs(folder)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s [%(filename)s] => %(message)s",
        handlers=[
            logging.FileHandler(folder + "/{}_{}.log".format(args["prefix"], args["seed"])),
            logging.StreamHandler(sys.stdout),
        ],
    )
    assert args["device"] == [-1] and args["NETWORK"] == "tiny"
    for key, value in args.items():
        logging.info("{}: {}".format(key, value))
    sizes = args["init_cls"], args["increment"]
    data_manager = DataManager(args["dataset"], args["shuffle"], args["seed"], *sizes, PASSED)
    args["nb_classes"] = data_manager.nb_classes
    model = factory.get_model(args["model_name"], args)
    curve, matrix = {"CNN": [], "NME": []}, []
    for task in range(data_manager.nb_tasks):
        model.incremental_train(data_manager)
        answers = model.eval_task()
        model.after_task()
        matrix.append([v for key, v in answers[0]["grouped"].items() if "-" in key])
        for name, accy in zip(curve, answers):
            if accy is not None:
                accy["top5"]
                curve[name].append(float(accy["top1"]))
                logging.info("{} top1 curve: {}".format(name, curve[name]))
    table = np.zeros([task + 1, task + 1])
    for row, line in enumerate(matrix):
        table[row, : len(line)] = np.array(line)
    logging.info("Accuracy Matrix (CNN): {}".format(table.tolist()))
"""

# The trainer of the EDGE authors' fork: three orders of its own choice, set after the data manager
# has labelled the images, and a module for that choice that needs a package nobody has.
FORKED_TRAIN = """
from utils.edge import get_edge_sequences, _get_class_names_or_raise
from utils.data_manager import _map_new_class_index

def _set_device(args):
    assert args["device"] == [-1]

def train(args):
    _set_device(args)
    for class_order in get_edge_sequences(args):
        _train(args, class_order)

def _train(args, class_order):
    args["seed"] = args["seed"][0]
    args["prefix"] += "_" + args["eval"]
"""
FORKED_ORDER = """
    data_manager._class_order = class_order
    data_manager._train_targets = _map_new_class_index(data_manager._train_targets, class_order)
    data_manager._test_targets = _map_new_class_index(data_manager._test_targets, class_order)
    args["nb_classes"] ="""


def fork_toolbox(root: Path) -> None:
    """Turn a miniature into one with the trainer of the EDGE authors' fork."""
    trainer = root / "trainer.py"
    before, rest = trainer.read_text(encoding="utf-8").split("def train(args):")
    inner = rest.split("def _train(args):")[1]
    inner = inner.replace('\n    args["nb_classes"] =', FORKED_ORDER)
    trainer.write_text(before + FORKED_TRAIN + inner, encoding="utf-8")
    (root / "utils" / "edge.py").write_text("import clip_that_nobody_has\n", encoding="utf-8")


def write_toolbox(root: Path, kind: str, *, classes: int = 4) -> Path:
    """The files of a miniature `pycil` or `pilot`; returns its config."""
    pycil = kind == "pycil"
    words = {
        "IDATA_ARGUMENTS": "dataset_name" if pycil else "dataset_name, extra",
        "PASSED": 'args["aug"] if "aug" in args else 1' if pycil else "args",
        "NETWORK": "convnet_type" if pycil else "backbone_type",
        "CLASSES": str(classes),
        "GROUPS": TENS if pycil else TASKS,
    }
    files = {
        "utils/data.py": DATA,
        "utils/data_manager.py": DATA_MANAGER,
        "utils/factory.py": FACTORY,
        "models/base.py": BASE,
        "models/drifting.py": LEARNER,
        "trainer.py": TRAINER,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(
            re.sub("|".join(words), lambda word: words[word[0]], text), encoding="utf-8"
        )
    return write_config(root / "exps" / "drifting.json", kind)


def write_config(path: Path, kind: str, **changes: Any) -> Path:
    """A flat config of the miniature, with some keys changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    config = {
        "prefix": "reproduce",
        "dataset": "mini",
        "memory_size": 0,
        "memory_per_class": 20,
        "fixed_memory": False,
        "shuffle": True,
        "init_cls": 2,
        "increment": 2,
        "model_name": "drifting",
        "convnet_type" if kind == "pycil" else "backbone_type": "tiny",
        "device": ["-1"],
        "seed": [1993],
        "drift": 0.6,
    }
    path.write_text(json.dumps({**config, **changes}), encoding="utf-8")
    return path
