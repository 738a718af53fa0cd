"""A learner trained by Lightning (pip install lightning).

edgecil run quickdraw --classes 6 --tasks 3 --out runs/lightning \
    --method examples/lightning_learner.py:LightningLearner
"""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    """A usual LightningModule: it knows nothing of edgecil."""

    def __init__(self, classes):
        super().__init__()
        self.network = nn.Sequential(
            nn.AdaptiveAvgPool2d(14), nn.Flatten(), nn.Linear(196, 64), nn.ReLU(),
            nn.Linear(64, classes),
        )  # fmt: skip

    def forward(self, images):
        return self.network(images.float().mean(1, keepdim=True) / 255)

    def training_step(self, batch, index):
        images, labels = batch
        return nn.functional.cross_entropy(self(images), labels)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


class LightningLearner:
    """Fine-tunes the module on each task."""

    def __init__(self, epochs=10, classes=100):
        self.epochs, self.seen, self.module = epochs, [], Classifier(classes)

    def fit_task(self, images, labels, classes):
        self.seen += list(classes)
        trainer = lightning.Trainer(
            max_epochs=self.epochs, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, devices=1,
        )  # fmt: skip
        loader = DataLoader(TensorDataset(images, labels), 32, shuffle=True)
        trainer.fit(self.module.train(), loader)
        self.module.to(images.device).eval()

    def predict(self, images):
        logits = self.module(images)
        return torch.tensor(self.seen, device=images.device)[logits[:, self.seen].argmax(1)]

    def state_dict(self):
        return {"module": self.module.state_dict(), "seen": self.seen}

    def load_state_dict(self, state):
        self.module.load_state_dict(state["module"])
        self.seen = list(state["seen"])
