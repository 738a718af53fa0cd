"""Plain learners in files of their own, as a user would write them."""

from __future__ import annotations

from pathlib import Path

HELPER = "def scale(images):\n    return images.float().flatten(1) / 255.0\n"

LEARNER = '''"""A nearest-mean learner."""
import torch
from shapes import scale


class NearestMean:
    """The class with the nearest mean image."""

    def __init__(self, shrink=0.0):
        self.shrink = shrink
        self.means = {}

    def fit_task(self, images, labels, classes):
        for class_ in classes:
            mean = scale(images)[labels == class_].mean(dim=0)
            self.means[int(class_)] = (1 - self.shrink) * mean + 1e-6 * torch.randn(mean.shape)

    def predict(self, images):
        ids = torch.tensor(list(self.means))
        return ids[torch.cdist(scale(images), torch.stack(list(self.means.values()))).argmin(dim=1)]

    def state_dict(self):
        return {"ids": list(self.means), "means": list(self.means.values())}

    def load_state_dict(self, state):
        self.means = dict(zip(state["ids"], state["means"], strict=True))
'''


def write_learner(folder: Path, name: str = "learner.py") -> Path:
    """A file with a plain learner, and a module beside it that it imports."""
    folder.mkdir(exist_ok=True)
    (folder / "shapes.py").write_text(HELPER, encoding="utf-8")
    (folder / name).write_text(LEARNER, encoding="utf-8")
    return folder / name
