"""A learner that edgecil trains: any class with these four methods.

edgecil run quickdraw --method examples/nearest_mean.py:NearestMean --tasks 10 \
    --out runs/nearest-mean
"""

import torch


class NearestMean:
    """The class with the nearest mean image; arguments of __init__ are its settings."""

    def __init__(self, power: float = 1.0) -> None:
        self.power, self.means = power, {}

    def features(self, images: torch.Tensor) -> torch.Tensor:
        """Images (n, c, h, w) of type uint8 as rows of numbers in [0, 1]."""
        return (images.flatten(1).float() / 255) ** self.power

    def fit_task(self, images, labels, classes) -> None:
        """Learn the new classes; labels are the dataset's own class ids."""
        rows = self.features(images)
        for class_ in classes:
            self.means[class_] = rows[labels == class_].mean(0)

    def predict(self, images):
        """The class ids of images, among those seen so far."""
        distances = torch.cdist(self.features(images), torch.stack(list(self.means.values())))
        return torch.tensor(list(self.means))[distances.argmin(1)]

    def state_dict(self):
        """Everything needed to continue: tensors and plain values."""
        return {"classes": list(self.means), "means": list(self.means.values())}

    def load_state_dict(self, state) -> None:
        """Continue from a state; predictions must be the same as before."""
        self.means = dict(zip(state["classes"], state["means"], strict=True))
