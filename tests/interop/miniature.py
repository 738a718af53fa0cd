"""A toolbox with the module structure of PyCIL, or of PILOT, small enough to train in a blink.

Its images are points: class c lies around (c, 0), and the point's third number is its original
class. The learner remembers a mean per class; the means that its head uses go astray by a random
step with every further task, so results depend on the order and on NumPy's global randomness. The
files in the folder `box` are its modules.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

BOX = Path(__file__).with_name("box")
MODULES = (
    *("utils/data.py", "utils/data_manager.py", "utils/factory.py", "models/base.py"),
    *("models/drifting.py", "trainer.py"),
)
# What a toolbox groups accuracies by; its closing table has a column for each task, whatever it is.
TENS = "list(range(0, self._total_classes, 10))"
TASKS = "np.cumsum([0] + self.data_manager._increments[: self._cur_task]).tolist()"


def source(name: str) -> str:
    return (BOX / f"{name}.txt").read_text(encoding="utf-8")


def fork_toolbox(root: Path) -> None:
    """Turn a miniature into one with the trainer of the EDGE authors' fork.

    It trains three orders of its own choice, set after the data manager has labelled the images,
    and has a module for that choice that needs a package nobody has.
    """
    trainer = root / "trainer.py"
    before, rest = trainer.read_text(encoding="utf-8").split("def train(args):")
    inner = rest.split("def _train(args):")[1]
    place = '    args["nb_classes"] ='
    inner = inner.replace(place, source("fork_order.py") + place)
    trainer.write_text(before + source("fork_train.py") + inner, encoding="utf-8")
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
    for name in MODULES:
        text = re.sub("|".join(words), lambda word: words[word[0]], source(name))
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
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
